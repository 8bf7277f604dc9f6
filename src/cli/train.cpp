// `pardec train`: trains a network on the formats of decoders.
#include <iostream>
#include <memory>

#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/checkpoint_notes.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/train_flags.hpp"
#include "src/cli/with_flags.hpp"
#include "src/finetune/finetune.hpp"
#include "src/model/device.hpp"
#include "src/support/checks.hpp"

namespace pardec {

namespace {

/// The flags that were given, as one line.
std::string command_of(const CLI::App& app) {
  std::string command = "pardec train";
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string flag = "--" + option->get_lnames().front();
    if (flag == "--resume" || flag == "--help") continue;
    command += " " + flag;
    if (option->get_items_expected_max() > 0) command += " " + join(option->results(), ",");
  }
  return command;
}

}  // namespace

Verb train_verb() {
  return {
      "train",
      "train a network on the formats of decoders",
      "pardec train --model config.json --dataset oa-mine,ae-110k --data-root data --format ar,hpd "
      "--epochs 5 --out model\n"
      "  pardec train --model model --dataset oa-mine --format hpd --stack 2 --steps 200 --lr 1e-4 "
      "--out tuned\n"
      "  the same line with --resume goes on where a run was stopped\n\n"
      "Into --out: config.json, generation_config.json, tokenizer.json, model.safetensors (bf16), "
      "training.json\n"
      "(what made it), loss.csv, loss.svg, and state.safetensors, which only --resume needs. With "
      "--lora-rank, in\n"
      "place of weights: adapter_config.json and adapter_model.safetensors (bf16), as peft has "
      "them; with\n"
      "--medusa-heads: medusa_heads.safetensors (bf16). 'run' and 'generate' take the folder as "
      "--adapter, and\n"
      "'pardec model merge' makes a checkpoint of it.",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<TrainFlags>();
        add_train_flags(app, *flags);
        return [flags, &app] {
          TrainingSpec& spec = flags->spec;
          check_at_least("threads", flags->threads, 0);
          spec.progress = parse_progress_style(flags->progress);
          spec.trainer.dtype = chosen_dtype({.model = spec.model, .dtype = spec.dtype});
          if (computing(spec.trainer.dtype) != spec.trainer.dtype)
            throw ConfigError(str("--dtype is ", spec.dtype,
                                  ", expected fp32 or bf16: quantised weights cannot be trained"));
          if (spec.dtype == "auto") {
            spec.dtype = name(spec.trainer.dtype);
            std::cerr << "dtype auto: " << spec.dtype << "\n";
          }
          spec.trainer.seed = spec.seed;
          spec.trainer.workers = flags->threads > 0 ? flags->threads : threads();
          // Its memory is activations, most of all.
          if (spec.adapts() && app.get_option("--micro-tokens")->count() == 0)
            spec.trainer.micro_tokens = 512;
          if (spec.extra_heads.heads > 0 && app.get_option("--format")->count() == 0)
            spec.format = usual_formats(/*extra_heads=*/true);
          spec.command = command_of(app);
          set_threads(1);  // a batch is shared out as a whole: cheaper than within each product
          for (const std::string& note : checkpoint_notes(spec.model))
            std::cerr << "model: " << with_flags(note) << "\n";
          finetune(spec, [](const std::string& line) { std::cerr << with_flags(line) << "\n"; });
          return 0;
        };
      },
      {},
      {.folders = {"--out"}},
      {"--format"}};
}

}  // namespace pardec
