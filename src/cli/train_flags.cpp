#include "src/cli/train_flags.hpp"

#include "src/cli/common_flags.hpp"
#include "src/cli/with_flags.hpp"
#include "src/prompt/chat_template.hpp"

namespace pardec {

namespace {

/// The flags of training_options(). `spec` outlives the parsing.
void add_format_options(CLI::App& app, TrainingSpec& spec) {
  const std::vector<TrainingOption> all = training_options();
  std::set<std::string> flags;
  for (const TrainingOption& row : all) flags.emplace(row.option.name);
  for (const TrainingOption& row : all) {
    const Option& option = row.option;
    const std::string name(option.name), flag = "--" + name;
    const std::string help = with_flags_of(flags, option.meaning);
    const auto keep = [&spec, name](const auto& value) { spec.format_options[name] = value; };
    CLI::Option* added = nullptr;
    switch (option.type) {
      case Option::Type::flag:
        app.add_flag_callback(
            flag, [keep] { keep(true); }, help);
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

}  // namespace

void add_train_flags(CLI::App& app, TrainFlags& flags) {
  const auto add = [&](const char* name, auto& value, const std::string& help, const char* type) {
    return app.add_option(name, value, help)->type_name(type);
  };
  add("--model", flags.spec.model,
      "a config.json (weights start at random) or a checkpoint folder (weights start there)",
      "PATH");
  add("--tokenizer", flags.spec.tokenizer,
      "tokenizer.json or its folder; else the model's own, else the quickstart's", "FILE");
  add("--dataset", flags.spec.dataset, "datasets ('pardec list datasets')", "A,B")->delimiter(',');
  add("--data-root", flags.spec.data_root,
      "folder with a folder per dataset; without it the built-in samples", "DIR");
  add("--split", flags.spec.split, "split to train on", "NAME")->capture_default_str();
  add("--extra", flags.spec.extra,
      "more titles as JSON lines of the datasets' format, never validated on; repeatable", "FILE");
  add("--from-run", flags.spec.own_answers.run,
      "learn what a run of 'pardec run' answered to the same examples, in place of their "
      "references: its name, or how its id begins",
      "RUN");
  app.add_flag("--keep-cut", flags.spec.own_answers.cut,
               "learn its open answers that were cut at a limit, too, as far as they go; without "
               "it they are left out");
  add("--from-arm", flags.spec.own_answers.arm, "label of its arm, where it has several", "LABEL");
  add("--db", flags.spec.own_answers.db, "database with that run", "FILE")->capture_default_str();
  add("--min-answer-tokens", flags.spec.own_answers.least, "leave out shorter answers of that run",
      "N")
      ->capture_default_str();
  add("--max-answer-tokens", flags.spec.own_answers.most,
      "leave out longer answers of that run; 0: none", "N")
      ->capture_default_str();
  add("--max-repetition", flags.spec.own_answers.repetition,
      "leave out its answers of whose 4-grams a larger share stood there before", "X")
      ->capture_default_str();
  add("--limit", flags.spec.limit, "examples of each dataset, spread over categories; 0: all", "N")
      ->capture_default_str();
  add("--format", flags.spec.format,
      "what a sequence looks like, NAME or NAME:SHARE (how often an epoch brings every example "
      "so): " +
          format_meanings(),
      "A,B")
      ->delimiter(',')
      ->capture_default_str();
  add_format_options(app, flags.spec);
  add("--recombine", flags.spec.recombine,
      "share of the titles that each epoch makes anew, with values of other titles and "
      "invented ones",
      "X");
  add("--unannotated", flags.spec.unannotated,
      "ar, ar-value, hpd: share of the attributes that nobody annotated which are learned as "
      "absent; the others teach nothing. One for all datasets, or one for each",
      "X,Y")
      ->delimiter(',')
      ->capture_default_str();
  add("--share-prefix", flags.spec.share_prefix,
      "sequences of a category that share one copy of their instruction; same loss, less "
      "work",
      "N")
      ->capture_default_str();
  add("--medusa-heads", flags.spec.extra_heads.heads,
      "train so many extra heads for medusa and apar on the formats ar, ar-value, apar or "
      "apar-unrolled, and leave the checkpoint as it is, but for what --lora-rank adapts at the "
      "same time; 0: none",
      "N")
      ->capture_default_str();
  add("--medusa-blocks", flags.spec.extra_heads.blocks, "residual blocks of each such head", "N")
      ->capture_default_str();
  app.add_flag("--medusa-share-head", flags.spec.extra_heads.shares_head,
               "heads are their blocks alone and end in the network's own head: a small file, in "
               "place of a matrix to the vocabulary each");
  add("--lora-rank", flags.spec.adapter.rank,
      "train a low-rank adapter (LoRA) of this rank and leave the checkpoint as it is; 0: none",
      "N")
      ->capture_default_str();
  add("--lora-alpha", flags.spec.adapter.alpha, "its products count alpha / rank", "X")
      ->capture_default_str();
  add("--lora-dropout", flags.spec.adapter.dropout, "share of its inputs that are dropped", "X")
      ->capture_default_str();
  add("--start-adapter", flags.spec.start_adapter,
      "go on from the low-rank adapter in this folder, of its rank, alpha, matrices and tokens; it "
      "stays as it is",
      "DIR");
  add("--lora-targets", flags.spec.adapter.targets,
      "matrices that it adapts, e.g. q_proj,v_proj; else all of the layers", "A,B")
      ->delimiter(',');
  add_texts(app, "--lora-tokens", flags.spec.adapter_tokens,
            "tokens (ids or texts) whose rows of embedding and head learn, too, e.g. control "
            "tokens; rows "
            "that are alike, as of tokens that were never used, begin drawn by the seed");
  add("--prompt-file", flags.spec.prompt_file,
      "wording of the task: a name in datasets/prompts or a file; else the checkpoint's own, "
      "else the project's",
      "FILE");
  add("--chat-template", flags.spec.chat_template,
      str("markup around the prompt: auto (the checkpoint's own, or what it ",
          "was taught before, else plain), checkpoint:NAME (one of several of its own), ",
          join(chat_template_names(), ", ")),
      "NAME")
      ->capture_default_str();
  add("--epochs", flags.spec.loop.epochs, "times that every example is seen in each format", "X")
      ->capture_default_str();
  add("--steps", flags.spec.loop.steps, "updates, instead of --epochs", "N");
  add("--batch-tokens", flags.spec.loop.batch_tokens, "tokens fed for one update at most", "N")
      ->capture_default_str();
  add("--batch-sequences", flags.spec.loop.batch_sequences,
      "sequences of one update, instead of --batch-tokens", "N");
  add("--context-length", flags.spec.context_length,
      "tokens of a sequence at most: open answers are cut there; 0: as many positions as the "
      "network has",
      "N");
  add("--patience", flags.spec.loop.patience,
      "stop behind so many validations without a better loss, and keep the best; 0: never", "N")
      ->capture_default_str();
  add("--minutes", flags.spec.loop.minutes,
      "stop after the update in which so many minutes are over, with all files of a finished run; "
      "--resume goes on for as long again; 0: no limit",
      "X")
      ->capture_default_str();
  add("--micro-tokens", flags.spec.trainer.micro_tokens,
      "tokens in one forward, about; several make up a batch (of an adapter 512, where it is not "
      "given)",
      "N")
      ->capture_default_str();
  app.add_flag("--checkpoint-activations", flags.spec.trainer.checkpoint_activations,
               "keep only each layer's input and compute it again for its gradients: less memory, "
               "a third to a half more work");
  add("--lr", flags.spec.loop.learning_rate, "highest learning rate", "X")->capture_default_str();
  add("--lr-floor", flags.spec.loop.floor, "share of it that is left at the end", "X")
      ->capture_default_str();
  add("--warmup", flags.spec.loop.warmup, "share of the updates in which the rate rises", "X")
      ->capture_default_str();
  add("--weight-decay", flags.spec.trainer.adamw.weight_decay,
      "AdamW's decay of matrices (norms, biases and the embedding have none)", "X")
      ->capture_default_str();
  add("--clip", flags.spec.trainer.clip, "limit of the gradients' norm; 0: none", "X")
      ->capture_default_str();
  add("--dtype", flags.spec.dtype,
      "compute in fp32 or bf16; masters are fp32; auto: bf16 where the checkpoint holds it and the "
      "processor computes it fast (AVX-512 BF16), else fp32",
      "TYPE")
      ->capture_default_str();
  add("--seed", flags.spec.seed, "seed of weights, order, stacks and validation", "N")
      ->capture_default_str();
  add("--validation", flags.spec.validation, "share of the examples that is held out", "X")
      ->capture_default_str();
  add("--validate-every", flags.spec.loop.validate_every,
      "updates between validations; 0: a twentieth of the run", "N")
      ->capture_default_str();
  add("--save-every", flags.spec.loop.save_every, "updates between checkpoints; 0: only at the end",
      "N")
      ->capture_default_str();
  add("--out", flags.spec.out, "folder of the trained model", "DIR");
  app.add_flag("--resume", flags.spec.resume, "go on from the last checkpoint in --out");
  add("--threads", flags.threads, "CPU threads; 0: all cores", "N")->capture_default_str();
  add("--world-size", flags.spec.processes.world_size,
      "processes that train this together, on one machine or several, each on its share of every "
      "batch and with --threads threads; same loss",
      "N")
      ->capture_default_str();
  add("--rank", flags.spec.processes.rank,
      "which of them this is, from 0; they differ in nothing else, and 0 alone writes --out", "N")
      ->capture_default_str();
  add("--master", flags.spec.processes.master, "where rank 0 listens and the others come",
      "HOST:PORT");
  add("--process-timeout", flags.spec.processes.timeout_seconds,
      "seconds that one waits for another: longer than an update, or writing a checkpoint, takes",
      "X")
      ->capture_default_str();
  add("--progress", flags.progress, "auto, bar, plain or none", "STYLE")->capture_default_str();
}

}  // namespace pardec
