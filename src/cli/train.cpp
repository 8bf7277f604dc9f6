// `pardec train`: trains a network on the formats of decoders.
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include "datasets/attribute_extraction.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/project_files.hpp"
#include "src/cli/train_flags.hpp"
#include "src/cli/training_data.hpp"
#include "src/cli/version.hpp"
#include "src/cli/workload.hpp"
#include "src/model/device.hpp"
#include "src/model/parameters.hpp"
#include "src/model/safetensors.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hashing.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// What the run starts from: a config.json, or a folder with weights.
struct Start {
  Json config;
  ModelConfig parsed;
  std::filesystem::path tokenizer;
  std::optional<std::filesystem::path> weights;
};

Start read_start(const TrainFlags& flags) {
  Start start;
  const std::filesystem::path model = flags.model;
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(model, ignored);
  if (folder) start.weights = model;
  const std::filesystem::path config = folder ? model / "config.json" : model;
  start.config = read_json(config);
  if (!start.config.is_object())
    throw ModelError(config.string(), str("is ", start.config.type_name(), ", expected an object"));
  start.tokenizer = !flags.tokenizer.empty() ? std::filesystem::path(flags.tokenizer)
                    : folder                 ? model / "tokenizer.json"
                             : project_file("experiments/quickstart/tokenizer.json");
  if (std::filesystem::is_directory(start.tokenizer, ignored)) start.tokenizer /= "tokenizer.json";
  if (folder) {
    start.parsed = read_model_config(model);
    if (!start.parsed.eos.empty() && !start.config.contains("eos_token_id"))
      start.config["eos_token_id"] = start.parsed.eos;
    return start;
  }
  const Tokenizer tokenizer = Tokenizer::load(start.tokenizer);
  if (!start.config.contains("vocab_size"))
    start.config["vocab_size"] = (tokenizer.vocab_size() + 63) / 64 * 64;
  for (const char* end : {"<|im_end|>", "</s>", "<|endoftext|>", "<|end_of_text|>"})
    if (const auto id = tokenizer.id(end); id && !start.config.contains("eos_token_id"))
      start.config["eos_token_id"] = *id;
  start.parsed = parse_model_config(start.config, config.string());
  return start;
}

/// What is to learn. ConfigError where it would stand over a network that nobody trained.
std::unique_ptr<Trainable> make_trainable(const TrainFlags& flags, const Start& start) {
  if (flags.extra_heads.heads == 0) return whole_network(start.parsed);
  if (!start.weights)
    throw ConfigError(str("--medusa-heads reads a network that is trained; expected a checkpoint ",
                          "folder as --model, found ", flags.model));
  return extra_heads(start.parsed, flags.extra_heads);
}

struct Data {
  std::vector<std::string> tasks;  ///< names of the wordings that `run` takes for them
  std::vector<Example> train, held_out;
  OrderedJson files = OrderedJson::array();
};

Data read_data(const TrainFlags& flags) {
  Data data;
  std::vector<std::filesystem::path> lists;
  std::set<std::string> held;
  const auto note = [&](const Dataset& dataset) {
    for (const auto& file : dataset.files)
      data.files.push_back({{"dataset", dataset.name},
                            {"split", dataset.split},
                            {"file", file.filename().string()},
                            {"sha256", sha256_file(file)},
                            {"examples", dataset.examples.size()}});
  };
  for (const std::string& name : flags.dataset) {
    Dataset dataset = load_dataset(find_dataset(name),
                                   flags.data_root.empty()
                                       ? std::nullopt
                                       : std::optional<std::filesystem::path>(flags.data_root),
                                   flags.split, project_file("datasets/samples"));
    if (dataset.shape != Shape::attributes)
      throw ConfigError(
          str("dataset ", name, " asks questions or open prompts, and training takes ",
              "attributes of texts alone; expected oa-mine, ae-110k or a jsonl of them"));
    note(dataset);
    if (const std::string task(prompt_name(find_dataset(name), dataset));
        std::find(data.tasks.begin(), data.tasks.end(), task) == data.tasks.end())
      data.tasks.push_back(task);
    lists.push_back(dataset.files.front());
    if (flags.limit > 0) dataset.examples = select(dataset.examples, flags.limit, 0, flags.seed);
    for (Example& example : hold_out(dataset.examples, flags.validation, flags.seed)) {
      held.insert(example.cluster);
      data.held_out.push_back(std::move(example));
    }
    std::move(dataset.examples.begin(), dataset.examples.end(), std::back_inserter(data.train));
  }
  for (const std::string& file : flags.extra) {
    Dataset dataset = load_attribute_extraction_file(file, lists);
    note(dataset);
    for (Example& example : dataset.examples)
      if (!held.contains(example.cluster)) data.train.push_back(std::move(example));
  }
  if (data.train.empty())
    throw ConfigError("no title is left to train on; use a smaller --validation");
  return data;
}

/// model.safetensors, or all shards.
std::set<std::filesystem::path> weight_files(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  const CheckpointFiles checkpoint(folder);
  for (const auto& [name, entry] : checkpoint.tensors()) files.insert(entry.file);
  return files;
}

/// Of model.safetensors, or of all shards and their names.
std::string weights_sha256(const std::filesystem::path& folder) {
  const std::set<std::filesystem::path> files = weight_files(folder);
  if (files.size() == 1) return sha256_file(*files.begin());
  std::string all;
  for (const auto& file : files) all += str(file.filename().string(), " ", sha256_file(file), "\n");
  return sha256(all);
}

/// What determines the weights, for the record and for comparing with it on --resume.
OrderedJson settings(const TrainFlags& flags, const Start& start, const Trainable& what,
                     const ChatTemplate& chat) {
  OrderedJson model = {{"config", start.config}};
  if (start.weights) model["start_sha256"] = weights_sha256(*start.weights);
  OrderedJson all = {{"model", model},
                     {"tokenizer_sha256", sha256_file(start.tokenizer)},
                     {"dataset", flags.dataset},
                     {"split", flags.split},
                     {"limit", flags.limit},
                     {"format", flags.format}};
  all.update(recorded_options(flags.format, read_training_options(flags.format_options)));
  const OrderedJson others = {{"share_prefix", flags.share_prefix},
                              {"recombine", flags.recombine},
                              {"chat_template", chat.name()},
                              {"seed", flags.seed},
                              {"validation", flags.validation},
                              {"epochs", flags.loop.epochs},
                              {"steps", flags.loop.steps},
                              {"batch_tokens", flags.loop.batch_tokens},
                              {"micro_tokens", flags.trainer.micro_tokens},
                              {"lr", flags.loop.learning_rate},
                              {"lr_floor", flags.loop.floor},
                              {"warmup", flags.loop.warmup},
                              {"weight_decay", flags.trainer.adamw.weight_decay},
                              {"betas", {flags.trainer.adamw.beta1, flags.trainer.adamw.beta2}},
                              {"clip", flags.trainer.clip},
                              {"dtype", flags.dtype},
                              {"threads", flags.trainer.workers}};
  all.update(others);
  all.update(what.settings());
  return all;
}

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

/// Whether `folder` holds a run of the same settings to go on with. ConfigError where it holds
/// another one, or one while nobody asked to resume.
bool may_resume(const TrainFlags& flags, const OrderedJson& record) {
  const std::filesystem::path folder = flags.out, old = folder / kTrainingRecord;
  std::error_code ignored;
  if (!std::filesystem::exists(old, ignored)) {
    if (std::filesystem::exists(folder / "model.safetensors", ignored) ||
        std::filesystem::exists(folder / "model.safetensors.index.json", ignored))
      throw ConfigError(str(flags.out, ": holds a model; give another --out"));
    return false;
  }
  if (!flags.resume)
    throw ConfigError(str(flags.out, ": holds a training run; give --resume, or another --out"));
  const Json before = read_json(old), now = record;
  for (const char* part : {"settings", "data", "prompt_sha256"})
    if (!before.contains(part) || before.at(part) != now.at(part)) {
      std::string what = part;
      if (before.contains(part) && before.at(part).is_object() && now.at(part).is_object())
        for (const auto& [key, value] : now.at(part).items())
          if (!before.at(part).contains(key) || before.at(part).at(key) != value) what = key;
      throw ConfigError(str(old.string(), ": this run had another '", what,
                            "'; resume with the same flags, or give another --out"));
    }
  return std::filesystem::exists(folder / "state.safetensors", ignored);
}

/// The network that a run began from, as it is: weights, JSON files and wordings.
void copy_checkpoint(const std::filesystem::path& from, const std::filesystem::path& to) {
  constexpr auto kOverwrite = std::filesystem::copy_options::overwrite_existing;
  try {
    for (const auto& file : weight_files(from))
      std::filesystem::copy_file(file, to / file.filename(), kOverwrite);
    for (const auto& entry : std::filesystem::directory_iterator(from))
      if ((entry.path().extension() == ".json" || entry.path().extension() == ".jinja") &&
          entry.path().filename() != "training.json")
        std::filesystem::copy_file(entry.path(), to / entry.path().filename(), kOverwrite);
    if (std::filesystem::is_directory(from / "prompts"))
      std::filesystem::copy(from / "prompts", to / "prompts",
                            kOverwrite | std::filesystem::copy_options::recursive);
  } catch (const std::filesystem::filesystem_error& error) {
    throw RunError(str(to.string(), ": the network cannot be copied here: ", error.what()));
  }
}

int run_train(const TrainFlags& flags, const std::string& command) {
  check(flags);
  const ProgressStyle style = parse_progress_style(flags.progress);
  const Start start = read_start(flags);
  const std::unique_ptr<Trainable> what = make_trainable(flags, start);
  const Tokenizer tokenizer = Tokenizer::load(start.tokenizer);
  if (tokenizer.vocab_size() > start.parsed.vocab_size)
    throw ModelError(start.tokenizer.string(),
                     str("has ids up to ", tokenizer.vocab_size() - 1,
                         ", vocab_size of the config is ", start.parsed.vocab_size));
  const bool unsaid = !start.weights && flags.chat_template == "auto";
  const ChatTemplate chat =
      unsaid ? find_chat_template("plain")
             : template_for(flags.chat_template, start.weights.value_or(""), {});

  TitleSource::Parts parts;
  parts.formats =
      make_formats(flags.format, read_training_options(flags.format_options),
                   {tokenizer, start.parsed}, /*extra_heads=*/flags.extra_heads.heads > 0);
  Data data = read_data(flags);
  const std::string& task = data.tasks.front();
  parts.prompt = start.weights ? choose_prompt(flags.prompt_file, task, *start.weights)
                               : load_prompt(flags.prompt_file.empty() ? task : flags.prompt_file);
  const std::string wording = parts.prompt.content;
  parts.chat_template = chat;
  parts.seed = flags.seed;
  parts.share = flags.share_prefix;
  parts.recombine = flags.recombine;
  parts.train = std::move(data.train);
  parts.held_out = std::move(data.held_out);
  const Version& built = version();
  OrderedJson record = {
      {"command", command},
      {"settings", settings(flags, start, *what, chat)},
      {"data", data.files},
      {"prompt_sha256", sha256(wording)},
      {"chat_template_sha256", sha256(chat.text())},
      {"titles", {{"train", parts.train.size()}, {"validation", parts.held_out.size()}}},
      {"parameters", parameter_count(*what)},
      {"pardec", built.version},
      {"commit", built.commit},
      {"libtorch", built.torch},
      {"finished", false}};
  const bool resume = may_resume(flags, record);
  const TitleSource source(std::move(parts), tokenizer);

  const std::filesystem::path folder = flags.out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw ConfigError(str(flags.out, ": cannot be made: ", error.message()));
  bool recorded = resume;
  const auto write_record = [&] {
    write_file(folder / kTrainingRecord, record.dump(2) + "\n");
    recorded = true;
  };
  std::cerr << source.parts().train.size() << " titles to train on, "
            << source.parts().held_out.size() << " to validate, "
            << parameter_count(*what) << " parameters, "
            << flags.trainer.workers << " threads\n";

  const SteadyClock clock;
  std::unique_ptr<Progress> progress;
  const TrainingRun run{*what, start.weights, flags.seed, flags.trainer, flags.loop};
  const LoopResult result =
      train_model(run, source, folder, resume, clock, [&](const LossRow& row, std::int64_t steps) {
        if (!recorded) write_record();  // what cannot even begin leaves nothing behind
        if (!progress) progress = std::make_unique<Progress>(style, "updates", steps);
        progress->update(row.step, str("loss ", row.train_loss, " · ",
                                       static_cast<std::int64_t>(row.tokens_per_second), " tok/s"));
      });
  progress.reset();
  if (what->beside_network())
    copy_checkpoint(*start.weights, folder);
  else
    write_model_config(start.config, folder);
  write_file(folder / "tokenizer.json", read_file(start.tokenizer));
  // Where `run` looks: the markup, and the wording of each task that it has not by itself.
  if (chat.name() == "checkpoint")
    for (const char* file : kChatTemplateFiles)
      if (std::filesystem::exists(*start.weights / file, error))
        write_file(folder / file, read_file(*start.weights / file));
  for (const std::string& name : data.tasks)
    if (!flags.prompt_file.empty() || wording != load_prompt(name).content) {
      const auto own = own_prompt(folder, name);
      std::filesystem::create_directories(own.parent_path());
      write_file(own, wording);
    }
  const bool drawn = draw_loss(folder / "loss.csv", folder / "loss.svg");
  record["finished"] = true;
  record["result"] = {
      {"steps", result.steps},
      {"tokens", result.tokens},
      {"seconds", result.seconds},
      {"train_loss", result.train_loss},
      {"validation_loss",
       result.validation_loss ? OrderedJson(*result.validation_loss) : OrderedJson()},
      {"validation_accuracy", result.validation_accuracy},
      {"model_sha256", weights_sha256(folder)}};
  if (what->beside_network())
    record["result"]["heads_sha256"] = sha256_file(folder / what->file());
  write_record();
  std::cerr << flags.out << ": " << result.steps << " updates, " << result.tokens
            << " tokens, loss " << result.train_loss;
  if (result.validation_loss) std::cerr << ", validation loss " << *result.validation_loss;
  const std::vector<Trainable::Loss> losses = what->losses();
  for (size_t i = 0; i < result.validation_accuracy.size(); ++i)
    std::cerr << (i == 0 ? ", right " : " ") << losses[i].name << (losses[i].name.empty() ? "" : " ")
              << result.validation_accuracy[i];
  std::cerr << (drawn ? "" : "; no loss.svg (gnuplot was not found, loss.csv has the numbers)")
            << "\n";
  return 0;
}

}  // namespace

Verb train_verb() {
  return {
      "train", "train a network on the formats of decoders",
      "pardec train --model config.json --dataset oa-mine,ae-110k --data-root data --format ar,hpd "
      "--epochs 5 --out model\n"
      "  pardec train --model model --dataset oa-mine --format hpd --stack 2 --steps 200 --lr 1e-4 "
      "--out tuned\n"
      "  the same line with --resume goes on where a run was stopped\n\n"
      "Into --out: config.json, generation_config.json, tokenizer.json, model.safetensors (bf16), "
      "training.json\n"
      "(what made it), loss.csv, loss.svg, and state.safetensors, which only --resume needs. With "
      "--medusa-heads:\n"
      "the checkpoint's weights as they are, and medusa_heads.safetensors, which works beside them "
      "anywhere.",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<TrainFlags>();
        const auto add = [&](const char* name, auto& value, const std::string& help,
                             const char* type) {
          return app.add_option(name, value, help)->type_name(type);
        };
        add("--model", flags->model,
            "a config.json (weights start at random) or a checkpoint folder (weights start there)",
            "PATH");
        add("--tokenizer", flags->tokenizer,
            "tokenizer.json or its folder; else the model's own, else the quickstart's", "FILE");
        add("--dataset", flags->dataset, "datasets ('pardec list datasets')", "A,B")
            ->delimiter(',');
        add("--data-root", flags->data_root,
            "folder with a folder per dataset; without it the built-in samples", "DIR");
        add("--split", flags->split, "split to train on", "NAME")->capture_default_str();
        add("--extra", flags->extra,
            "more titles as JSON lines of the datasets' format, never validated on; repeatable",
            "FILE");
        add("--limit", flags->limit, "titles of each dataset, spread over categories; 0: all", "N")
            ->capture_default_str();
        add("--format", flags->format, "what a sequence looks like: " + format_meanings(), "A,B")
            ->delimiter(',')
            ->capture_default_str();
        add_format_options(app, *flags);
        add("--recombine", flags->recombine,
            "share of the titles that each epoch makes anew, with values of other titles and "
            "invented ones",
            "X");
        add("--share-prefix", flags->share_prefix,
            "sequences of a category that share one copy of their instruction; same loss, less "
            "work",
            "N")
            ->capture_default_str();
        add("--medusa-heads", flags->extra_heads.heads,
            "train so many extra heads for medusa and apar on the formats ar, ar-value, apar or "
            "apar-unrolled, and leave the checkpoint as it is; 0: train the network",
            "N")
            ->capture_default_str();
        add("--medusa-blocks", flags->extra_heads.blocks, "residual blocks of each such head",
            "N")
            ->capture_default_str();
        add("--prompt-file", flags->prompt_file,
            "wording of the task: a name in datasets/prompts or a file; else the checkpoint's own, "
            "else the project's",
            "FILE");
        add("--chat-template", flags->chat_template,
            str("markup around the prompt: auto (the checkpoint's own, or what it ",
                "was taught before, else plain), ", join(chat_template_names(), ", ")),
            "NAME")
            ->capture_default_str();
        add("--epochs", flags->loop.epochs, "times that every title is seen in each format", "X")
            ->capture_default_str();
        add("--steps", flags->loop.steps, "updates, instead of --epochs", "N");
        add("--batch-tokens", flags->loop.batch_tokens, "tokens fed for one update at most", "N")
            ->capture_default_str();
        add("--micro-tokens", flags->trainer.micro_tokens,
            "tokens in one forward, about; several make up a batch", "N")
            ->capture_default_str();
        add("--lr", flags->loop.learning_rate, "highest learning rate", "X")->capture_default_str();
        add("--lr-floor", flags->loop.floor, "share of it that is left at the end", "X")
            ->capture_default_str();
        add("--warmup", flags->loop.warmup, "share of the updates in which the rate rises", "X")
            ->capture_default_str();
        add("--weight-decay", flags->trainer.adamw.weight_decay,
            "AdamW's decay of matrices (norms, biases and the embedding have none)", "X")
            ->capture_default_str();
        add("--clip", flags->trainer.clip, "limit of the gradients' norm; 0: none", "X")
            ->capture_default_str();
        add("--dtype", flags->dtype, "compute in fp32 or bf16; masters are fp32", "TYPE")
            ->capture_default_str();
        add("--seed", flags->seed, "seed of weights, order, stacks and validation", "N")
            ->capture_default_str();
        add("--validation", flags->validation, "share of the titles that is held out", "X")
            ->capture_default_str();
        add("--validate-every", flags->loop.validate_every,
            "updates between validations; 0: a twentieth of the run", "N")
            ->capture_default_str();
        add("--save-every", flags->loop.save_every,
            "updates between checkpoints; 0: only at the end", "N")
            ->capture_default_str();
        add("--out", flags->out, "folder of the trained model", "DIR");
        app.add_flag("--resume", flags->resume, "go on from the last checkpoint in --out");
        add("--threads", flags->threads, "CPU threads; 0: all cores", "N")->capture_default_str();
        add("--progress", flags->progress, "auto, bar, plain or none", "STYLE")
            ->capture_default_str();
        return [flags, &app] {
          flags->trainer.dtype = parse_dtype(flags->dtype);
          if (computing(flags->trainer.dtype) != flags->trainer.dtype)
            throw ConfigError(str("--dtype is ", flags->dtype,
                                  ", expected fp32 or bf16: quantised weights cannot be trained"));
          flags->trainer.workers = flags->threads > 0 ? flags->threads : threads();
          if (flags->extra_heads.heads > 0 && app.get_option("--format")->count() == 0)
            flags->format = usual_formats(/*extra_heads=*/true);
          set_threads(1);  // a batch is shared out as a whole: cheaper than within each product
          return run_train(*flags, command_of(app));
        };
      }};
}

}  // namespace pardec
