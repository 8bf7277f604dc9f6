#include "src/finetune/training_spec.hpp"

#include <cmath>

#include "decoders/training_formats.hpp"
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
  const OwnAnswers& own = spec.own_answers;
  if (!own.there() && !own.arm.empty())
    throw ConfigError("`from_arm` names an arm of a run; give `from_run`");
  if (const size_t given = spec.unannotated.size(); given != 1 && given != spec.dataset.size())
    throw ConfigError(str("`unannotated` has ", given,
                          " shares, expected 1 or as many as datasets (", spec.dataset.size(),
                          ")"));
  if (spec.loop.patience > 0 && spec.validation == 0)
    throw ConfigError("`patience` watches the validation loss; expected a `validation` above 0");
  format_shares(spec.format);
  if (!spec.start_adapter.empty() &&
      (spec.adapter.there() || !spec.adapter.targets.empty() || !spec.adapter_tokens.empty()))
    throw ConfigError(
        "`start_adapter` brings its rank, alpha, targets and tokens; leave out `lora_rank`, "
        "`lora_targets` and `lora_tokens`");
  if (spec.extra_heads.shares_head && spec.extra_heads.heads == 0)
    throw ConfigError("`medusa_share_head` describes extra heads; give `medusa_heads`");
  if (!spec.adapter.there() && (!spec.adapter.targets.empty() || !spec.adapter_tokens.empty()))
    throw ConfigError("`lora_targets` and `lora_tokens` belong to an adapter; give `lora_rank`");
}

}  // namespace pardec
