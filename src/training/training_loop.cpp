#include "src/training/training_loop.hpp"

#include <algorithm>
#include <cmath>

#include "src/group/group.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/training/schedule.hpp"
#include "src/training/trainer.hpp"
#include "src/training/training_state.hpp"

namespace pardec {

namespace {

constexpr const char* kBest = "best.safetensors";
constexpr double kNotValidated = -1;

std::int64_t batches(const std::vector<TrainingSample>& samples, const LoopOptions& options) {
  std::int64_t count = 0;
  for (size_t at = 0; at < samples.size(); at += batch_size(samples, at, options)) ++count;
  return count;
}

std::vector<const TrainingSample*> pointers(const std::vector<TrainingSample>& samples,
                                            size_t begin, size_t count) {
  std::vector<const TrainingSample*> all;
  for (size_t i = begin; i < begin + count; ++i) all.push_back(&samples[i]);
  return all;
}

/// The row with the lowest validation loss, the first of equal ones; null: nothing was validated.
/// A loss that is NaN is lower than none.
const LossRow* best_row(const std::vector<LossRow>& rows) {
  const LossRow* best = nullptr;
  for (const LossRow& row : rows)
    if (row.validation_loss && (!best || std::isnan(*best->validation_loss) ||
                                *row.validation_loss < *best->validation_loss))
      best = &row;
  return best;
}

/// Copies rank 0's rows to all processes, because they decide when a run stops.
void share_rows(LossLog& log, Group& group) {
  struct Shared {
    std::int64_t step;
    double validation_loss;
  };
  auto count = static_cast<std::uint64_t>(log.rows().size());
  group.broadcast(std::as_writable_bytes(std::span(&count, 1)));
  std::vector<Shared> rows;
  for (const LossRow& row : log.rows())
    rows.push_back({row.step, row.validation_loss.value_or(kNotValidated)});
  rows.resize(count);
  group.broadcast(std::as_writable_bytes(std::span(rows)));
  if (group.rank() == 0) return;
  for (const Shared& shared : rows) {
    LossRow row{.step = shared.step};
    if (shared.validation_loss != kNotValidated) row.validation_loss = shared.validation_loss;
    log.add(row);
  }
}

/// Rank 0's value.
double of_rank_0(double value, Group* group) {
  if (!group) return value;
  group->broadcast(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// Whether the last `patience` validations were no better than the best one.
bool out_of_patience(const std::vector<LossRow>& rows, std::int64_t patience) {
  const LossRow* best = best_row(rows);
  if (patience == 0 || !best) return false;
  return std::count_if(rows.begin(), rows.end(), [&](const LossRow& row) {
           return row.validation_loss && row.step > best->step;
         }) >= patience;
}

}  // namespace

size_t batch_size(const std::vector<TrainingSample>& samples, size_t begin,
                  const LoopOptions& options) {
  if (options.batch_sequences > 0)
    return std::min(samples.size() - begin, static_cast<size_t>(options.batch_sequences));
  std::int64_t tokens = 0;
  size_t count = 0;
  for (size_t i = begin; i < samples.size(); ++i, ++count) {
    tokens += std::ssize(samples[i].tokens);
    if (count > 0 && tokens > options.batch_tokens) break;
  }
  return count;
}

LoopResult train(Trainer& trainer, const SampleSource& source, const LoopOptions& options,
                 const std::filesystem::path& folder, bool resume, const Clock& clock,
                 const std::function<void(const LossRow&, std::int64_t steps)>& report) {
  const bool writes = !trainer.group() || trainer.group()->rank() == 0;
  LossLog log(folder / "loss.csv");
  TrainingState state;
  std::vector<TrainingSample> samples = source.epoch(0);
  if (samples.empty()) throw ConfigError("there is no sample to train on");
  const std::int64_t steps =
      options.steps > 0
          ? options.steps
          : std::max<std::int64_t>(
                1, std::llround(options.epochs * static_cast<double>(batches(samples, options))));
  if (resume) {
    state = load_state(folder / "state.safetensors", trainer);
    if (writes) log.read_through(state.step);
    if (trainer.group()) share_rows(log, *trainer.group());
    if (state.epoch > 0) samples = source.epoch(state.epoch);
  }
  const std::vector<TrainingSample> held_out = source.validation();
  const auto held_out_pointers = pointers(held_out, 0, held_out.size());
  const Schedule schedule{options.learning_rate, options.floor,
                          std::llround(options.warmup * static_cast<double>(steps)), steps};
  const std::int64_t validate_every =
      options.validate_every > 0 ? options.validate_every : std::max<std::int64_t>(1, steps / 20);

  const double before = state.seconds;
  const std::int64_t started = clock.now_ns();
  const auto elapsed = [&] {
    return before + static_cast<double>(clock.now_ns() - started) * 1e-9;
  };
  const double seconds = 60 * of_rank_0(options.minutes, trainer.group());  // for this session
  const auto time_is_over = [&] {
    return seconds > 0 && of_rank_0(elapsed() - before >= seconds, trainer.group()) != 0;
  };
  bool out_of_time = false;
  while (state.step < steps && !out_of_time && !out_of_patience(log.rows(), options.patience)) {
    if (static_cast<size_t>(state.position) >= samples.size()) {
      samples = source.epoch(++state.epoch);
      state.position = 0;
    }
    const double begin = elapsed();
    const auto at = static_cast<size_t>(state.position);
    const size_t count = batch_size(samples, at, options);
    const double rate = schedule.rate(state.step);
    const Trainer::Report done = trainer.step(pointers(samples, at, count), rate);
    ++state.step;
    state.position += static_cast<std::int64_t>(count);
    state.tokens += done.tokens;

    LossRow row{
        .step = state.step, .tokens = state.tokens, .learning_rate = rate, .train_loss = done.loss};
    row.tokens_per_second = static_cast<double>(done.tokens) / (elapsed() - begin);
    bool last = state.step == steps;
    if (!held_out.empty() && (last || state.step % validate_every == 0)) {
      const Trainer::Measure measure = trainer.measure(held_out_pointers);
      row.validation_loss = measure.loss;
      row.validation_ranks = measure.ranks;
    }
    row.seconds = state.seconds = elapsed();
    log.add(row);
    if (writes && options.patience > 0 && best_row(log.rows()) == &log.rows().back())
      save_state(folder / kBest, trainer, state);
    last = last || out_of_patience(log.rows(), options.patience);
    out_of_time = !last && time_is_over();
    last = last || out_of_time;
    if (writes && (last || (options.save_every > 0 && state.step % options.save_every == 0))) {
      // The log first: on resuming, a log that is ahead of the state is cut.
      log.write();
      save_state(folder / "state.safetensors", trainer, state);
    }
    report(row, steps);
  }
  LoopResult result{.steps = state.step,
                    .tokens = state.tokens,
                    .planned = steps,
                    .out_of_time = out_of_time,
                    .seconds = state.seconds};
  for (const LossRow& row : log.rows()) {
    result.train_loss = row.train_loss;
    if (row.validation_loss) result.validation_loss = row.validation_loss;
    result.validation_ranks = row.validation_ranks;
  }
  if (const LossRow* best = best_row(log.rows()); options.patience > 0 && best) {
    result.validation_loss = best->validation_loss;
    result.validation_ranks = best->validation_ranks;
    result.best_step = best->step;
    load_state(folder / kBest, trainer);
  }
  // The run was resumed after that update (the log contains no ranks), or was stopped without a
  // validation.
  if (!held_out.empty() &&
      (result.validation_ranks.empty() || (out_of_time && result.best_step == 0))) {
    const Trainer::Measure measure = trainer.measure(held_out_pointers);
    result.validation_ranks = measure.ranks;
    if (out_of_time) result.validation_loss = measure.loss;
  }
  return result;
}

LoopResult train_model(const TrainingRun& run, const SampleSource& source,
                       const std::filesystem::path& folder, bool resume, const Clock& clock,
                       const std::function<void(const LossRow&, std::int64_t steps)>& report) {
  const bool frozen = run.what.beside_network();
  const at::ScalarType type =
      frozen || run.trainer.dtype == Dtype::fp64 ? scalar_type(run.trainer.dtype) : at::kFloat;
  std::map<std::string, at::Tensor> weights =
      run.start ? load_weights(*run.start, type) : initial_weights(run.what.config(), run.seed);
  Trainer trainer(run.what, std::move(weights), run.trainer, run.group);
  LoopResult result = train(trainer, source, run.loop, folder, resume, clock, report);
  if (!run.group || run.group->rank() == 0) export_weights(folder, trainer);
  return result;
}

}  // namespace pardec
