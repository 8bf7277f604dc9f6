// `pardec run`: datasets x arms x one network -> store, and the table that compares them.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <set>

#include "src/cli/command_line.hpp"
#include "src/cli/comparison.hpp"
#include "src/cli/plan.hpp"
#include "src/cli/project_files.hpp"
#include "src/cli/record.hpp"
#include "src/cli/recording.hpp"
#include "src/cli/version.hpp"
#include "src/cli/workload.hpp"
#include "src/model/device.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct RunFlags {
  ModelFlags model;
  DecodeFlags decode;
  std::vector<std::string> decoders, arms, sets, datasets;
  std::string data_root, split, order = "interleaved", baseline, db = "results/pardec.sqlite",
                                shard, config, format = "md", progress = "auto", oracle, trace;
  std::int64_t limit = 0, offset = 0;
  CacheBudget cache;
  int batch_size = 8, warmup = 1, runs = 1, block = 0;
  double fail_on_error = 0;
  bool resume = false, retry_errors = false, dry_run = false, unseen = false;
  bool db_is_default = true;
  std::string name = "run";
  std::vector<std::string> argv;
};

/// One dataset with what all arms do on it.
struct Workload {
  const DatasetEntry* entry;
  Dataset dataset;
  std::int64_t seen = 0;          // left out by --unseen
  std::vector<Example> examples;  // selected
  PromptFile prompt;
  std::vector<BlockPlan> blocks;
  std::vector<std::string> not_applicable;  // [arm] why it does not run here; empty: it does

  bool runs(size_t arm) const { return not_applicable[arm].empty(); }
};

struct Shard {
  int index = 0, count = 1;
};

std::atomic<int> interrupts{0}, last_signal{0};

extern "C" void on_interrupt(int signal) {
  // The first lets jobs in flight end and be stored, the second stops at once: nothing stored is
  // lost.
  last_signal = signal;
  if (interrupts.fetch_add(1) > 0) std::_Exit(128 + signal);
}

struct Interrupted {};

/// Takes away again a database that was made for a run which then could not begin.
class NewDatabase {
 public:
  explicit NewDatabase(std::filesystem::path file)
      : file_(std::move(file)), folder_(file_.parent_path()) {
    std::error_code ignored;
    new_file_ = !std::filesystem::exists(file_, ignored);
    new_folder_ = !folder_.empty() && !std::filesystem::exists(folder_, ignored);
  }
  ~NewDatabase() {
    if (kept_ || !new_file_) return;
    std::error_code ignored;
    for (const char* end : {"", "-wal", "-shm", "-journal"})
      std::filesystem::remove(file_.string() + end, ignored);
    if (new_folder_) std::filesystem::remove(folder_, ignored);  // empty ones only
  }
  NewDatabase(const NewDatabase&) = delete;
  NewDatabase& operator=(const NewDatabase&) = delete;
  void keep() { kept_ = true; }

 private:
  std::filesystem::path file_, folder_;
  bool new_file_ = false, new_folder_ = false, kept_ = false;
};

Shard parse_shard(const std::string& text) {
  Shard shard;
  if (text.empty()) return shard;
  char end = 0;
  if (std::sscanf(text.c_str(), "%d/%d%c", &shard.index, &shard.count, &end) != 2 ||
      shard.count < 1 || shard.index < 0 || shard.index >= shard.count)
    throw ConfigError(str("--shard is '", text, "', expected I/N with 0 <= I < N, e.g. 0/4"));
  return shard;
}

/// Keys of an experiment file that are no flags of `run`.
constexpr std::array kExperimentKeys{"name",   "decoders", "datasets", "model",
                                     "models", "grid",     "judge",    "published"};

void read_experiment(CLI::App& app, RunFlags& flags) {
  const Json json = read_json(flags.config);
  apply_config(app, json, flags.config, {kExperimentKeys.begin(), kExperimentKeys.end()});
  for (const char* key : {"grid", "models", "judge", "published"})
    if (json.contains(key))
      throw ConfigError(str(
          flags.config, ": '", key,
          "' is for experiments that `run` cannot do; expected one model and a list of decoders"));
  JsonReader read(json, flags.config);
  flags.name = read.optional<std::string>("name", flags.name);
  if (flags.model.model.empty()) flags.model.model = read.optional<std::string>("model", "");
  if (flags.datasets.empty()) {
    flags.datasets = read.optional<std::vector<std::string>>("datasets", {});
    for (const auto& name : flags.datasets) try {
        find_dataset(name);
      } catch (const ConfigError& error) {
        throw ConfigError(str(read.where("datasets"), ": ", error.what()));
      }
  }
  if (flags.decoders.empty() && flags.arms.empty() && json.contains("decoders"))
    flags.arms = arms_of_experiment(json["decoders"], flags.config);
}

void check(const RunFlags& flags) {
  check_at_least("--batch-size", flags.batch_size, 1);
  check_at_least("--limit", flags.limit, 0);
  check_at_least("--offset", flags.offset, 0);
  check_at_least("--warmup", flags.warmup, 0);
  check_at_least("--runs", flags.runs, 1);
  check_at_least("--block", flags.block, 0);
  if (flags.unseen && flags.split == "train")
    throw ConfigError("--unseen leaves nothing of the train split; give another --split");
  check_at_least("--cache-blocks", flags.cache.blocks, 0);
  if (!(flags.cache.watermark >= 0 && flags.cache.watermark < 1))
    throw ConfigError(str("--cache-watermark is ", flags.cache.watermark,
                          ", expected a share from 0 to below 1"));
  if (flags.order != "interleaved" && flags.order != "blocked")
    throw ConfigError(str("--order is '", flags.order, "', expected interleaved or blocked"));
  if (flags.retry_errors && !flags.resume)
    throw ConfigError(
        "--retry-errors goes with --resume: it repeats the failed jobs of the run that is resumed");
  if (flags.datasets.empty())
    throw ConfigError(
        "no dataset was named; give --dataset oa-mine,ae-110k ('pardec list datasets')");
  for (auto name = flags.datasets.begin(); name != flags.datasets.end(); ++name)
    if (std::find(flags.datasets.begin(), name, *name) != name)
      throw ConfigError(str("--dataset names '", *name, "' twice, expected each once"));
}

/// What --oracle says.
struct OracleFlag {
  std::string kind;                   ///< references, recorded or accept; empty: no oracle
  std::optional<double> accept_rate;  ///< accept:A
  std::string run;                    ///< recorded:RUN
};

OracleFlag parse_oracle(const std::string& text) {
  const size_t colon = text.find(':');
  OracleFlag oracle{text.substr(0, colon), std::nullopt, ""};
  if (oracle.kind == "accept" && colon != std::string::npos) {
    const std::string rate = text.substr(colon + 1);
    size_t used = 0;
    double value = -1;
    try {
      value = std::stod(rate, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used != rate.size() || !(value >= 0 && value <= 1))
      throw ConfigError(str("--oracle accept: the rate is '", rate, "', expected 0 to 1"));
    oracle.accept_rate = value;
  } else if (oracle.kind == "recorded" && colon != std::string::npos && colon + 1 < text.size()) {
    oracle.run = text.substr(colon + 1);
  } else if (!text.empty() && text != "references") {
    throw ConfigError(
        str("--oracle is '", text, "', expected references, recorded:RUN or accept:A"));
  }
  return oracle;
}

/// ConfigError where the oracle does not drive every arm.
void check_oracle(const OracleFlag& oracle, const std::vector<Arm>& arms) {
  if (oracle.kind.empty()) return;
  const auto drives = [&](std::string_view decoder) {
    const auto& kinds = find_decoder(decoder).oracles;
    return std::find(kinds.begin(), kinds.end(), oracle.kind) != kinds.end();
  };
  for (const Arm& arm : arms) {
    if (drives(arm.decoder)) continue;
    std::vector<std::string> driven;
    for (const auto& entry : decoders())
      if (drives(entry.name)) driven.emplace_back(entry.name);
    throw ConfigError(str("--oracle ", oracle.kind, " drives decoders that ",
                          oracle.kind == "accept"     ? "draft"
                          : oracle.kind == "recorded" ? "choose their tokens one by one"
                                                      : "answer in a form of references",
                          " (", join(driven, ", "), "), arm '", arm.label, "' is ", arm.decoder,
                          "; run it apart"));
  }
}

std::vector<Workload> load_workloads(const RunFlags& flags, const std::vector<Arm>& arms,
                                     const std::vector<std::unique_ptr<Decoder>>& decoders) {
  std::vector<Workload> workloads;
  bool any = false;
  for (const auto& name : flags.datasets) {
    const DatasetEntry& entry = find_dataset(name);
    Workload work;
    work.entry = &entry;
    const auto load = [&](const std::string& split) {
      return load_dataset(entry,
                          flags.data_root.empty()
                              ? std::nullopt
                              : std::optional<std::filesystem::path>(flags.data_root),
                          split, project_file("datasets/samples"));
    };
    work.dataset = load(flags.split);
    if (flags.unseen) work.seen = leave_out_seen(work.dataset.examples, load("train").examples);
    work.examples = select(work.dataset.examples, flags.limit, flags.offset, flags.decode.seed);
    if (work.examples.empty())
      throw ConfigError(str("dataset ", name, ": --offset ", flags.offset, " leaves none of its ",
                            work.dataset.examples.size(), " examples"));
    work.prompt = choose_prompt(flags.decode.prompt_file, prompt_name(entry, work.dataset),
                                flags.model.model);
    std::vector<int> stacks, batches;
    for (size_t a = 0; a < arms.size(); ++a) {
      work.not_applicable.push_back(not_applicable(work.dataset.shape, *decoders[a]));
      any = any || work.runs(a);
      stacks.push_back(work.runs(a) ? stack_on(work.dataset.shape, *decoders[a]) : 1);
      batches.push_back(arms[a].batch_size);
    }
    const int block =
        flags.block > 0
            ? flags.block
            : default_block_examples(static_cast<int>(work.examples.size()), stacks, batches);
    work.blocks = plan_blocks(work.examples, stacks, block);
    for (BlockPlan& plan : work.blocks)
      for (size_t a = 0; a < arms.size(); ++a)
        if (!work.runs(a)) plan.jobs[a].clear();
    workloads.push_back(std::move(work));
  }
  if (!any && !flags.dry_run)
    throw ConfigError(str("nothing can be run: ", arms[0].label, " on ", flags.datasets[0], ": it ",
                          workloads[0].not_applicable[0], "; --dry-run shows all"));
  return workloads;
}

void print_plan(const RunFlags& flags, const std::vector<Arm>& arms,
                const std::vector<std::unique_ptr<Decoder>>& decoders,
                const std::vector<Workload>& workloads) {
  Table table;
  table.title = "Plan (nothing is run)";
  table.columns = {{"dataset"},
                   {"split"},
                   {"examples", Align::right},
                   {"arm"},
                   {"decoder"},
                   {"options"},
                   {"form"},
                   {"needs"},
                   {"in flight", Align::right},
                   {"jobs", Align::right},
                   {"blocks", Align::right},
                   {"compared with"}};
  const auto face = read_face(flags.model.model);
  std::vector<Needs> needs;
  for (const auto& decoder : decoders)
    needs.push_back(needs_of(*decoder, face ? &*face : nullptr, flags.model.draft_model));
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a) {
      const Shape shape = work.dataset.shape;
      const std::string unfit = not_applicable(shape, *decoders[a]);
      if (!unfit.empty())
        table.notes.push_back(str("n/a: ", work.dataset.name, ", ", arms[a].label, ": it ", unfit));
      std::int64_t jobs = 0;
      for (const auto& block : work.blocks) jobs += static_cast<std::int64_t>(block.jobs[a].size());
      const auto baseline = baseline_of(arms, a, flags.baseline);
      table.rows.push_back({work.dataset.name + (work.dataset.sample ? " (own sample)" : ""),
                            work.dataset.split,
                            number_cell(static_cast<std::int64_t>(work.examples.size())),
                            arms[a].label, arms[a].decoder, dump(decoders[a]->options()),
                            unfit.empty() ? std::string(name(form_on(shape, *decoders[a]))) : "n/a",
                            needs[a].lacking ? "lacking" : needs[a].text,
                            number_cell(static_cast<std::int64_t>(arms[a].batch_size)),
                            work.runs(a) ? number_cell(jobs * flags.runs) : Cell("n/a", Json()),
                            number_cell(static_cast<std::int64_t>(work.blocks.size())),
                            baseline ? arms[*baseline].label : "-"});
      if (!work.runs(a))
        table.notes.push_back(
            str("n/a: ", work.dataset.name, ", ", arms[a].label, ": it ", work.not_applicable[a]));
    }
  for (const auto& work : workloads)
    if (flags.unseen)
      table.notes.push_back(str(work.dataset.name, ": ", work.seen, " examples of ",
                                work.dataset.split, " left out, whose text is also in train"));
  table.notes.push_back(
      str("database: ", flags.db,
          "; model: ", flags.model.model.empty() ? "(none given)" : flags.model.model,
          flags.model.draft_model.empty() ? "" : "; draft model: " + flags.model.draft_model));
  if (!face)
    table.notes.push_back(
        "no network was looked at for what decoders need; --model DIR names one that is there");
  std::cout << render(table, parse_table_format(flags.format));
  for (size_t a = 0; a < arms.size(); ++a)
    if (needs[a].lacking)
      throw ConfigError(str("arm '", arms[a].label, "' cannot run: ", needs[a].text));
}

/// Everything that is open while an experiment runs.
class Experiment {
 public:
  Experiment(const RunFlags& flags, const std::vector<Arm>& arms,
             const std::vector<std::unique_ptr<Decoder>>& decoders,
             const std::vector<Workload>& workloads, Store& store, Checkpoint& checkpoint,
             Checkpoint* draft)
      : flags_(flags),
        arms_(arms),
        decoders_(decoders),
        workloads_(workloads),
        shard_(parse_shard(flags.shard)),
        store_(store),
        checkpoint_(checkpoint),
        draft_(draft),
        engine_(checkpoint.model, clock_),
        context_{engine_, &*checkpoint.tokenizer, flags.decode.ignore_eos,
                 draft ? &draft->model : nullptr},
        process_(make_uuid()),
        invocation_(make_uuid()) {
    for (const auto& decoder : decoders_) decoder->check(context_);
    engine_.set_cache_budget(flags.cache);
  }

  /// Finds or makes the rows of all runs. Nothing is stored when it throws.
  void begin();
  void run();
  const std::string& invocation() const { return invocation_; }
  std::int64_t failed() const { return failed_; }
  std::int64_t finished() const { return finished_; }

 private:
  RunRow run_row(const Workload& work, size_t arm);
  void find_resumable(std::vector<std::vector<RunRow>>& rows);
  void run_dataset(const Workload& work, const std::vector<RowId>& ids,
                   const std::vector<std::vector<FinishedJob>>& finished, Progress& progress);
  /// The arms in the order in which they do the block at `position`.
  std::vector<size_t> arm_order(size_t position) const;
  void run_block(const Workload& work, const BlockPlan& block, size_t arm, RowId run, int repeat,
                 int position, const std::set<std::string>& finished, Progress& progress);
  void read_recordings(const std::vector<std::vector<RunRow>>& rows);
  Request make_request(const Workload& work, size_t arm, const JobPlan& plan) const;
  std::vector<const Example*> examples_of(const Workload& work, const JobPlan& plan) const;
  void warm_up(const Workload& work, size_t arm);

  const RunFlags& flags_;
  const std::vector<Arm>& arms_;
  const std::vector<std::unique_ptr<Decoder>>& decoders_;
  const std::vector<Workload>& workloads_;
  Shard shard_;
  Store& store_;
  Checkpoint& checkpoint_;
  Checkpoint* draft_;  // null: no arm drafts with a network
  SteadyClock clock_;
  Engine engine_;
  DecoderContext context_;
  std::unique_ptr<std::ofstream> trace_;
  std::vector<std::vector<RowId>> ids_;             // [workload][arm]
  std::vector<std::vector<Recording>> recordings_;  // [workload][arm]; empty: none is forced
  std::string process_, invocation_;
  std::int64_t finished_ = 0, failed_ = 0, chosen_ = 0, busy_ns_ = 0;
};

RunRow Experiment::run_row(const Workload& work, size_t arm) {
  RunRow row;
  row.uuid = make_uuid();
  row.invocation = invocation_;
  row.label = arms_[arm].label;
  row.decoder = arms_[arm].decoder;
  row.options = Json::parse(dump(decoders_[arm]->options()));
  row.form = name(form_on(work.dataset.shape, *decoders_[arm]));
  if (const auto baseline = baseline_of(arms_, arm, flags_.baseline))
    row.baseline = arms_[*baseline].label;
  row.dataset = dataset_row(work.dataset);
  row.model = model_row(store_, checkpoint_.folder, checkpoint_.model.config());
  if (draft_ && decoders_[arm]->drafts_with_model())
    row.draft = model_row(store_, draft_->folder, draft_->model.config());
  std::vector<std::string> labels;  // blocks end where the jobs of all arms do
  for (const Arm& other : arms_) labels.push_back(other.label);
  // What decides the answers and how they are measured; `differences` compares it key by key on
  // resume.
  row.config = {{"dataset", work.dataset.name},
                {"split", work.dataset.split},
                {"limit", flags_.limit},
                {"offset", flags_.offset},
                {"unseen", flags_.unseen},
                {"block", flags_.block},
                {"arms", labels},
                {"temperature", flags_.decode.temperature},
                {"top_k", flags_.decode.top_k},
                {"top_p", flags_.decode.top_p},
                {"max_new_tokens", flags_.decode.max_new_tokens},
                {"per_field", flags_.decode.per_field},
                {"ignore_eos", flags_.decode.ignore_eos},
                {"cache_blocks", flags_.cache.blocks},
                {"cache_watermark", flags_.cache.watermark},
                {"chat_template", flags_.decode.chat_template}};
  if (!flags_.oracle.empty()) row.oracle = flags_.oracle;
  row.untrained = checkpoint_.untrained;
  row.seed = flags_.decode.seed;
  row.device = flags_.model.device;
  row.dtype = flags_.model.dtype;
  row.threads = threads();
  row.batch_size = arms_[arm].batch_size;
  row.repeats = flags_.runs;
  row.order = flags_.order;
  row.shard = flags_.shard;
  row.commit = version().commit;
  row.build_type = version().build_type;
  row.prompt_hash = sha256(work.prompt.content);
  row.argv = flags_.argv;
  row.environment = environment_json();
  row.experiment = ExperimentRow{
      flags_.name,
      Json{{"arms", flags_.arms}, {"decoders", flags_.decoders}, {"datasets", flags_.datasets}}};
  return row;
}

/// --resume: the newest invocation of these arms goes on under its own ids, or is refused with what
/// differs.
void Experiment::find_resumable(std::vector<std::vector<RunRow>>& rows) {
  std::string chosen;
  for (size_t w = 0; w < rows.size(); ++w)
    for (size_t arm = 0; arm < rows[w].size(); ++arm) {
      if (!workloads_[w].runs(arm)) continue;
      RunRow& now = rows[w][arm];
      RunFilter filter;
      filter.label = now.label;
      filter.dataset = now.dataset.name;
      filter.split = now.dataset.split;
      filter.invocation = chosen;
      const auto found = store_.find_runs(filter);
      if (found.empty()) {
        if (chosen.empty())
          throw ConfigError(str("--resume: ", flags_.db, " has no run of arm '", now.label, "' on ",
                                now.dataset.name, " ", now.dataset.split,
                                "; leave --resume out to begin one"));
        continue;  // killed before this arm began
      }
      const RunRow& old = found.front();
      if (const auto different = differences(old, now); !different.empty())
        throw ConfigError(str("--resume: run ", old.uuid.substr(0, 8), " (", old.label, " on ",
                              old.dataset.name,
                              ") was made with other settings: ", join(different, "; "),
                              ". Give the same ones, or leave --resume out to begin a new run"));
      chosen = old.invocation;
      now.uuid = old.uuid;
    }
  invocation_ = chosen;
  for (auto& of_dataset : rows)
    for (RunRow& now : of_dataset) now.invocation = chosen;
}

std::vector<const Example*> Experiment::examples_of(const Workload& work,
                                                    const JobPlan& plan) const {
  std::vector<const Example*> examples;
  for (const int index : plan.examples)
    examples.push_back(&work.examples[static_cast<size_t>(index)]);
  return examples;
}

Request Experiment::make_request(const Workload& work, size_t arm, const JobPlan& plan) const {
  const auto examples = examples_of(work, plan);
  Request request;
  request.form = form_on(work.dataset.shape, *decoders_[arm]);
  request.job = make_job(plan.key, examples, request.form, work.prompt, flags_.decode);
  request.job.seed = derive_seed(flags_.decode.seed, plan.key);
  request.pieces =
      make_pieces(request.job, request.form, work.prompt,
                  find_chat_template(flags_.decode.chat_template), *checkpoint_.tokenizer);
  const OracleFlag oracle = parse_oracle(flags_.oracle);
  request.accept_rate = oracle.accept_rate;
  if (oracle.kind == "recorded")
    request.oracle = recordings_[static_cast<size_t>(&work - workloads_.data())][arm].at(plan.key);
  else if (oracle.kind == "references")
    request.oracle = decoders_[arm]->reference_oracle(request, references_of(examples), context_);
  return request;
}

/// --oracle recorded:RUN. ConfigError where the recording lacks a job of this run.
void Experiment::read_recordings(const std::vector<std::vector<RunRow>>& rows) {
  for (size_t w = 0; w < workloads_.size(); ++w) {
    auto& of_dataset = recordings_.emplace_back();
    for (size_t arm = 0; arm < arms_.size(); ++arm) {
      if (!workloads_[w].runs(arm)) {
        of_dataset.emplace_back();
        continue;
      }
      of_dataset.push_back(read_recording(store_, parse_oracle(flags_.oracle).run, rows[w][arm]));
      for (const BlockPlan& block : workloads_[w].blocks)
        for (const JobPlan& job : block.jobs[arm])
          if (!of_dataset.back().contains(job.key))
            throw ConfigError(str("--oracle ", flags_.oracle, ": the recording of arm '",
                                  arms_[arm].label, "' on ", workloads_[w].dataset.name,
                                  " has no job ", job.key,
                                  " without error; expected the examples that it was made of"));
    }
  }
}

void Experiment::warm_up(const Workload& work, size_t arm) {
  engine_.set_trace_sink({});  // what is not recorded is not traced
  if (!work.runs(arm)) return;
  const auto& jobs = work.blocks.front().jobs[arm];
  const int count = std::min(flags_.warmup, static_cast<int>(jobs.size()));
  std::vector<Request> requests;
  for (int i = 0; i < count; ++i)
    requests.push_back(make_request(work, arm, jobs[static_cast<size_t>(i)]));
  const auto start = [&](int i) -> Task<void> {
    co_await decode_request(*decoders_[arm], requests[static_cast<size_t>(i)], context_);
  };
  engine_.run(count, arms_[arm].batch_size, start, [](int, Task<void>&) {});
  if (trace_)
    engine_.set_trace_sink([this](const Trace& t) { *trace_ << dump(to_json(t)) << "\n"; });
}

void Experiment::run_block(const Workload& work, const BlockPlan& block, size_t arm, RowId run,
                           int repeat, int position, const std::set<std::string>& finished,
                           Progress& progress) {
  std::vector<const JobPlan*> open;
  for (const auto& job : block.jobs[arm])
    if (!finished.contains(job.key)) open.push_back(&job);
  if (open.empty()) return;

  BlockRow row;
  row.run = run;
  row.repeat = repeat;
  row.position = position;
  for (const int index : block.examples)
    row.samples.push_back(work.examples[static_cast<size_t>(index)].id);
  for (const size_t a : arm_order(static_cast<size_t>(position)))
    row.arm_order.push_back(arms_[a].label);
  const RowId block_id = store_.begin_block(row);

  // Prompts are rendered and tokenized before the clock starts, for every arm.
  std::vector<std::optional<Request>> requests(open.size());
  std::vector<std::string> errors(open.size());
  for (size_t i = 0; i < open.size(); ++i) {
    try {
      requests[i] = make_request(work, arm, *open[i]);
    } catch (const Error& error) {
      errors[i] = error.what();
    }
  }
  std::vector<Answers> answers(open.size());
  const auto start = [&](int i) -> Task<void> {
    const auto index = static_cast<size_t>(i);
    if (interrupts.load() > 0) throw Interrupted{};
    if (!requests[index]) throw RunError(errors[index]);
    answers[index] = co_await decode_request(*decoders_[arm], *requests[index], context_);
  };
  // Each job is stored when it is done, outside the measured time.
  const auto done = [&](int i, Task<void>& task) {
    const auto index = static_cast<size_t>(i);
    const auto examples = examples_of(work, *open[index]);
    JobRow job;
    std::vector<GenerationRow> generations;
    try {
      task.result();
      job = job_row(open[index]->key, answers[index]);
      generations = generation_rows(
          examples, answers[index],
          flags_.oracle.empty() ? std::optional(metrics_of(*work.entry)) : std::nullopt);
      chosen_ += job.counters.chosen;
    } catch (const Interrupted&) {
      return;
    } catch (const Error& error) {
      job.key = open[index]->key;
      job.error = error.what();
      generations = failed_rows(examples, *job.error);
      failed_ += static_cast<std::int64_t>(examples.size());
    }
    job.run = run;
    job.block = block_id;
    job.repeat = repeat;
    job.process = process_;
    store_.commit_job(job, generations);
    answers[index] = {};
    finished_ += static_cast<std::int64_t>(examples.size());
    progress.update(finished_, str(failed_ ? str(failed_, " failed · ") : "", arms_[arm].label));
  };
  const std::int64_t begin = clock_.now_ns();
  const std::int64_t outside =
      engine_.run(static_cast<int>(open.size()), arms_[arm].batch_size, start, done);
  const std::int64_t wall = clock_.now_ns() - begin - outside;
  busy_ns_ += wall;
  store_.finish_block(block_id, process_, wall);
}

std::vector<size_t> Experiment::arm_order(size_t position) const {
  std::vector<size_t> order(arms_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // There and back again, so that a drift of the machine's speed meets all arms alike.
  if (flags_.order == "interleaved" && position % 2) std::reverse(order.begin(), order.end());
  return order;
}

void Experiment::run_dataset(const Workload& work, const std::vector<RowId>& ids,
                             const std::vector<std::vector<FinishedJob>>& finished,
                             Progress& progress) {
  const auto done_before = [&](size_t arm, int repeat) {
    std::set<std::string> keys;
    for (const auto& job : finished[arm])
      if (job.repeat == repeat && !(job.failed && flags_.retry_errors)) keys.insert(job.key);
    return keys;
  };
  for (size_t arm = 0; arm < arms_.size(); ++arm) warm_up(work, arm);
  for (int repeat = 0; repeat < flags_.runs; ++repeat) {
    std::vector<std::set<std::string>> keys;
    for (size_t arm = 0; arm < arms_.size(); ++arm) keys.push_back(done_before(arm, repeat));
    const auto run_one = [&](size_t position, size_t arm) {
      if (static_cast<int>(position) % shard_.count != shard_.index || interrupts.load() > 0)
        return;
      run_block(work, work.blocks[position], arm, ids[arm], repeat, static_cast<int>(position),
                keys[arm], progress);
    };
    if (flags_.order == "blocked") {
      for (size_t arm = 0; arm < arms_.size(); ++arm)
        for (size_t position = 0; position < work.blocks.size(); ++position) run_one(position, arm);
    } else {
      for (size_t position = 0; position < work.blocks.size(); ++position)
        for (const size_t arm : arm_order(position)) run_one(position, arm);
    }
  }
}

void Experiment::begin() {
  std::vector<std::vector<RunRow>> rows;
  for (const auto& work : workloads_) {
    auto& of_dataset = rows.emplace_back();
    for (size_t arm = 0; arm < arms_.size(); ++arm) of_dataset.push_back(run_row(work, arm));
  }
  if (parse_oracle(flags_.oracle).kind == "recorded") read_recordings(rows);
  if (flags_.resume) find_resumable(rows);
  if (!flags_.trace.empty()) {
    // A resumed run adds to what was traced before.
    trace_ = std::make_unique<std::ofstream>(flags_.trace,
                                             flags_.resume ? std::ios::app : std::ios::trunc);
    if (!*trace_)
      throw ConfigError(str("--trace: ", flags_.trace, " cannot be written: ", std::strerror(errno),
                            "; expected a file in a writable folder"));
  }
  // Runs begin all at once, so that a killed invocation is resumed whole.
  for (size_t w = 0; w < workloads_.size(); ++w) {
    auto& of_dataset = ids_.emplace_back();
    std::optional<RowId> any;
    for (size_t arm = 0; arm < rows[w].size(); ++arm) {
      const bool runs = workloads_[w].runs(arm);
      of_dataset.push_back(runs ? store_.begin_run(rows[w][arm]) : RowId{});
      if (runs) any = of_dataset.back();
    }
    if (any) store_.put_samples(store_.dataset_of(*any), sample_rows(workloads_[w].examples));
  }
}

void Experiment::run() {
  std::int64_t total = 0;
  for (const auto& work : workloads_)
    for (size_t position = 0; position < work.blocks.size(); ++position)
      if (static_cast<int>(position) % shard_.count == shard_.index)
        for (size_t arm = 0; arm < arms_.size(); ++arm)
          if (work.runs(arm)) total += std::ssize(work.blocks[position].examples) * flags_.runs;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  {
    Progress progress(parse_progress_style(flags_.progress), "examples", total);
    for (size_t w = 0; w < workloads_.size(); ++w) {
      std::vector<std::vector<FinishedJob>> finished;
      for (size_t arm = 0; arm < arms_.size(); ++arm) {
        finished.emplace_back();
        if (!workloads_[w].runs(arm)) continue;
        finished.back() = store_.finished_jobs(ids_[w][arm]);
        for (const auto& job : finished.back()) {
          if (job.failed && flags_.retry_errors) continue;
          const auto examples = static_cast<std::int64_t>(split(job.key, '+').size());
          finished_ += examples;
          if (job.failed) failed_ += examples;
        }
      }
      run_dataset(workloads_[w], ids_[w], finished, progress);
      progress.update(finished_, failed_ ? str(failed_, " failed") : "");
    }
  }
  if (trace_ && !trace_->flush())
    throw RunError(str("--trace: ", flags_.trace, " could not be written to its end"));
  if (interrupts.load() > 0) return;
  for (size_t w = 0; w < workloads_.size(); ++w)
    for (size_t arm = 0; arm < arms_.size(); ++arm)
      if (workloads_[w].runs(arm)) store_.finish_run(ids_[w][arm], RunStatus::done);
  mark_identities(store_, invocation_);
}

int run(CLI::App& app, RunFlags& flags) {
  if (!flags.config.empty()) read_experiment(app, flags);
  flags.db_is_default = app.get_option("--db")->count() == 0;
  flags.argv = command_arguments(app);
  check(flags);
  parse_shard(flags.shard);
  parse_progress_style(flags.progress);
  parse_oracle(flags.oracle);
  const TableFormat format = parse_table_format(flags.format);
  flags.decode.sampling();
  find_chat_template(flags.decode.chat_template);
  const std::vector<Arm> arms = make_arms(flags.decoders, flags.arms, flags.sets, flags.batch_size);
  std::vector<std::unique_ptr<Decoder>> decoders;
  for (const auto& arm : arms) decoders.push_back(make_decoder(arm.decoder, arm.options));
  for (size_t a = 0; a < arms.size(); ++a) baseline_of(arms, a, flags.baseline);
  check_oracle(parse_oracle(flags.oracle), arms);
  const bool drafts = std::any_of(decoders.begin(), decoders.end(),
                                  [](const auto& decoder) { return decoder->drafts_with_model(); });
  check_draft_flag(flags.model, drafts);
  const std::vector<Workload> workloads = load_workloads(flags, arms, decoders);
  if (flags.dry_run) {
    print_plan(flags, arms, decoders, workloads);
    return 0;
  }

  if (flags.resume && !std::filesystem::exists(flags.db))
    throw ConfigError(
        str("--resume: ", flags.db, " does not exist; leave --resume out to begin a run"));
  NewDatabase made(flags.db);
  Store store(flags.db, {.create_folders = flags.db_is_default});
  Checkpoint checkpoint = load_checkpoint(flags.model, true);
  std::optional<Checkpoint> draft = load_draft(flags.model, checkpoint, drafts);
  Experiment experiment(flags, arms, decoders, workloads, store, checkpoint,
                        draft ? &*draft : nullptr);
  experiment.begin();
  made.keep();
  for (const auto& work : workloads)
    if (work.dataset.sample)
      std::fprintf(stderr,
                   "%s: no --data-root, so the project's own sample of %zu examples is used\n",
                   work.dataset.name.c_str(), work.dataset.examples.size());
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a)
      if (!work.runs(a))
        std::fprintf(stderr, "%s, %s: n/a: it %s\n", work.dataset.name.c_str(),
                     arms[a].label.c_str(), work.not_applicable[a].c_str());
  if (!checkpoint.note.empty()) std::fprintf(stderr, "model: %s\n", checkpoint.note.c_str());
  experiment.run();
  if (interrupts.load() > 0) {
    std::fprintf(
        stderr,
        "stopped; everything that was done is in %s, go on with the same command and --resume\n",
        flags.db.c_str());
    return 128 + last_signal.load();
  }
  std::cout << render(compare_runs(store, experiment.invocation(), flags.baseline, 0.95), format);
  std::fprintf(stderr, "database: %s\n", flags.db.c_str());
  const double failed_share = experiment.finished() ? static_cast<double>(experiment.failed()) /
                                                          static_cast<double>(experiment.finished())
                                                    : 0;
  if (failed_share > flags.fail_on_error) {
    std::fprintf(stderr,
                 "pardec: %lld of %lld answers failed; their rows of table generation hold the "
                 "reason in column error\n",
                 static_cast<long long>(experiment.failed()),
                 static_cast<long long>(experiment.finished()));
    return 3;
  }
  return 0;
}

}  // namespace

Verb run_verb() {
  return {
      "run", "run datasets through decoders and compare them",
      "pardec run --model DIR --decoder ar,hpd --dataset oa-mine,ae-110k --data-root data --db "
      "r.sqlite\n"
      "  pardec run --model DIR --arm ar=ar,batch_size=16 --arm hpd8=hpd,k_max=8 --dataset oa-mine "
      "--limit 60\n"
      "  pardec run -c experiments/quickstart.json --dry-run",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<RunFlags>();
        app.add_option("--decoder", flags->decoders,
                       "decoders, each an arm of that name, e.g. ar,hpd")
            ->delimiter(',')
            ->type_name("A,B");
        app.add_option("--arm", flags->arms, "an arm of its own label and options; repeatable")
            ->type_name("LABEL=NAME[,OPTION=VALUE...]");
        app.add_option("--set", flags->sets,
                       "an option for all arms of a decoder, e.g. hpd.k_max=30; repeatable")
            ->type_name("KEY=VALUE");
        app.add_option("--dataset", flags->datasets, "datasets ('pardec list datasets')")
            ->delimiter(',')
            ->type_name("A,B");
        app.add_option(
               "--data-root", flags->data_root,
               "folder with one folder a dataset; without it the project's samples are used")
            ->type_name("DIR");
        app.add_option("--split", flags->split,
                       "train, test, ...; without it the one that each dataset is evaluated on")
            ->type_name("NAME");
        app.add_option("--limit", flags->limit,
                       "a seeded sample of N examples spread over categories; 0: all")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--offset", flags->offset, "skip N of that sample's order")
            ->capture_default_str()
            ->type_name("N");
        app.add_flag("--unseen", flags->unseen,
                     "leave out examples whose text is also in the train split");
        app.add_option("--batch-size", flags->batch_size,
                       "jobs in flight (an arm's own: batch_size in --arm)")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--block", flags->block,
                       "examples that one arm does before the next one's turn; 0: by batch size")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--cache-blocks", flags->cache.blocks,
                       "blocks of 16 rows of KV cache that jobs in flight may hold; 0: no limit")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--cache-watermark", flags->cache.watermark,
                       "share of them left free where one more job is taken in")
            ->capture_default_str()
            ->type_name("X");
        app.add_option("--warmup", flags->warmup, "unrecorded jobs an arm before the first")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--runs", flags->runs, "repeats of everything")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--order", flags->order,
                       "interleaved (arms alternate block by block) or blocked")
            ->capture_default_str()
            ->type_name("ORDER");
        app.add_option("--baseline", flags->baseline,
                       "label of the arm that the others are compared with")
            ->type_name("LABEL");
        app.add_option(
               "--oracle", flags->oracle,
               "force what is chosen, to measure speed with an untrained network: references "
               "(the reference answers), recorded:RUN (what a stored run chose) or accept:A (a "
               "share A of drafted tokens)")
            ->type_name("KIND");
        app.add_option("--db", flags->db, "database")->capture_default_str()->type_name("FILE");
        app.add_flag("--resume", flags->resume, "go on where the newest run of these arms stopped");
        app.add_flag("--retry-errors", flags->retry_errors,
                     "with --resume: also repeat jobs that failed");
        app.add_flag("--dry-run", flags->dry_run, "print what would be done");
        app.add_option("--shard", flags->shard, "do every N-th block only, beginning with I")
            ->type_name("I/N");
        app.add_option("--fail-on-error", flags->fail_on_error,
                       "exit code 3 when a larger share of answers failed")
            ->capture_default_str()
            ->type_name("X");
        app.add_option("--trace", flags->trace, "write what every fed token saw and chose (slow)")
            ->type_name("FILE");
        app.add_option("--format", flags->format, "of the table: md, csv, json, jsonl, latex")
            ->capture_default_str()
            ->type_name("FORMAT");
        app.add_option("--progress", flags->progress, "auto, bar, plain or none")
            ->capture_default_str()
            ->type_name("STYLE");
        app.add_option("-c,--config", flags->config, "an experiment file (experiments/*.json)")
            ->type_name("FILE");
        flags->model.add_to(app);
        flags->decode.add_to(app);
        return [flags, &app] { return run(app, *flags); };
      }};
}

}  // namespace pardec
