#include "src/cli/experiment.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <numeric>

#include "src/cli/command_line.hpp"
#include "src/cli/traces.hpp"
#include "src/cli/comparison.hpp"
#include "src/cli/record.hpp"
#include "src/cli/version.hpp"
#include "src/model/device.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

std::atomic<int> interrupts{0}, last_signal{0};

extern "C" void on_interrupt(int signal) {
  // The first lets jobs in flight end and be stored, the second stops at once: nothing stored is
  // lost.
  last_signal = signal;
  if (interrupts.fetch_add(1) > 0) std::_Exit(128 + signal);
}

struct Interrupted {};

}  // namespace

void check_trace(const RunFlags& flags) {
  if (flags.trace.empty()) return;
  check_apart("--trace", flags.trace, flags.db);
  // Who reads a pipe would take the end of a first look for the end of all.
  std::error_code ignored;
  if (const auto status = std::filesystem::status(flags.trace, ignored);
      !std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
      std::filesystem::is_directory(status))
    open_trace(flags.trace, std::ios::app);
}

int Experiment::stopped_by() { return interrupts.load() > 0 ? last_signal.load() : 0; }

Json Experiment::not_applicable_pairs() const {
  Json pairs = Json::array();
  for (const auto& work : workloads_)
    for (size_t arm = 0; arm < arms_.size(); ++arm)
      if (!work.runs(arm))
        pairs.push_back({{"dataset", work.dataset.name},
                         {"arm", arms_[arm].label},
                         {"reason", work.not_applicable[arm]}});
  return pairs;
}

RunRow Experiment::run_row(const Workload& work, size_t arm) {
  RunRow row;
  row.uuid = make_uuid();
  row.invocation = invocation_;
  row.label = arms_[arm].label;
  row.decoder = arms_[arm].decoder;
  row.options = Json::parse(dump(decoders_[arm]->options()));
  const Form form = form_on(work.dataset.shape, *decoders_[arm]);
  row.form = name(form);
  if (const auto baseline = baseline_of(arms_, arm, flags_.baseline))
    row.baseline = arms_[*baseline].label;
  row.dataset = dataset_row(work.dataset);
  row.model = model_row(*store_, checkpoint_.folder, checkpoint_.model.config());
  if (draft_ && decoders_[arm]->drafts_with_model())
    row.draft = model_row(*store_, draft_->folder, draft_->model.config());
  std::vector<std::string> labels;  // blocks end where the jobs of all arms do
  for (const Arm& other : arms_) labels.push_back(other.label);
  const Limits limits = limits_on(work.protocol, form, flags_.decode);
  const auto shots = form == Form::value ? work.protocol.shots : std::vector<Shot>{};
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
                {"per_field", limits.per_field},
                {"shots", shots.size()},
                {"shots_hash", hash_of(shots)},
                {"ignore_eos", flags_.decode.ignore_eos},
                {"cascade", arms_[arm].cascade},
                {"cache_blocks", flags_.cache.blocks},
                {"cache_watermark", flags_.cache.watermark},
                {"chat_template", chat_.name()},
                {"chat_template_hash", sha256(chat_.text())},
                {"chat_set", flags_.decode.chat_set}};
  if (const std::string note = taught_otherwise(work); !note.empty())
    row.config["taught_otherwise"] = note;
  if (!flags_.oracle.empty()) row.oracle = flags_.oracle;
  row.untrained = untrained_for(checkpoint_, row.decoder);
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
  row.prompt_hash =
      sha256(work.protocol.prompt.content + (wordings_[arm] ? wordings_[arm]->content : ""));
  row.argv = flags_.argv;
  row.environment = environment_json();
  row.experiment = ExperimentRow{flags_.name, Json{{"arms", flags_.arms},
                                                   {"decoders", flags_.decoders},
                                                   {"datasets", flags_.datasets},
                                                   {kNotApplicable, not_applicable_pairs()}}};
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
      const auto found = store_->find_runs(filter);
      if (found.empty()) {
        if (chosen.empty())
          throw ConfigError(str("--resume: ", flags_.db, " has no run of arm '", now.label, "' on ",
                                now.dataset.name, " ", now.dataset.split,
                                "; leave --resume out to begin one"));
        continue;  // killed before this arm began
      }
      // Of several shards each goes on with its own.
      const auto own = std::find_if(found.begin(), found.end(),
                                    [&](const RunRow& run) { return run.shard == now.shard; });
      const RunRow& old = own == found.end() ? found.front() : *own;
      if (const auto different = differences(old, now); !different.empty())
        throw ConfigError(str("--resume: run ", old.uuid.substr(0, 8), " (", old.label, " on ",
                              old.dataset.name,
                              ") was made with other settings: ", join(different, "; "),
                              ". Give the same ones, or leave --resume out to begin a new run"));
      if (chosen.empty())
        for (const RunRow& other : found)
          if (other.invocation != old.invocation && other.status != RunStatus::done &&
              differences(other, now).empty())
            std::fprintf(stderr,
                         "--resume: goes on with invocation %s, the newest; %s has the same "
                         "settings and is not done either, and stays as it is\n",
                         old.invocation.substr(0, 8).c_str(),
                         other.invocation.substr(0, 8).c_str());
      chosen = old.invocation;
      now.uuid = old.uuid;
    }
  invocation_ = chosen;
  for (auto& of_dataset : rows)
    for (RunRow& now : of_dataset) now.invocation = chosen;
}

Request Experiment::make_request(const Workload& work, size_t arm, const JobPlan& plan,
                                 int repeat) const {
  const auto examples = work.examples_of(plan);
  Request request = pardec::make_request(
      job_name(plan.key), examples, form_on(work.dataset.shape, *decoders_[arm]), work.protocol,
      flags_.decode, chat_, *checkpoint_.tokenizer);
  request.job.seed = job_seed(flags_.decode.seed, plan.key);
  if (repeat > 0) request.job.seed = derive_seed(request.job.seed, str("repeat ", repeat));
  if (wordings_[arm]) request.wording = &*wordings_[arm];
  request.accept_rate = oracle_.accept_rate;
  if (oracle_.kind == "recorded")
    request.oracle = recordings_[static_cast<size_t>(&work - workloads_.data())][arm].at(plan.key);
  else if (oracle_.kind == "references")
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
      of_dataset.push_back(read_recording(*store_, oracle_.run, rows[w][arm]));
      for (const BlockPlan& block : workloads_[w].blocks)
        for (const JobPlan& job : block.jobs[arm])
          if (!of_dataset.back().contains(job.key))
            throw ConfigError(str("--oracle ", flags_.oracle, ": the recording of arm '",
                                  arms_[arm].label, "' on ", workloads_[w].dataset.name,
                                  " has no job ", job_name(job.key),
                                  " without error; expected the examples that it was made of"));
    }
  }
}

std::int64_t Experiment::run_engine(size_t arm, int count,
                                    const std::function<Task<void>(int)>& start,
                                    const std::function<void(int, Task<void>&)>& done) {
  engine_.set_cascade(arms_[arm].cascade);
  return engine_.run(count, arms_[arm].batch_size, start, done);
}

void Experiment::warm_up(const Workload& work, size_t arm) {
  engine_.set_trace_sink({});  // what is not recorded is not traced
  if (!work.runs(arm)) return;
  const auto& jobs = work.blocks.front().jobs[arm];
  const int count = std::min(flags_.warmup, static_cast<int>(jobs.size()));
  std::vector<Request> requests;
  for (int i = 0; i < count; ++i) try {
      requests.push_back(make_request(work, arm, jobs[static_cast<size_t>(i)], 0));
    } catch (const std::exception&) {  // the job's own turn tells
    }
  const auto start = [&](int i) -> Task<void> {
    co_await decode_request(*decoders_[arm], requests[static_cast<size_t>(i)], context_);
  };
  run_engine(arm, static_cast<int>(requests.size()), start, [](int, Task<void>&) {});
}

void Experiment::run_block(const Workload& work, const BlockPlan& block, size_t arm, RowId run,
                           int repeat, int position, const std::set<JobKey>& finished,
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
  const RowId block_id = store_->begin_block(row);

  // Prompts are rendered and tokenized before the clock starts, for every arm.
  std::vector<std::optional<Request>> requests(open.size());
  std::vector<std::string> errors(open.size());
  for (size_t i = 0; i < open.size(); ++i) {
    try {
      requests[i] = make_request(work, arm, *open[i], repeat);
    } catch (const std::exception& error) {
      errors[i] = reason_of(error);
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
    const auto examples = work.examples_of(*open[index]);
    JobRow job;
    std::vector<GenerationRow> generations;
    try {
      task.result();
      job = job_row(open[index]->key, answers[index]);
      generations = generation_rows(
          examples, answers[index],
          flags_.oracle.empty() ? std::optional(metrics_of(*work.entry)) : std::nullopt);
      chosen_ += job.counters.chosen;
      turns_off_ += turns_off_text(*requests[index], answers[index], *checkpoint_.tokenizer);
    } catch (const Interrupted&) {
      return;
    } catch (const std::exception& error) {
      job = {};
      job.key = open[index]->key;
      job.error = reason_of(error);
      generations = failed_rows(examples, *job.error);
      failed_ += static_cast<std::int64_t>(examples.size());
    }
    job.run = run;
    job.block = block_id;
    job.repeat = repeat;
    job.process = process_;
    store_->commit_job(job, generations);
    answers[index] = {};
    finished_ += static_cast<std::int64_t>(examples.size());
    progress.update(finished_, str(failed_ ? str(failed_, " failed · ") : "", arms_[arm].label));
  };
  if (trace_)
    engine_.set_trace_sink([&](Trace t) {
      t.arm = arms_[arm].label;
      t.examples = open[static_cast<size_t>(t.task)]->key;
      *trace_ << dump(to_json(t)) << "\n";
    });
  const std::int64_t begin = clock_.now_ns();
  const std::int64_t outside = run_engine(arm, static_cast<int>(open.size()), start, done);
  const std::int64_t wall = clock_.now_ns() - begin - outside;
  busy_ns_ += wall;
  const Occupancy& shared = engine_.occupancy();
  store_->finish_block(block_id, process_, wall,
                       {shared.passes, shared.job_passes, shared.stream_passes});
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
    std::set<JobKey> keys;
    for (const auto& job : finished[arm])
      if (job.repeat == repeat && !(job.failed && flags_.retry_errors)) keys.insert(job.key);
    return keys;
  };
  for (size_t arm = 0; arm < arms_.size(); ++arm) warm_up(work, arm);
  for (int repeat = 0; repeat < flags_.runs; ++repeat) {
    std::vector<std::set<JobKey>> keys;
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

void Experiment::begin(Store& store) {
  store_ = &store;
  std::vector<std::vector<RunRow>> rows;
  for (const auto& work : workloads_) {
    auto& of_dataset = rows.emplace_back();
    for (size_t arm = 0; arm < arms_.size(); ++arm) of_dataset.push_back(run_row(work, arm));
  }
  if (oracle_.kind == "recorded") read_recordings(rows);
  if (flags_.resume) find_resumable(rows);
  check_trace(flags_);
  if (!flags_.trace.empty()) {
    // A resumed run adds to what was traced before.
    trace_ = open_trace(flags_.trace, flags_.resume ? std::ios::app : std::ios::trunc);
  }
  // Runs begin all at once, so that a killed invocation is resumed whole.
  for (size_t w = 0; w < workloads_.size(); ++w) {
    auto& of_dataset = ids_.emplace_back();
    std::optional<RowId> any;
    for (size_t arm = 0; arm < rows[w].size(); ++arm) {
      const bool runs = workloads_[w].runs(arm);
      of_dataset.push_back(runs ? store_->begin_run(rows[w][arm]) : RowId{});
      if (runs) any = of_dataset.back();
    }
    if (any) store_->put_samples(store_->dataset_of(*any), sample_rows(workloads_[w].examples));
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
        finished.back() = store_->finished_jobs(ids_[w][arm]);
        for (const auto& job : finished.back()) {
          if (job.failed && flags_.retry_errors) continue;
          const std::int64_t examples = std::ssize(job.key);
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
      if (workloads_[w].runs(arm)) store_->finish_run(ids_[w][arm], RunStatus::done);
  mark_identities(*store_, invocation_);
}

}  // namespace pardec
