#include "src/finetune/training_spec.hpp"

#include <cmath>

#include "decoders/training_formats.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

FormatShares format_shares(const std::vector<std::string>& given) {
  FormatShares all;
  for (const std::string& text : given) {
    const size_t colon = text.find(':');
    double share = 1;
    if (colon != std::string::npos) {
      share = number_in<double>(text.substr(colon + 1)).value_or(0);
      if (!(share > 0) || !std::isfinite(share))
        throw ConfigError(str("`format` has '", text, "', expected NAME:SHARE, e.g. ",
                              usual_formats(false).front(), ":0.5"));
    }
    all.names.push_back(text.substr(0, colon));
    all.shares.push_back(share);
    all.given = all.given || share != 1;
  }
  return all;
}

void check(const TrainingSpec& spec) {
  if (spec.model.empty())
    throw ConfigError("no model was named; give `model=config.json` (random weights) or a folder");
  if (spec.out.empty()) throw ConfigError("no output was named; give `out=DIR`");
  if (spec.dataset.empty()) throw ConfigError("no dataset was named; give `dataset=oa-mine`");
  read_training_options(spec.format_options);
  check(spec.processes);
  check_at_least("share_prefix", spec.share_prefix, 1);
  check_at_least("limit", spec.limit, 0);
  const OwnAnswers& own = spec.own_answers;
  check_at_least("min_answer_tokens", own.least, 0);
  check_at_least("max_answer_tokens", own.most, 0);
  check_share("max_repetition", own.repetition);
  if (!own.there() && !own.arm.empty())
    throw ConfigError("`from_arm` names an arm of a run; give `from_run`");
  for (const double share : spec.unannotated) check_share("unannotated", share);
  if (const size_t given = spec.unannotated.size(); given != 1 && given != spec.dataset.size())
    throw ConfigError(str("`unannotated` has ", given,
                          " shares, expected 1 or as many as datasets (", spec.dataset.size(),
                          ")"));
  check_at_least("steps", spec.loop.steps, 0);
  check_at_least("batch_tokens", spec.loop.batch_tokens, 1);
  check_at_least("batch_sequences", spec.loop.batch_sequences, 0);
  check_at_least("context_length", spec.context_length, 0);
  if (!(spec.loop.minutes >= 0) || !std::isfinite(spec.loop.minutes))
    throw ConfigError(str("`minutes` is ", spec.loop.minutes, ", expected 0 (no limit) or more"));
  check_at_least("patience", spec.loop.patience, 0);
  if (spec.loop.patience > 0 && spec.validation == 0)
    throw ConfigError("`patience` watches the validation loss; expected a `validation` above 0");
  format_shares(spec.format);
  check_at_least("micro_tokens", spec.trainer.micro_tokens, 1);
  check_at_least("save_every", spec.loop.save_every, 0);
  check_at_least("validate_every", spec.loop.validate_every, 0);
  check_at_least("weight_decay", spec.trainer.adamw.weight_decay, 0);
  check_at_least("clip", spec.trainer.clip, 0);
  check_at_least("medusa_heads", spec.extra_heads.heads, 0);
  check_at_least("medusa_blocks", spec.extra_heads.blocks, 1);
  check_at_least("lora_rank", spec.adapter.rank, 0);
  if (!spec.start_adapter.empty() &&
      (spec.adapter.there() || !spec.adapter.targets.empty() || !spec.adapter_tokens.empty()))
    throw ConfigError(
        "`start_adapter` brings its rank, alpha, targets and tokens; leave `lora_rank`, "
        "`lora_targets` and `lora_tokens` away");
  if (!(spec.adapter.alpha > 0))
    throw ConfigError(str("`lora_alpha` is ", spec.adapter.alpha, ", expected more than 0"));
  if (spec.extra_heads.shares_head && spec.extra_heads.heads == 0)
    throw ConfigError("`medusa_share_head` says what heads are like; give `medusa_heads`");
  if (!spec.adapter.there() && (!spec.adapter.targets.empty() || !spec.adapter_tokens.empty()))
    throw ConfigError("`lora_targets` and `lora_tokens` belong to an adapter; give `lora_rank`");
  if (!(spec.loop.epochs > 0))
    throw ConfigError(str("`epochs` is ", spec.loop.epochs, ", expected more than 0"));
  if (!(spec.loop.learning_rate > 0))
    throw ConfigError(str("`lr` is ", spec.loop.learning_rate, ", expected more than 0"));
  for (const auto& [name, share] : {std::pair{"warmup", spec.loop.warmup},
                                    {"validation", spec.validation},
                                    {"recombine", spec.recombine},
                                    {"lora_dropout", spec.adapter.dropout},
                                    {"lr_floor", spec.loop.floor}})
    if (!(share >= 0 && share < 1))
      throw ConfigError(str("`", name, "` is ", share, ", expected a share from 0 to below 1"));
}

}  // namespace pardec
