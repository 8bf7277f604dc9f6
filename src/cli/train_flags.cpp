#include "src/cli/train_flags.hpp"

#include <CLI/CLI.hpp>

#include "src/cli/command_line.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

void check(const TrainFlags& flags) {
  if (flags.model.empty())
    throw ConfigError("no model was named; give --model config.json (random weights) or a folder");
  if (flags.out.empty()) throw ConfigError("no output was named; give --out DIR");
  if (flags.dataset.empty()) throw ConfigError("no dataset was named; give --dataset oa-mine");
  read_training_options(flags.format_options);
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
  check_at_least("--medusa-heads", flags.extra_heads.heads, 0);
  check_at_least("--medusa-blocks", flags.extra_heads.blocks, 1);
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

void add_format_options(CLI::App& app, TrainFlags& flags) {
  for (const TrainingOption& row : training_options()) {
    const Option& option = row.option;
    const std::string name(option.name), flag = "--" + name, help(option.meaning);
    const auto keep = [&flags, name](const auto& value) { flags.format_options[name] = value; };
    CLI::Option* added = nullptr;
    switch (option.type) {
      case Option::Type::flag:
        app.add_flag_callback(flag, [keep] { keep(true); }, help);
        continue;
      case Option::Type::whole:
        added = app.add_option_function<int>(flag, keep, help);
        break;
      case Option::Type::number:
        added = app.add_option_function<double>(flag, keep, help);
        break;
      case Option::Type::text:
      case Option::Type::token:
        added = app.add_option_function<std::string>(flag, keep, help);
        break;
    }
    added->type_name(std::string(row.value_name));
    if (option.fallback != Json(""))
      added->default_str(option.fallback.is_string() ? option.fallback.get<std::string>()
                                                     : dump(option.fallback));
  }
}

}  // namespace pardec
