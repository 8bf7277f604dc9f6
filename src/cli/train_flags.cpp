#include "src/cli/train_flags.hpp"

#include <algorithm>
#include <array>

#include "decoders/apar_format.hpp"
#include "decoders/ar_format.hpp"
#include "decoders/aspd_format.hpp"
#include "decoders/hpd_format.hpp"
#include "decoders/space.hpp"
#include "decoders/space_format.hpp"
#include "src/cli/command_line.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

void check(const TrainFlags& flags) {
  if (flags.model.empty())
    throw ConfigError("no model was named; give --model config.json (random weights) or a folder");
  if (flags.out.empty()) throw ConfigError("no output was named; give --out DIR");
  if (flags.dataset.empty()) throw ConfigError("no dataset was named; give --dataset oa-mine");
  check_at_least("--stack", flags.stack, 1);
  check_at_least("--ar-stack", flags.ar_stack, 1);
  check_at_least("--k-max", flags.k_max, 1);
  check_at_least("--masks", flags.masks, 1);
  if (!(flags.ar_share >= 0 && flags.ar_share <= 1))
    throw ConfigError(str("--ar-share is ", flags.ar_share, ", expected a share from 0 to 1"));
  check_at_least("--share-prefix", flags.share_prefix, 1);
  check_at_least("--threads", flags.threads, 0);
  check_at_least("--limit", flags.limit, 0);
  check_at_least("--steps", flags.loop.steps, 0);
  check_at_least("--batch-tokens", flags.loop.batch_tokens, 1);
  check_at_least("--micro-tokens", flags.trainer.micro_tokens, 1);
  check_at_least("--save-every", flags.loop.save_every, 0);
  check_at_least("--validate-every", flags.loop.validate_every, 0);
  check_at_least("--weight-decay", flags.trainer.adamw.weight_decay, 0);
  check_at_least("--clip", flags.trainer.clip, 0);
  check_at_least("--medusa-heads", flags.trainer.extra.heads, 0);
  check_at_least("--medusa-blocks", flags.trainer.extra.blocks, 1);
  if (!(flags.loop.epochs > 0))
    throw ConfigError(str("--epochs is ", flags.loop.epochs, ", expected more than 0"));
  if (!(flags.loop.learning_rate > 0))
    throw ConfigError(str("--lr is ", flags.loop.learning_rate, ", expected more than 0"));
  for (const auto& [flag, share] : {std::pair{"--warmup", flags.loop.warmup},
                                    {"--validation", flags.validation},
                                    {"--recombine", flags.recombine},
                                    {"--lr-floor", flags.loop.floor}})
    if (!(share >= 0 && share < 1))
      throw ConfigError(str(flag, " is ", share, ", expected a share from 0 to below 1"));
}

std::vector<std::unique_ptr<TrainingFormat>> make_formats(const TrainFlags& flags,
                                                          const Tokenizer& tokenizer,
                                                          const ModelConfig& config) {
  std::vector<std::unique_ptr<TrainingFormat>> formats;
  const std::vector<std::string> known{"ar",   "ar-value",      "hpd",  "space",     "space-value",
                                       "apar", "apar-unrolled", "aspd", "aspd-value"};
  const auto end_of_sequence = [&](const std::string& name) {
    if (config.eos.empty())
      throw ConfigError(str("format ", name,
                            " needs an end of sequence; the model's config has no eos_token_id"));
    return config.eos.front();
  };
  for (const std::string& name : flags.format) {
    if (name == "hpd") {
      formats.push_back(make_hpd_format({.k_max = flags.k_max, .stack = flags.stack}, tokenizer,
                                        config.positions()));
    } else if (name == "ar") {
      formats.push_back(make_ar_format({.stack = flags.ar_stack}, tokenizer, config.positions()));
    } else if (name == "ar-value") {
      formats.push_back(make_ar_format({.together = false, .eos = end_of_sequence(name)}, tokenizer,
                                       config.positions()));
    } else if (name == "space" || name == "space-value") {
      SpaceFormatOptions options{.ar = {.stack = flags.ar_stack},
                                 .k = flags.masks,
                                 .p_ar = flags.ar_share,
                                 .one_pass = flags.one_pass};
      if (name == "space-value") options.ar = {.together = false, .eos = end_of_sequence(name)};
      options.mask = space_mask_token(flags.mask_token, &tokenizer, config.vocab_size);
      formats.push_back(make_space_format(options, tokenizer, config.positions()));
    } else if (name == "apar" || name == "apar-unrolled") {
      const AparTokens control =
          apar_tokens({.fork_token = flags.fork_token, .child_token = flags.child_token},
                      &tokenizer, config.vocab_size);
      formats.push_back(make_apar_format({.stack = flags.ar_stack,
                                          .unrolled = name == "apar-unrolled",
                                          .control = control,
                                          .eos = end_of_sequence(name)},
                                         tokenizer, config.positions()));
    } else if (name == "aspd" || name == "aspd-value") {
      AspdFormatOptions options;
      options.decoder.together = name == "aspd";
      options.decoder.positions = parse_aspd_positions(flags.aspd_positions);
      options.decoder.shared = parse_aspd_mask(flags.aspd_mask);
      options.decoder.tokens = flags.aspd_tokens;
      if (!options.decoder.together) options.eos = end_of_sequence(name);
      formats.push_back(
          make_aspd_format(options, tokenizer, config.positions(), config.vocab_size));
    } else {
      throw ConfigError(str("unknown training format '", name, "'", known_names(name, known)));
    }
  }
  constexpr std::array kTexts{"ar", "ar-value", "apar", "apar-unrolled"};
  for (const std::string& name : flags.format)
    if (flags.trainer.extra.heads > 0 &&
        std::find(kTexts.begin(), kTexts.end(), name) == kTexts.end())
      throw ConfigError(
          str("format ", name, " does not go with --medusa-heads, which are to guess ",
              "what medusa and apar write; expected ", join({kTexts.begin(), kTexts.end()}, ", ")));
  if (formats.empty()) throw ConfigError("no training format was named; give --format ar,hpd");
  return formats;
}

}  // namespace pardec
