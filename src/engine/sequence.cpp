#include <algorithm>
#include <utility>

#include "src/engine/engine_parts.hpp"
#include "src/engine/living_rows.hpp"
#include "src/model/plain/mask.hpp"

namespace pardec {

int Step::add(Token token, const RowLabel& label, Origin origin, int from_row) {
  tokens.push_back(token);
  labels.push_back(label);
  origins.push_back(origin);
  from.push_back(from_row);
  return size() - 1;
}

void Step::want(int index, const Sampling& sampling, std::vector<Token> banned,
                std::vector<Token> allowed) {
  OutputRequest request;
  request.index = index;
  request.sampling = sampling;
  request.banned = std::move(banned);
  request.allowed = std::move(allowed);
  outputs.push_back(std::move(request));
}

Step prompt_step(const Tokens& tokens, int first) {
  Step step;
  for (const Token token : tokens) step.add(token, text_label(first + step.size()), Origin::prompt);
  return step;
}

Sequence::Sequence(std::unique_ptr<State> state) : state_(std::move(state)) {}
Sequence::Sequence(Sequence&&) noexcept = default;
Sequence::~Sequence() = default;  // an unfinished sequence, whose job failed, leaves no trace

Sequence::ForwardAwaiter Sequence::forward(Step step) { return {*state_, std::move(step)}; }

Sequence::ForwardAwaiter Sequence::later(const StepResult& seen,
                                         std::vector<OutputRequest> outputs) {
  Step step;
  step.outputs = std::move(outputs);
  return {*state_, std::move(step), &seen};
}

int Sequence::add_segment(const std::vector<int>& sees) { return state_->segments.add(sees); }
void Sequence::relabel(int row, const RowLabel& label) { state_->cache.relabel(row, label); }
void Sequence::set_limit(int limit) { state_->limit = limit; }
Counters& Sequence::counters() { return state_->counters; }
int Sequence::rows_fed() const { return state_->cache.rows_fed(); }

void Sequence::drop(std::span<const int> rows) {
  release(rows);
  state_->counters.scratch += static_cast<std::int64_t>(rows.size());
}

void Sequence::release(std::span<const int> rows) {
  state_->cache.drop(rows);
  if (state_->trace)
    for (const int row : rows)
      state_->trace->dropped_at[static_cast<size_t>(row)] = state_->next_step() - 1;
}

void Sequence::keep(int first, std::span<const int> rows) {
  std::vector<int> dropped;
  for (const auto& slot : state_->cache.slots())
    if (slot.alive && slot.row >= first &&
        std::find(rows.begin(), rows.end(), slot.row) == rows.end())
      dropped.push_back(slot.row);
  drop(dropped);
}

Sequence Sequence::fork(const RequestName& request) {
  KvCache& cache = state_->cache;
  auto copy = std::make_unique<State>(state_->engine, state_->model,
                                      state_->engine.cascade_ ? cache.share() : cache.fork(),
                                      state_->drafts_for);
  copy->segments = state_->segments;
  copy->tokens = state_->tokens;
  copy->origins = state_->origins;
  copy->limit = state_->limit;
  copy->request = request.text;
  copy->decoder = state_->decoder;
  copy->job = state_->engine.running_;
  copy->trace = state_->trace;
  if (copy->trace) {
    copy->trace->request = request.text;
    copy->trace->group = request.group;
    copy->trace->job = state_->engine.running_;
    copy->trace->inherited = static_cast<int>(copy->trace->tokens.size());
  }
  copy->first_step = state_->next_step();
  copy->opened_ns = state_->engine.clock().now_ns();
  return Sequence(std::move(copy));
}

void Sequence::start_clock_at(std::int64_t ns) { state_->opened_ns = ns; }

Sequence Sequence::open_draft(Model& draft) {
  auto state = std::make_unique<State>(state_->engine, draft, KvCache(draft), state_.get());
  state->job = state_->job;
  state->opened_ns = state_->engine.clock().now_ns();
  if (state_->trace) {
    state->trace.emplace();
    state->trace->request = state_->trace->request;
    state->trace->group = state_->trace->group;
    state->trace->decoder = state_->trace->decoder;
    state->trace->job = state_->trace->job;
    state->trace->model = "draft";
    state->trace->rules = state_->trace->rules;
  }
  return Sequence(std::move(state));
}

void Sequence::take_back_drafts() {
  if (state_->first_draft) state_->cache.retract(*state_->first_draft);
  state_->first_draft.reset();
}

void Sequence::emit(int row, Token token, int stream, bool guessed) {
  ++state_->emitted;
  if (!state_->drafts_for) ++state_->engine.pass_tokens_;
  if (std::int64_t& first = state_->counters.first_token_ns; first == 0)
    first = state_->engine.clock().now_ns() - state_->opened_ns;
  if (state_->trace) state_->trace->emitted.push_back(row);
  state_->tell(row, token, stream, guessed, /*final=*/true);
}

void Sequence::reject(int row, std::span<const Token> guesses, int stream) {
  for (const Token guess : guesses) state_->tell(row, guess, stream, true, /*final=*/false);
}

void Sequence::State::tell(int row, Token token, int stream, bool guessed, bool final) {
  if (!engine.listener_ || drafts_for) return;
  auto found = streams.find(stream);
  if (found == streams.end()) {
    found = streams.emplace(stream, engine.job(job).streams++).first;
    engine.listener_(StreamBegan{job, found->second, request, decoder, before(row)});
  }
  if (final) chose.insert(row);
  engine.listener_(TokenEvent{.job = job,
                              .stream = found->second,
                              .token = token,
                              .row = row,
                              .pass = next_step() - 1,
                              .guessed = guessed,
                              .final = final});
}

Tokens Sequence::State::before(int row) const {
  constexpr int kMost = 64;
  const auto slots = cache.slots();
  const auto label = [&](int of) {
    const auto slot = std::find_if(slots.begin(), slots.end(), [&](const KvCache::Slot& one) {
      return one.row == of && one.alive;
    });
    return slot == slots.end() ? nullptr : &slot->label;
  };
  const auto chosen = [&](int of) {
    const Origin origin = origins[static_cast<size_t>(of)];
    return origin == Origin::chosen || origin == Origin::draft;
  };
  int first = row;
  while (first > 0 && row - first < kMost && !chosen(first) && !chose.contains(first - 1)) {
    const RowLabel *own = label(first), *previous = label(first - 1);
    if (!own || !previous || previous->position != own->position - 1 ||
        !visible(*own, *previous, segments))
      break;
    --first;
  }
  first += chosen(first);
  return {tokens.begin() + first, tokens.begin() + row + 1};
}

/// Reports that the results of the last pass have been processed.
void Sequence::State::tell_read(bool ended) const {
  if (engine.listener_ && counters.forwards > 0)
    engine.listener_(PassRead{job, request, decoder, next_step(), ended});
}

Counters Sequence::finish() {
  State& state = *state_;
  if (!state.finished) {
    state.finished = true;
    state.close_forward();
    state.counters.total_ns = state.engine.clock().now_ns() - state.opened_ns;
    state.counters.decode_ns = state.counters.total_ns - state.counters.prefill_ns;
    if (!state.drafts_for) state.tell_read(true);
    if (state.trace && !state.trace->tokens.empty() && state.engine.sink_)
      state.engine.sink_(*state.trace);
    state.cache.evict();
  }
  return state.counters;
}

void Sequence::State::close_forward() {
  if (counters.forwards > 0) ++counters.emitted[emitted];
  emitted = 0;
}

/// Counts and records a full pass that ended at `now`: the rows of the branches' steps, and their
/// logits.
void Sequence::State::account(const std::vector<Engine::Waiting*>& branches, std::int64_t now) {
  const MaskRows living(cache.slots(), {}, segments);
  for (const Engine::Waiting* branch : branches) {
    account(branch->step, living);
    if (trace) record(branch->step);
    note_predictions(branch->step, branch->result);
  }
  if (counters.forwards++ == 0) counters.prefill_ns = now - opened_ns;
  const std::int64_t alive = cache.rows_alive();
  counters.cached_peak = std::max(counters.cached_peak, alive);
  counters.cached_sum += alive;
}

/// Counts the new rows of one branch's step. The time depends on stretches of keys, not on keys,
/// because it is part of the measurement.
void Sequence::State::account(const Step& step, const MaskRows& living) {
  counters.fed += step.size();
  tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
  origins.insert(origins.end(), step.origins.begin(), step.origins.end());
  for (const Origin origin : step.origins) {
    counters.prompt += origin == Origin::prompt;
    counters.forced += origin == Origin::forced;
  }
  for (const RowLabel& label : step.labels) counters.attended += living.count_seen_by(label);
}

/// Records the rows in the trace, each with the rows visible to it.
void Sequence::State::record(const Step& step) {
  const LivingRows living(cache.slots(), segments);
  const int step_number = next_step();
  for (int i = 0; i < step.size(); ++i) {
    const auto& label = step.labels[static_cast<size_t>(i)];
    const int from = step.from[static_cast<size_t>(i)];
    std::vector<int> seen;
    living.seen_by(label, [&](const KvCache::Slot& slot) { seen.push_back(slot.row); });
    std::sort(seen.begin(), seen.end());
    trace->tokens.push_back(step.tokens[static_cast<size_t>(i)]);
    trace->position.push_back(label.position);
    trace->step.push_back(step_number);
    trace->visible.push_back(std::move(seen));
    trace->predicts.emplace_back();
    trace->from.push_back(from < 0 ? std::nullopt : std::optional<int>(from));
    trace->banned.emplace_back();
    trace->allowed.emplace_back();
    trace->dropped_at.emplace_back();
  }
}

/// Records the greedy choices of the requested rows, by the network's own head.
void Sequence::State::note_predictions(const Step& step, const StepResult& result) {
  if (!trace) return;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i].head != 0) continue;
    const auto row = static_cast<size_t>(result.first_row + step.outputs[i].index);
    trace->predicts[row] = result.outputs[i].best;
    const OutputRequest& output = step.outputs[i];
    trace->banned[row] = output.allowed.empty() ? output.banned : result.outputs[i].outrank;
    trace->allowed[row] = output.allowed;
  }
}

// --- ForwardAwaiter ---

Sequence::ForwardAwaiter::ForwardAwaiter(State& state, Step step, const StepResult* seen)
    : waiting_(new Engine::Waiting{state.engine, state, std::move(step), {}, nullptr, {}, nullptr}),
      further_(seen != nullptr) {
  if (!seen) return;
  waiting_->result.first_row = seen->first_row;
  waiting_->result.hidden = seen->hidden;
}

Sequence::ForwardAwaiter::~ForwardAwaiter() {
  if (waiting_->queue)
    std::replace(waiting_->queue->begin(), waiting_->queue->end(), waiting_.get(),
                 static_cast<Engine::Waiting*>(nullptr));
}

void Sequence::ForwardAwaiter::await_suspend(std::coroutine_handle<> awaiting) {
  Engine& engine = waiting_->engine;
  waiting_->awaiting = awaiting;
  waiting_->job = engine.running_;
  waiting_->queue = further_ ? &engine.asking_ : &engine.waiting_;
  waiting_->queue->push_back(waiting_.get());
}

StepResult Sequence::ForwardAwaiter::await_resume() {
  if (waiting_->error) std::rethrow_exception(waiting_->error);
  return std::move(waiting_->result);
}

}  // namespace pardec
