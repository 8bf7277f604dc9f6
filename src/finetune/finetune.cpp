#include "src/finetune/finetune.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "decoders/control_tokens.hpp"
#include "decoders/guess_trees.hpp"
#include "decoders/training_formats.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/derived_checkpoint.hpp"
#include "src/finetune/example_source.hpp"
#include "src/finetune/training_start.hpp"
#include "src/group/group.hpp"
#include "src/model/device.hpp"
#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/parameters.hpp"
#include "src/prompt/prompt_choice.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/folder_lock.hpp"
#include "src/support/hashing.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"
#include "src/tasks/checkpoint_fit.hpp"

namespace pardec {

namespace {

std::unique_ptr<Trainable> make_trainable(const TrainingSpec& spec, const TrainingStart& start,
                                          const AdapterShape& adapter,
                                          const std::optional<Adapter>& from) {
  if (spec.extra_heads.heads == 0 && !adapter.there()) return whole_network(start.parsed);
  if (!start.weights)
    throw ConfigError(str(adapter.there() ? "`lora_rank` adapts" : "`medusa_heads` reads",
                          " a network that is trained; expected a checkpoint folder as `model`, ",
                          "found ", spec.model));
  std::unique_ptr<Trainable> low_rank;
  if (adapter.there()) low_rank = low_rank_adapter(start.parsed, adapter, spec.seed, from);
  return spec.extra_heads.heads == 0
             ? std::move(low_rank)
             : extra_heads(start.parsed, spec.extra_heads, std::move(low_rank));
}

/// The shape of the adapter `from` which training continues; otherwise the requested shape, with
/// all matrices by default, and with the ids of its tokens. ConfigError: its tokens are in another
/// order than this program's.
AdapterShape adapter_of(const TrainingSpec& spec, const std::optional<Adapter>& from,
                        const ModelConfig& config, const Tokenizer& tokenizer) {
  AdapterShape shape = from ? from->shape() : spec.adapter;
  if (from) {
    shape.dropout = spec.adapter.dropout;
    if (!std::is_sorted(shape.tokens.begin(), shape.tokens.end()))
      throw ConfigError(str(spec.start_adapter, ": its trainable_token_indices are ",
                            dump(Json(shape.tokens)), ", expected them ascending"));
    return shape;
  }
  if (shape.there() && shape.targets.empty()) shape.targets = adapter_targets(config);
  for (const std::string& token : spec.adapter_tokens)
    shape.tokens.push_back(find_control_token(
        {.option = "`lora_tokens`", .given = token, .names = {}, .to_train = true}, &tokenizer,
        config.vocab_size));
  std::sort(shape.tokens.begin(), shape.tokens.end());
  shape.tokens.erase(std::unique(shape.tokens.begin(), shape.tokens.end()), shape.tokens.end());
  return shape;
}

/// model.safetensors, or all shards.
std::set<std::filesystem::path> weight_files(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  const CheckpointFiles checkpoint(folder);
  for (const auto& [name, entry] : checkpoint.tensors()) files.insert(entry.file);
  return files;
}

/// Hash of model.safetensors, or of all shards and their names.
std::string weights_sha256(const std::filesystem::path& folder) {
  const std::set<std::filesystem::path> files = weight_files(folder);
  if (files.size() == 1) return sha256_file(*files.begin());
  std::string all;
  for (const auto& file : files) all += str(file.filename().string(), " ", sha256_file(file), "\n");
  return sha256(all);
}

/// The config for formats: its number of positions is limited to the context length.
ModelConfig within_context(const TrainingSpec& spec, ModelConfig config) {
  if (spec.context_length > 0)
    config.max_position = std::min(config.max_position, spec.context_length);
  return config;
}

/// Whether some unannotated attributes are not trained.
bool skips_unannotated(const TrainingSpec& spec) {
  return std::any_of(spec.unannotated.begin(), spec.unannotated.end(),
                     [](double share) { return share < 1; });
}

/// Everything that determines the weights, for the record and for comparison with it on --resume.
OrderedJson settings(const TrainingSpec& spec, const TrainingStart& start, const Trainable& what,
                     const ChatTemplate& chat, const Group* group) {
  const FormatShares shares = format_shares(spec.format);
  OrderedJson model = {{"config", start.config}};
  if (start.weights) model["start_sha256"] = weights_sha256(*start.weights);
  OrderedJson all = {{"model", model},          {"tokenizer_sha256", sha256_file(start.tokenizer)},
                     {"dataset", spec.dataset}, {"split", spec.split},
                     {"limit", spec.limit},     {"format", shares.names}};
  if (shares.given) all["shares"] = shares.shares;
  if (skips_unannotated(spec)) {
    if (spec.unannotated.size() == 1)
      all["unannotated"] = spec.unannotated.front();
    else
      all["unannotated"] = spec.unannotated;
  }
  if (const OwnAnswers& own = spec.own_answers; own.there())
    all["own_answers"] = {{"run", own.run},
                          {"arm", own.arm},
                          {"tokens", {own.least, own.most}},
                          {"repetition", own.repetition},
                          {"cut", own.cut}};
  all.update(recorded_options(shares.names, read_training_options(spec.format_options)));
  const OrderedJson others = {{"share_prefix", spec.share_prefix},
                              {"recombine", spec.recombine},
                              {"chat_template", chat.name()},
                              {"seed", spec.seed},
                              {"validation", spec.validation},
                              {"epochs", spec.loop.epochs},
                              {"steps", spec.loop.steps},
                              {"batch_tokens", spec.loop.batch_tokens},
                              {"batch_sequences", spec.loop.batch_sequences},
                              {"context_length", spec.context_length},
                              {"patience", spec.loop.patience},
                              {"micro_tokens", spec.trainer.micro_tokens},
                              {"lr", spec.loop.learning_rate},
                              {"lr_floor", spec.loop.floor},
                              {"warmup", spec.loop.warmup},
                              {"weight_decay", spec.trainer.adamw.weight_decay},
                              {"betas", {spec.trainer.adamw.beta1, spec.trainer.adamw.beta2}},
                              {"clip", spec.trainer.clip},
                              {"dtype", spec.dtype},
                              {"threads", spec.trainer.workers}};
  all.update(others);
  if (spec.trainer.device != "cpu") all["device"] = spec.trainer.device;
  if (group) all["processes"] = group->size();
  if (!spec.start_adapter.empty())
    all["start_adapter_sha256"] =
        sha256_file(std::filesystem::path(spec.start_adapter) / kAdapterFile);
  all.update(what.settings());
  return all;
}

constexpr const char* kResumes = "resumes";

/// The member of a record's part that differs, with its value `there`; if the part has no members,
/// the part itself.
std::string differing(const std::string& part, const Json& there, const Json& here) {
  if (!there.is_object() || !here.is_object()) return str("'", part, "'");
  for (const Json* all : {&there, &here})
    for (const auto& [key, value] : all->items()) {
      const Json then = there.value(key, Json()), now = here.value(key, Json());
      if (then == now) continue;
      const std::string both = str(" (", dump(then), ", here ", dump(now), ")");
      return str("'", key, "'", both.size() > 200 ? "" : both);
    }
  return str("'", part, "'");
}

/// ConfigError: this process would train something else than rank 0.
void check_same(Group& group, const OrderedJson& record) {
  const Json own = record;
  for (const char* part : {"settings", "data", "prompt_sha256", "chat_template_sha256"})
    if (const Json first = Json::parse(group.broadcast(dump(own.at(part)))); first != own.at(part))
      throw ConfigError(str("the process of rank ", group.rank(), " has another ",
                            differing(part, first, own.at(part)),
                            " than that of rank 0; start all with the same flags, files and "
                            "threads"));
}

/// Whether `folder` contains a run with the same settings to resume. ConfigError: it contains
/// another run, or a run although resuming was not requested.
bool may_resume(const TrainingSpec& spec, const OrderedJson& record) {
  const std::filesystem::path folder = spec.out, old = folder / kTrainingRecord;
  std::error_code ignored;
  if (!std::filesystem::exists(old, ignored)) {
    for (const char* weights :
         {"model.safetensors", "model.safetensors.index.json", kAdapterFile, kExtraHeadsFile})
      if (std::filesystem::exists(folder / weights, ignored))
        throw ConfigError(str(spec.out, ": holds ", weights, "; give another `out`"));
    return false;
  }
  if (!spec.resume)
    throw ConfigError(str(spec.out, ": holds a training run; give `resume`, or another `out`"));
  const Json before = read_json(old), now = record;
  for (const char* part : {"settings", "data", "prompt_sha256"})
    if (const Json then = before.value(part, Json()); then != now.at(part))
      throw ConfigError(str(old.string(), ": this run had another ",
                            differing(part, then, now.at(part)),
                            "; resume with the same spec, or give another `out`"));
  return std::filesystem::exists(folder / "state.safetensors", ignored);
}

}  // namespace

std::optional<TrainingProgress> training_progress(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path file = folder / kTrainingRecord;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  const Json record = read_json(file);
  const Json result = record.is_object() ? record.value("result", Json()) : Json();
  if (!result.is_object() && !result.is_null())
    throw DataError(file.string(), 0, str("'result' is ", dump(result), ", expected an object"));
  const Json finished = record.is_object() ? record.value("finished", Json(true)) : Json(false);
  if (!finished.is_boolean())
    throw DataError(file.string(), 0,
                    str("'finished' is ", dump(finished), ", expected true or false"));
  TrainingProgress state{.finished = finished.get<bool>()};
  if (result.is_object()) {
    const Json planned = result.value("planned_steps", Json(0));
    if (!planned.is_number_integer())
      throw DataError(file.string(), 0,
                      str("'planned_steps' is ", dump(planned), ", expected a whole number"));
    state.planned = planned.get<std::int64_t>();
    if (const Json loss = result.value("validation_loss", Json()); loss.is_number())
      state.validation_loss = loss.get<double>();
  }
  LossLog log(folder / "loss.csv");
  if (std::filesystem::exists(folder / "loss.csv", ignored))
    log.read_through(std::numeric_limits<std::int64_t>::max());
  if (!log.rows().empty()) {
    state.steps = log.rows().back().step;
    state.seconds = log.rows().back().seconds;
  }
  return state;
}

void finetune(const TrainingSpec& spec, const Notes& notes, Group* group) {
  check(spec);
  const TrainingStart start = read_start(spec);
  const Tokenizer tokenizer = Tokenizer::load(start.tokenizer);
  if (!start.weights && tokenizer.vocab_size() > start.parsed.vocab_size)
    throw ModelError(start.tokenizer.string(),
                     str("has ids up to ", tokenizer.vocab_size() - 1,
                         ", vocab_size of the config is ", start.parsed.vocab_size));
  std::optional<Adapter> from;
  if (!spec.start_adapter.empty()) {
    if (!holds_low_rank(spec.start_adapter))
      throw ConfigError(str("`start_adapter`: ", spec.start_adapter,
                            " holds only extra heads, expected a low-rank adapter"));
    from = Adapter::load(spec.start_adapter, start.parsed);
    if (const auto more = from->beyond_plain(start.parsed); !more.empty())
      throw ConfigError(str("`start_adapter`: ", spec.start_adapter, " has ", join(more, ", "),
                            ", which are not trained; expected a plain low-rank adapter"));
  }
  const AdapterShape adapter = adapter_of(spec, from, start.parsed, tokenizer);
  const std::unique_ptr<Trainable> what = make_trainable(spec, start, adapter, from);
  const bool unsaid = !start.weights && spec.chat_template == "auto";
  const ChatTemplate chat = unsaid
                                ? find_chat_template("plain")
                                : template_for(spec.chat_template, start.weights.value_or(""), {});

  ExampleSource::Parts parts;
  const FormatShares shares = format_shares(spec.format);
  const ModelConfig within = within_context(spec, start.parsed);
  auto formats =
      make_formats(shares.names, read_training_options(spec.format_options), {tokenizer, within},
                   /*extra_heads=*/spec.extra_heads.heads > 0);
  for (size_t i = 0; i < formats.size(); ++i)
    parts.formats.push_back({std::move(formats[i]), shares.shares[i]});
  TrainingData data = read_data(spec);
  OrderedJson wordings = OrderedJson::object();  // sha256 by task
  for (TrainingExamples& examples : data.examples) {
    examples.prompt =
        start.weights ? choose_prompt(spec.prompt_file, examples.task, *start.weights)
                      : load_prompt(spec.prompt_file.empty() ? examples.task : spec.prompt_file);
    wordings[examples.task] = sha256(examples.prompt.content);
  }
  parts.examples = std::move(data.examples);
  parts.chat_template = chat;
  parts.seed = spec.seed;
  parts.share = spec.share_prefix;
  parts.recombine = spec.recombine;
  for (const auto& [format, share] : parts.formats)
    if (skips_unannotated(spec) && !find_format(format->name()).skips_unannotated)
      throw ConfigError(str("`unannotated`: format ", format->name(),
                            " learns every value; expected ",
                            alternatives(formats_that(&FormatEntry::skips_unannotated))));
  const ExampleSource source(std::move(parts), tokenizer);
  const Version& built = version();
  OrderedJson record = {
      {"command", spec.command},
      {"settings", settings(spec, start, *what, chat, group)},
      {"data", data.files},
      {"prompt_sha256", wordings.size() == 1 ? wordings.front() : wordings},
      {"chat_template_sha256", sha256(chat.text())},
      {"examples", {{"train", source.training()}, {"validation", source.held_out()}}},
      {"parameters", parameter_count(*what)},
      {"pardec", built.version},
      {"commit", built.commit},
      {"libtorch", built.torch},
      {"finished", false}};
  if (group) check_same(*group, record);
  // only this process reads and writes `out` and prints messages
  const bool leads = !group || group->rank() == 0;
  bool resume = leads && may_resume(spec, record);
  if (group) resume = group->broadcast(resume ? kResumes : "") == kResumes;
  const TrainingRun run{*what, start.weights, spec.seed, spec.trainer, spec.loop, group};
  const SteadyClock clock;
  if (!leads) {
    train_model(run, source, spec.out, resume, clock, [](const LossRow&, std::int64_t) {});
    return;
  }
  const ExampleSource::Count count = source.count();
  record["epoch"] = {
      {"sequences", count.sequences}, {"cut", count.cut}, {"left_out", count.left_out}};

  const std::filesystem::path folder = spec.out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw ConfigError(str(spec.out, ": cannot be made: ", error.message()));
  const FolderLock alone(folder, "another process trains into");
  bool recorded = resume;
  const auto write_record = [&] {
    write_file(folder / kTrainingRecord, record.dump(2) + "\n");
    recorded = true;
  };
  if (spec.trainer.dtype == Dtype::bf16 && !computes_bf16_fast(spec.trainer.device))
    tell(notes,
         "`dtype=bf16`: this processor has no instructions for pairs of bf16, and trains several "
         "times faster in fp32");
  tell(notes, str(source.training(), " examples to train on, ", source.held_out(), " to validate, ",
                  count.sequences, " sequences an epoch, ", parameter_count(*what), " parameters, ",
                  spec.trainer.workers, " threads"));
  if (count.cut > 0)
    tell(notes,
         str(count.cut, " of these sequences are cut at `context_length` ", within.positions()));
  if (count.left_out > 0)
    tell(notes,
         str(count.left_out,
             " examples are left out: too long, or answers that a format cannot learn from"));

  for (const auto& [dataset, answers] : data.own_answers) {
    record["own_answers"][dataset] = answers.json();
    tell(notes, str(dataset, ": ", counted(answers.kept, "answer"), " of the run are learned",
                    answers.cut > 0 ? str(" (", answers.cut, " without their end)") : "", "; ",
                    answers.left_out(), " examples are left out (", answers.absent,
                    " without an answer, ", answers.unfinished, " cut at a limit, ", answers.length,
                    " too short or long, ", answers.repeated, " that repeat)"));
  }

  std::unique_ptr<Progress> progress;
  const LoopResult result =
      train_model(run, source, folder, resume, clock, [&](const LossRow& row, std::int64_t steps) {
        if (!recorded) {  // if training cannot even begin, it leaves no record
          record["result"] = {{"planned_steps", steps}};
          write_record();
        }
        if (!progress)  // its clock starts after this update
          progress = std::make_unique<Progress>(spec.progress, "updates", steps, row.step);
        progress->update(row.step, str("loss ", row.train_loss, " · ",
                                       static_cast<std::int64_t>(row.tokens_per_second), " tok/s"));
      });
  progress.reset();
  if (adapter.there()) write_adapter_config(adapter, start.parsed, spec.model, folder);
  if (!what->beside_network()) write_model_config(start.config, folder);
  write_file(folder / "tokenizer.json", complete_tokenizer(start.tokenizer));
  // The files that `run` uses: the markup, and the wording of each task that it does not have by
  // default.
  if (chat.name().starts_with("checkpoint")) {
    for (const char* file : kChatTemplateFiles)
      if (std::filesystem::exists(*start.weights / file, error))
        write_file(folder / file, read_file(*start.weights / file));
    if (std::filesystem::is_directory(*start.weights / kMoreChatTemplates, error))
      std::filesystem::copy(*start.weights / kMoreChatTemplates, folder / kMoreChatTemplates,
                            std::filesystem::copy_options::overwrite_existing |
                                std::filesystem::copy_options::recursive);
  }
  for (const TrainingExamples& examples : source.parts().examples)
    if (const std::string& wording = examples.prompt.content;
        !spec.prompt_file.empty() || wording != load_prompt(examples.task).content) {
      const auto own = own_prompt(folder, examples.task);
      std::filesystem::create_directories(own.parent_path());
      write_file(own, wording);
    }
  const bool drawn = draw_loss(folder / "loss.csv", folder / "loss.svg");
  std::vector<double> accuracy;
  for (const auto& ranks : result.validation_ranks) accuracy.push_back(ranks.front());
  record["finished"] = !result.out_of_time;
  record["result"] = {
      {"steps", result.steps},
      {"planned_steps", result.planned},
      {"stopped_by", result.out_of_time ? OrderedJson("minutes") : OrderedJson()},
      {"best_step", result.best_step},
      {"tokens", result.tokens},
      {"seconds", result.seconds},
      {"train_loss", result.train_loss},
      {"validation_loss",
       result.validation_loss ? OrderedJson(*result.validation_loss) : OrderedJson()},
      {"validation_accuracy", accuracy}};
  if (spec.extra_heads.heads > 0 && !accuracy.empty())
    record["result"].update(likeliest_trees(result.validation_ranks, spec.extra_heads.heads));
  for (const std::string& file : files_of(*what))
    record["result"][file == kAdapterFile      ? "adapter_sha256"
                     : file == kExtraHeadsFile ? "heads_sha256"
                                               : "model_sha256"] = sha256_file(folder / file);
  write_record();
  if (result.out_of_time)
    tell(notes, str("stopped at update ", result.steps, " of ", result.planned, ": `minutes` ",
                    spec.loop.minutes, " are over; the same line with `resume` goes on"));
  std::ostringstream line;
  line << spec.out << ": " << result.steps << " updates, " << result.tokens << " tokens, loss "
       << result.train_loss;
  if (result.validation_loss) line << ", validation loss " << *result.validation_loss;
  if (result.best_step > 0) line << " (of update " << result.best_step << ", which is kept)";
  const std::vector<Trainable::Loss> losses = what->losses();
  for (size_t i = 0; i < accuracy.size(); ++i)
    line << (i == 0 ? ", right " : " ") << losses[i].name << (losses[i].name.empty() ? "" : " ")
         << accuracy[i];
  if (record["result"].contains("trees"))
    for (const OrderedJson& tree : record["result"]["trees"])
      line << "; expected of " << tree["nodes"] << " guesses: " << tree["tokens_per_pass"]
           << " tokens a pass";
  line << (drawn ? "" : "; no loss.svg (gnuplot was not found, loss.csv has the numbers)");
  tell(notes, line.str());
}

}  // namespace pardec
