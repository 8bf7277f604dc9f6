#include "src/settings/training_settings.hpp"

#include "src/checkpoint/checkpoint.hpp"
#include "src/model/device.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/settings/shared_settings.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kAdapterMicroTokens = 512;  // its memory consists mostly of activations

/// The rows of training_options().
Settings format_option_settings(TrainingSettings& s) {
  Settings rows;
  for (const TrainingOption& row : training_options()) {
    const Option& option = row.option;
    rows.push_back({replace_all(std::string(option.name), "-", "_"), std::string(row.value_name),
                    OptionEntry{&s.spec.format_options, option}, std::string(option.meaning)});
    if (option.type != Option::Type::flag && option.fallback != Json(""))
      rows.back().traits.default_text =
          option.fallback.is_string() ? option.fallback.get<std::string>() : dump(option.fallback);
  }
  return rows;
}

/// What is trained, and the training data.
Settings data_settings_of_training(TrainingSettings& s) {
  return {
      {"model",
       "PATH",
       &s.spec.model,
       "a config.json (random initial weights) or a checkpoint folder (initial weights)",
       {.checkpoint = true}},
      {"tokenizer", "FILE", &s.spec.tokenizer,
       "tokenizer.json or its folder; default: the model's own, otherwise the quickstart's"},
      {"dataset", "A,B", &s.spec.dataset, "datasets ('pardec list datasets')", {.commas = true}},
      {"data_root", "DIR", &s.spec.data_root,
       "folder with a folder per dataset; without it the built-in samples"},
      {"split", "NAME", &s.spec.split, "split to train on"},
      {"extra", "FILE", &s.spec.extra,
       "further titles as JSON lines of the datasets' format; they are never used for validation; "
       "repeatable"},
      {"from_run", "RUN", &s.spec.own_answers.run,
       "train on the answers of a stored run instead of the references: name of the run, or the "
       "first characters of its id"},
      {"keep_cut", "", &s.spec.own_answers.cut,
       "also train on open answers of that run that were cut at a limit (default: leave them out)"},
      {"from_arm", "LABEL", &s.spec.own_answers.arm, "label of the run's arm, if it has several"},
      {"db", "FILE", &s.spec.own_answers.db, "database with that run"},
      {"min_answer_tokens",
       "N",
       &s.spec.own_answers.least,
       "leave out shorter answers of that run",
       {.range = at_least(0)}},
      {"max_answer_tokens",
       "N",
       &s.spec.own_answers.most,
       "leave out longer answers of that run; 0: none",
       {.range = at_least(0)}},
      {"max_repetition",
       "X",
       &s.spec.own_answers.repetition,
       "leave out answers of that run in which a larger share of the 4-grams occurred before",
       {.range = share()}},
      {"limit",
       "N",
       &s.spec.limit,
       "examples of each dataset, spread over categories; 0: all",
       {.range = at_least(0)}},
      {"format",
       "A,B",
       &s.format,
       "format of training sequences, NAME or NAME:SHARE (how often an epoch has every example in "
       "it): " +
           format_meanings(),
       {.commas = true, .default_text = str("[", join(usual_formats(false), ","), "]")}},
  };
}

/// How it is trained.
Settings learning_settings(TrainingSettings& s) {
  return {
      {"recombine",
       "X",
       &s.spec.recombine,
       "share of the titles that each epoch changes: values are replaced with those of other "
       "titles or with invented words",
       {.range = share_below_1(), .shows_default = false}},
      {"unannotated",
       "X,Y",
       &s.spec.unannotated,
       "ar, ar-value, hpd: share of the unannotated attributes that are trained as absent; the "
       "others are left out of the loss. One share for all datasets, or one for each",
       {.range = share(), .commas = true}},
      {"share_prefix",
       "N",
       &s.spec.share_prefix,
       "sequences of a category that share one copy of their instruction; same loss, less work",
       {.range = at_least(1)}},
      {"medusa_heads",
       "N",
       &s.spec.extra_heads.heads,
       "number of extra heads to train for medusa and apar, on the formats ar, ar-value, apar or "
       "apar-unrolled; the checkpoint is not changed, except by an adapter (`lora_rank`); 0: none",
       {.range = at_least(0)}},
      {"medusa_blocks",
       "N",
       &s.spec.extra_heads.blocks,
       "residual blocks of each extra head",
       {.range = at_least(1)}},
      {"medusa_share_head", "", &s.spec.extra_heads.shares_head,
       "extra heads consist of their blocks only and end in the network's own head: a small file, "
       "instead of a matrix to the vocabulary for each head"},
      {"lora_rank",
       "N",
       &s.spec.adapter.rank,
       "train a low-rank adapter (LoRA) of this rank, while the checkpoint stays unchanged; 0: "
       "none",
       {.range = at_least(0)}},
      {"lora_alpha",
       "X",
       &s.spec.adapter.alpha,
       "the adapter's products are scaled by alpha / rank",
       {.range = above_zero()}},
      {"lora_dropout",
       "X",
       &s.spec.adapter.dropout,
       "share of the adapter's inputs that are dropped",
       {.range = share_below_1()}},
      {"start_adapter", "DIR", &s.spec.start_adapter,
       "continue from the low-rank adapter in this folder, with its rank, alpha, matrices and "
       "tokens; the folder is not changed"},
      {"lora_targets",
       "A,B",
       &s.spec.adapter.targets,
       "matrices that the adapter changes, e.g. q_proj,v_proj; default: all matrices of the layers",
       {.commas = true}},
      {"lora_tokens",
       "A,B",
       &s.spec.adapter_tokens,
       "tokens (ids or texts) whose rows of embedding and head are trained, too, e.g. control "
       "tokens; rows that equal each other, as those of tokens that were never used, first get "
       "random numbers (`seed`)",
       {.one_text = true}},
      {"prompt_file", "FILE", &s.spec.prompt_file,
       "wording of the task: a name in datasets/prompts or a file; default: the checkpoint's own, "
       "otherwise the project's"},
      {"chat_template", "NAME", &s.spec.chat_template,
       str("markup around the prompt: auto (the checkpoint's own, or that of its earlier training, "
           "otherwise plain), checkpoint:NAME (one of several of its own), ",
           join(chat_template_names(), ", "))},
      {"epochs",
       "X",
       &s.spec.loop.epochs,
       "how often every example is used in each format",
       {.range = above_zero()}},
      {"steps",
       "N",
       &s.spec.loop.steps,
       "updates, instead of `epochs`",
       {.range = at_least(0), .shows_default = false}},
      {"batch_tokens",
       "N",
       &s.spec.loop.batch_tokens,
       "limit of tokens of one update",
       {.range = at_least(1)}},
      {"batch_sequences",
       "N",
       &s.spec.loop.batch_sequences,
       "sequences of one update, instead of `batch_tokens`",
       {.range = at_least(0), .shows_default = false}},
      {"context_length",
       "N",
       &s.spec.context_length,
       "limit of tokens of a sequence; open answers are cut there; 0: the network's number of "
       "positions",
       {.range = at_least(0), .shows_default = false}},
      {"patience",
       "N",
       &s.spec.loop.patience,
       "stop after this many validations without a better loss, and keep the best; 0: never",
       {.range = at_least(0)}},
      {"minutes",
       "X",
       &s.spec.loop.minutes,
       "stop after the update in which this many minutes have passed, and write all files of a "
       "finished run; `resume` continues for as many minutes again; 0: no limit",
       {.range = {.least = 0, .expected = "0 (no limit) or more"}}},
      {"micro_tokens",
       "N",
       &s.micro_tokens,
       "approximate tokens of one forward pass; several passes make up a batch (default for an "
       "adapter: 512)",
       {.range = at_least(1), .default_text = str(TrainerOptions{}.micro_tokens)}},
      {"checkpoint_activations", "", &s.spec.trainer.checkpoint_activations,
       "recompute activations in the backward pass: less memory, but a third to a half more work"},
      {"lr", "X", &s.spec.loop.learning_rate, "highest learning rate", {.range = above_zero()}},
      {"lr_floor",
       "X",
       &s.spec.loop.floor,
       "final learning rate, as a share of `lr`",
       {.range = share_below_1()}},
      {"warmup",
       "X",
       &s.spec.loop.warmup,
       "share of the updates over which the learning rate rises linearly",
       {.range = share_below_1()}},
      {"weight_decay",
       "X",
       &s.spec.trainer.adamw.weight_decay,
       "AdamW's decay of matrices (norms, biases and the embedding have none)",
       {.range = at_least(0)}},
      {"clip",
       "X",
       &s.spec.trainer.clip,
       "limit of the gradients' norm; 0: none",
       {.range = at_least(0)}},
      {"dtype", "TYPE", &s.spec.dtype,
       "number type: fp32 or bf16, with master weights in fp32; auto: bf16 if the checkpoint has "
       "bf16 or fp16 "
       "and the device computes bf16 fast (a processor with AVX-512 BF16, a GPU), otherwise fp32"},
      {"device", "DEVICE", &s.spec.trainer.device, "cpu, cuda or cuda:I"},
      {"seed", "N", &s.spec.seed, "seed of weights, order, stacks and validation"},
      {"validation",
       "X",
       &s.spec.validation,
       "share of the examples that is held out for validation",
       {.range = share_below_1()}},
      {"validate_every",
       "N",
       &s.spec.loop.validate_every,
       "updates between validations; 0: a twentieth of the run",
       {.range = at_least(0)}},
      {"save_every",
       "N",
       &s.spec.loop.save_every,
       "updates between checkpoints; 0: only at the end",
       {.range = at_least(0)}},
      {"out", "DIR", &s.spec.out, "folder of the trained model"},
      {"resume", "", &s.spec.resume, "continue from the last checkpoint in `out`"},
      {"threads",
       "N",
       &s.threads,
       "CPU threads; 0: all cores, with a GPU one",
       {.range = at_least(0)}},
      {"process_timeout",
       "X",
       &s.process_timeout,
       "seconds that one process of several (mpirun -n N pardec train) waits for another; must be "
       "longer than an update or the writing of a checkpoint",
       {.range = {.least = 0, .above_least = true, .expected = "more than 0 seconds"}}},
      progress_setting(s.progress),
  };
}

}  // namespace

Settings settings_of(TrainingSettings& settings) {
  Settings rows = data_settings_of_training(settings);
  for (const Settings& more : {format_option_settings(settings), learning_settings(settings)})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

TrainingSettings read_training_settings(const Json& json, const std::string& where) {
  TrainingSettings settings;
  read_settings(settings_of(settings), json, where);
  return settings;
}

Json json_of(const TrainingSettings& settings) {
  TrainingSettings copy = settings;
  return json_of(settings_of(copy));
}

OrderedJson training_schema() {
  TrainingSettings settings;
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Training of pardec"},
          {"description", "Keys are flags of `pardec train` with _ for -."},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties", schema_properties(settings_of(settings))}};
}

TrainingSpec make_training_spec(const TrainingSettings& settings) {
  TrainingSettings checked = settings;
  check_settings(settings_of(checked));
  TrainingSpec spec = settings.spec;
  spec.progress = parse_progress_style(settings.progress);
  spec.trainer.dtype =
      chosen_dtype({.model = spec.model, .dtype = spec.dtype, .device = spec.trainer.device});
  if (spec.dtype == "auto") spec.trainer.dtype = computing(spec.trainer.dtype);
  if (computing(spec.trainer.dtype) != spec.trainer.dtype)
    throw ConfigError(str("`dtype` is ", spec.dtype,
                          ", expected fp32 or bf16: quantised weights cannot be trained"));
  if (spec.dtype == "auto") spec.dtype = name(spec.trainer.dtype);
  spec.trainer.seed = spec.seed;
  const bool on_cpu = spec.trainer.device == "cpu";
  spec.trainer.workers = settings.threads > 0 ? settings.threads : on_cpu ? threads() : 1;
  if (settings.micro_tokens)
    spec.trainer.micro_tokens = *settings.micro_tokens;
  else if (spec.adapts())
    spec.trainer.micro_tokens = kAdapterMicroTokens;
  spec.format =
      settings.format.empty() ? usual_formats(spec.extra_heads.heads > 0) : settings.format;
  return spec;
}

}  // namespace pardec
