// `pardec train`: trains a network on the formats of decoders.
#include <memory>

#include "src/checkpoint/checkpoint_notes.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/print_note.hpp"
#include "src/cli/setting_flags.hpp"
#include "src/finetune/finetune.hpp"
#include "src/group/group.hpp"
#include "src/model/device.hpp"
#include "src/settings/training_settings.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The given flags, as one line.
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
      "train a network for decoders that need it",
      "pardec train --model config.json --dataset oa-mine,ae-110k --data-root data --format ar,hpd "
      "--epochs 5 --out model\n"
      "  pardec train --model model --dataset oa-mine --format hpd --stack 2 --steps 200 --lr 1e-4 "
      "--out tuned\n"
      "  the same line with --resume continues a stopped training\n"
      "  mpirun -n 2 with this line trains in two processes\n\n"
      "Into --out: config.json, generation_config.json, tokenizer.json, model.safetensors (bf16), "
      "training.json\n"
      "(a record of the training), loss.csv, loss.svg, and state.safetensors, which only --resume "
      "needs. With "
      "--lora-rank,\n"
      "instead of weights: adapter_config.json and adapter_model.safetensors (bf16), as peft has "
      "them; with\n"
      "--medusa-heads: medusa_heads.safetensors (bf16). 'run' and 'generate' take the folder as "
      "--adapter, and\n"
      "'pardec model merge' makes a checkpoint of it.",
      [](CLI::App& app) -> std::function<int()> {
        auto settings = std::make_shared<TrainingSettings>();
        add_flags(app, settings_of(*settings));
        return [settings, &app] {
          TrainingSpec spec = make_training_spec(*settings);
          const auto group = Group::join(settings->process_timeout);
          const Notes notes = group && group->rank() > 0 ? Notes{} : Notes{print_note};
          if (settings->spec.dtype == "auto") tell(notes, "dtype auto: " + spec.dtype);
          spec.command = command_of(app);
          // batches are divided among workers, which is faster than threads within each product
          set_threads(1);
          for (const std::string& note : checkpoint_notes(spec.model))
            tell(notes, "model: " + note);
          finetune(spec, notes, group.get());
          return 0;
        };
      },
      {},
      {.folders = {"--out"}},
      {"--format"},
      /*several_processes=*/true};
}

}  // namespace pardec
