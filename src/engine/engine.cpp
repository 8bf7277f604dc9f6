#include "src/engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "src/engine/living_rows.hpp"
#include "src/engine/prefix_cache.hpp"
#include "src/model/mask.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

int Step::add(Token token, const RowLabel& label, Origin origin, int from_row) {
  tokens.push_back(token);
  labels.push_back(label);
  origins.push_back(origin);
  from.push_back(from_row);
  return size() - 1;
}

void Step::want(int index, const Sampling& sampling, std::vector<Token> banned) {
  OutputRequest request;
  request.index = index;
  request.sampling = sampling;
  request.banned = std::move(banned);
  outputs.push_back(std::move(request));
}

Step prompt_step(const Tokens& tokens, int fed) {
  Step step;
  for (const Token token : tokens) step.add(token, text_label(fed + step.size()), Origin::prompt);
  return step;
}

struct Sequence::State {
  /// `drafts_for_`: of a draft network, the sequence whose guesses it makes.
  State(Engine& engine_, Model& model_, KvCache cache_, State* drafts_for_)
      : engine(engine_), model(model_), cache(std::move(cache_)), drafts_for(drafts_for_) {
    if (!drafts_for) engine.sequences_.push_back(this);
  }
  ~State() { engine.sequences_.remove(this); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Engine& engine;
  Model& model;
  KvCache cache;
  Segments segments;
  Counters counters;
  std::optional<Trace> trace;
  std::int64_t opened_ns = 0;
  int emitted = 0;  // since the last forward pass
  /// Number of its first forward pass in the trace: a fork's go on from the original's.
  int first_step = 0;
  bool finished = false;
  State* const drafts_for;
  std::optional<int> first_draft;  // first row fed with sublayers skipped, while there is one
  Tokens tokens;                   // by row, all that were ever fed
  /// Under a cache budget: waits for room. `evicted` has the rows to feed again, if they were given
  /// up.
  bool aside = false;
  std::vector<KvCache::Slot> evicted;

  /// Rows that need room of their own; what it shares with others is not among them.
  std::int64_t own_rows() const {
    return evicted.empty() ? cache.own_rows_alive() : std::ssize(evicted);
  }

  /// Number of the next forward pass in the trace.
  int next_step() const { return first_step + static_cast<int>(counters.forwards); }
  void close_forward();
  void account(const std::vector<Engine::Waiting*>& branches, std::int64_t now);
  void account(const Step& step, const LivingRows& living);
  void note_predictions(const Step& step, const StepResult& result);
  /// Books a pass of a draft network, or one with sublayers skipped.
  void account_draft(int rows, std::int64_t ns) {
    ++counters.draft_forwards;
    counters.draft_fed += rows;
    counters.draft_ns += ns;
  }
};

/// A step that a coroutine waits for.
struct Engine::Waiting {
  Engine& engine;
  Sequence::State& sequence;
  Step step;
  StepResult result;
  std::exception_ptr error;
  std::coroutine_handle<> awaiting;
  std::list<Waiting*>* queue = nullptr;  ///< where it stands while it waits
  bool held = false;  ///< not in this forward pass: of another kind, or for want of cache

  /// Of a draft network, or a draft of the network by itself.
  bool drafts() const { return sequence.drafts_for || step.skipped; }
  /// One forward pass can have both: they are of one network and one kind.
  bool enters_with(const Waiting& other) const {
    return &sequence.model == &other.sequence.model && drafts() == other.drafts() &&
           step.skipped == other.step.skipped;
  }
};

/// What one sequence feeds in one forward pass.
struct Engine::Packed {
  Sequence::State* sequence;
  std::vector<Waiting*> branches;
  Tokens tokens;
  std::vector<RowLabel> labels;
  std::vector<OutputRequest> outputs;
  HiddenRows hidden;
  bool later = false;  ///< some branch may ask for further rows
  int again = 0;       ///< rows before the new ones, which were given up

  void hold() {
    for (Waiting* branch : branches) branch->held = true;
  }
  void fail(const std::exception_ptr& error) {
    for (Waiting* branch : branches) branch->error = error;
  }
  /// Puts the rows that were given up before the new ones.
  void feed_again();
  /// Deals out the results of the pass to the branches.
  void hand_out(std::vector<RowLogits> logits);
};

// --- Sequence ---

Sequence::Sequence(std::unique_ptr<State> state) : state_(std::move(state)) {}
Sequence::Sequence(Sequence&&) noexcept = default;
Sequence::~Sequence() = default;  // one that was not finished, as its job failed, leaves no trace

Sequence::ForwardAwaiter Sequence::forward(Step step) { return {*state_, std::move(step)}; }

Sequence::ForwardAwaiter Sequence::later(const StepResult& seen,
                                         std::vector<OutputRequest> outputs) {
  Step step;
  step.outputs = std::move(outputs);
  return {*state_, std::move(step), &seen};
}

int Sequence::add_segment(const std::vector<int>& sees) { return state_->segments.add(sees); }
void Sequence::relabel(int row, const RowLabel& label) { state_->cache.relabel(row, label); }
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

Sequence Sequence::fork(const std::string& request) {
  KvCache& cache = state_->cache;
  auto copy = std::make_unique<State>(state_->engine, state_->model,
                                      state_->engine.cascade_ ? cache.share() : cache.fork(),
                                      state_->drafts_for);
  copy->segments = state_->segments;
  copy->tokens = state_->tokens;
  copy->trace = state_->trace;
  if (copy->trace) copy->trace->request = request;
  copy->first_step = state_->next_step();
  copy->opened_ns = state_->engine.clock().now_ns();
  return Sequence(std::move(copy));
}

void Sequence::start_clock_at(std::int64_t ns) { state_->opened_ns = ns; }

Sequence Sequence::open_draft(Model& draft) {
  auto state = std::make_unique<State>(state_->engine, draft, KvCache(draft), state_.get());
  state->opened_ns = state_->engine.clock().now_ns();
  if (state_->trace) {
    state->trace.emplace();
    state->trace->request = state_->trace->request;
    state->trace->decoder = state_->trace->decoder;
    state->trace->model = "draft";
  }
  return Sequence(std::move(state));
}

void Sequence::take_back_drafts() {
  if (state_->first_draft) state_->cache.retract(*state_->first_draft);
  state_->first_draft.reset();
}

void Sequence::emit(int row) {
  ++state_->emitted;
  if (state_->trace) state_->trace->emitted.push_back(row);
}

Counters Sequence::finish() {
  State& state = *state_;
  if (!state.finished) {
    state.finished = true;
    state.close_forward();
    state.counters.total_ns = state.engine.clock().now_ns() - state.opened_ns;
    state.counters.decode_ns = state.counters.total_ns - state.counters.prefill_ns;
    if (state.trace && !state.trace->tokens.empty()) {
      if (state.engine.watch_) state.engine.watch_(*state.trace, true);
      if (state.engine.sink_) state.engine.sink_(*state.trace);
    }
    state.cache.evict();
  }
  return state.counters;
}

void Sequence::State::close_forward() {
  if (counters.forwards > 0) ++counters.emitted[emitted];
  emitted = 0;
}

/// Books a whole pass that ended at `now`: the rows of the branches' steps, and what was read.
void Sequence::State::account(const std::vector<Engine::Waiting*>& branches, std::int64_t now) {
  const LivingRows living(cache.slots(), segments);
  for (const Engine::Waiting* branch : branches) {
    account(branch->step, living);
    note_predictions(branch->step, branch->result);
  }
  if (counters.forwards++ == 0) counters.prefill_ns = now - opened_ns;
  const std::int64_t alive = cache.rows_alive();
  counters.cached_peak = std::max(counters.cached_peak, alive);
  counters.cached_sum += alive;
}

/// Books the rows of one branch's step, which have just been fed.
void Sequence::State::account(const Step& step, const LivingRows& living) {
  counters.fed += step.size();
  tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
  for (const Origin origin : step.origins) {
    counters.prompt += origin == Origin::prompt;
    counters.forced += origin == Origin::forced;
  }
  const int step_number = next_step();
  for (int i = 0; i < step.size(); ++i) {
    const auto& label = step.labels[static_cast<size_t>(i)];
    std::vector<int> seen;
    living.seen_by(label, [&](const KvCache::Slot& slot) {
      ++counters.attended;
      if (trace) seen.push_back(slot.row);
    });
    if (!trace) continue;
    const int from = step.from[static_cast<size_t>(i)];
    trace->tokens.push_back(step.tokens[static_cast<size_t>(i)]);
    trace->position.push_back(label.position);
    trace->step.push_back(step_number);
    std::sort(seen.begin(), seen.end());
    trace->visible.push_back(std::move(seen));
    trace->predicts.emplace_back();
    trace->from.push_back(from < 0 ? std::nullopt : std::optional<int>(from));
    trace->banned.emplace_back();
    trace->dropped_at.emplace_back();
  }
}

/// What the rows that were asked for would choose, by the network's own head.
void Sequence::State::note_predictions(const Step& step, const StepResult& result) {
  if (!trace) return;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i].head != 0) continue;
    const auto row = static_cast<size_t>(result.first_row + step.outputs[i].index);
    trace->predicts[row] = result.outputs[i].best;
    trace->banned[row] = step.outputs[i].banned;
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
  waiting_->queue = further_ ? &engine.asking_ : &engine.waiting_;
  waiting_->queue->push_back(waiting_.get());
}

StepResult Sequence::ForwardAwaiter::await_resume() {
  if (waiting_->error) std::rethrow_exception(waiting_->error);
  return std::move(waiting_->result);
}

// --- Engine ---

Engine::Engine(Model& model, const Clock& clock)
    : model_(model), clock_(clock), prefixes_(std::make_unique<PrefixCache>(*this)) {}
Engine::~Engine() = default;

void Engine::set_trace_sink(std::function<void(const Trace&)> sink) { sink_ = std::move(sink); }

void Engine::set_watch(std::function<void(const Trace&, bool)> watch) { watch_ = std::move(watch); }

Sequence Engine::open(const std::string& request, const std::string& decoder) {
  auto state = std::make_unique<Sequence::State>(*this, model_, KvCache(model_), nullptr);
  if (sink_ || watch_) {
    state->trace.emplace();
    state->trace->request = request;
    state->trace->decoder = decoder;
  }
  state->opened_ns = clock_.now_ns();
  return Sequence(std::move(state));
}

namespace {

/// Says what is wrong with a step before anything of the forward pass is computed, so that one job
/// fails alone.
std::exception_ptr check(const Step& step, const ModelConfig& config) {
  for (int i = 0; i < step.size(); ++i) {
    const Token token = step.tokens[static_cast<size_t>(i)];
    const int position = step.labels[static_cast<size_t>(i)].position;
    if (token < 0 || token >= config.vocab_size)
      return std::make_exception_ptr(ModelError(
          "model",
          str("token id ", token, " was fed, the vocabulary ends at ", config.vocab_size - 1)));
    if (position < 0 || position >= config.positions())
      return std::make_exception_ptr(ModelError(
          "model",
          str("context overflow: position ", position, " was fed, ", config.positions_key(), " is ",
              config.positions(), "; use a shorter prompt, a smaller stack or K_max")));
  }
  return nullptr;
}

/// The same of all rows that a sequence feeds, and a network's sliding window.
std::exception_ptr window_error(const std::vector<RowLabel>& labels, const KvCache& cache,
                                const Segments& segments, const ModelConfig& config) {
  try {
    check_window("model", config.sliding_window, cache.slots(), labels, segments);
    return nullptr;
  } catch (const ModelError&) {
    return std::current_exception();
  }
}

/// One thread in its natural order: feeding its rows again gives what they were.
bool plainly_causal(std::span<const KvCache::Slot> slots, const RowLabel& newest,
                    const Segments& segments) {
  const RowLabel* last = nullptr;
  for (const KvCache::Slot& slot : slots) {
    if (!slot.alive) continue;
    if (slot.label.rank != 0 || !visible(newest, slot.label, segments) ||
        (last && (last->order >= slot.label.order || !visible(slot.label, *last, segments))))
      return false;
    last = &slot.label;
  }
  return true;
}

}  // namespace

void Engine::Packed::feed_again() {
  Tokens all;
  std::vector<RowLabel> all_labels;
  for (const KvCache::Slot& slot : sequence->evicted) {
    all.push_back(sequence->tokens[static_cast<size_t>(slot.row)]);
    all_labels.push_back(slot.label);
  }
  again = static_cast<int>(all.size());
  for (OutputRequest& output : outputs) output.index += again;
  all.insert(all.end(), tokens.begin(), tokens.end());
  all_labels.insert(all_labels.end(), labels.begin(), labels.end());
  tokens = std::move(all);
  labels = std::move(all_labels);
}

void Engine::Packed::hand_out(std::vector<RowLogits> logits) {
  auto next = logits.begin();
  for (Waiting* branch : branches) {
    const auto end = next + std::ssize(branch->step.outputs);
    branch->result.outputs.assign(std::make_move_iterator(next), std::make_move_iterator(end));
    next = end;
    if (branch->step.later)
      branch->result.hidden =
          hidden.from(again + branch->result.first_row - branches[0]->result.first_row);
  }
}

std::int64_t Engine::blocks(std::int64_t rows) const {
  return (rows + budget_.block_rows - 1) / budget_.block_rows;
}

void Engine::set_aside(Packed& late) {
  Sequence::State& sequence = *late.sequence;
  sequence.aside = true;
  if (late.tokens.size() == 1 &&
      plainly_causal(sequence.cache.slots(), late.labels.front(), sequence.segments)) {
    sequence.evicted = sequence.cache.evict();
    ++report_.recomputed;
  } else if (budget_.swaps) {
    sequence.cache.move_to_host();
    ++report_.swapped;
  }
}

/// Whether its rows are in the cache.
bool Engine::holds(const Sequence::State& sequence) const {
  return !sequence.aside || (!budget_.swaps && sequence.evicted.empty());
}

/// Of all sequences in the cache; what several share counts once, set aside or not.
std::int64_t Engine::held_blocks() const {
  if (budget_.blocks <= 0) return 0;  // nobody counts
  std::int64_t held = 0;
  std::map<const void*, int> shared;  // slots
  for (const Sequence::State* sequence : sequences_) {
    if (holds(*sequence)) held += blocks(sequence->own_rows());
    for (const auto& [memory, slots] : sequence->cache.shared())
      shared[memory] = std::max(shared[memory], slots);
  }
  for (const auto& [memory, slots] : shared) held += blocks(slots);
  return held;
}

/// Leaves in `packed` what the cache has room for, and holds back the rest. Without a limit all
/// blocks are 0, and there is room.
void Engine::schedule(std::vector<Packed>& packed) {
  const auto own_blocks = [&](const Packed& p, std::int64_t more = 0) {
    return budget_.blocks > 0 ? blocks(p.sequence->own_rows() + more) : 0;
  };
  const auto after = [&](const Packed& p) { return own_blocks(p, std::ssize(p.tokens)); };
  // What the pass adds to the sequence's blocks, once it is in the cache.
  const auto added = [&](const Packed& p) { return after(p) - own_blocks(p); };
  std::vector<Packed> running, late, fresh;  // oldest first
  std::map<const Sequence::State*, Packed*> entering;
  for (Packed& p : packed) entering[p.sequence] = &p;
  for (const Sequence::State* sequence : sequences_)
    if (const auto found = entering.find(sequence); found != entering.end())
      (sequence->aside                    ? late
       : sequence->cache.rows_alive() > 0 ? running
                                          : fresh)
          .push_back(std::move(*found->second));
  packed.clear();
  const auto too_small = [&](Packed& p) {
    p.fail(std::make_exception_ptr(
        RunError(str("the cache budget of ", budget_.blocks, " blocks of ", budget_.block_rows,
                     " rows has no room for a sequence of ",
                     p.sequence->own_rows() + std::ssize(p.tokens), " rows; give more"))));
  };

  std::int64_t growth = 0;  // by those that enter, and that end
  for (const Packed& p : running) growth += added(p);
  std::int64_t held = held_blocks() + growth;         // after the pass
  const auto make_room = [&](std::int64_t allowed) {  // prefixes that are idle go before anybody
    while (held > allowed && prefixes_->give_back()) held = held_blocks() + growth;
  };

  make_room(budget_.blocks);
  bool full = false;
  while (held > budget_.blocks && !running.empty()) {
    growth -= added(running.back());
    if (running.size() == 1) {
      growth -= own_blocks(running.back());  // it ends
      too_small(running.back());
    } else {
      full = true;
      set_aside(running.back());
      running.back().hold();
    }
    running.pop_back();
    held = held_blocks() + growth;
  }
  packed = std::move(running);

  // Those set aside come back first; nobody overtakes.
  std::int64_t prefill = 0;
  std::move(fresh.begin(), fresh.end(), std::back_inserter(late));
  for (Packed& p : late) {
    const bool first = packed.empty();
    const auto spare = first ? 0
                             : static_cast<std::int64_t>(std::ceil(
                                   budget_.watermark * static_cast<double>(budget_.blocks)));
    const std::int64_t fed = std::ssize(p.sequence->evicted) + std::ssize(p.tokens);
    const std::int64_t wanted = holds(*p.sequence) ? added(p) : after(p);
    if (!full) make_room(budget_.blocks - spare - wanted);
    const bool fits = held + wanted <= budget_.blocks - spare &&
                      (prefill == 0 || prefill + fed <= budget_.prefill_rows);
    if (first && !fits) {  // nothing runs that could make room
      too_small(p);
      continue;
    }
    full = !first && (full || !fits);
    if (full) {
      p.hold();
      continue;
    }
    prefill += fed;
    if (!holds(*p.sequence) && p.sequence->evicted.empty()) p.sequence->cache.move_to_device();
    if (!p.sequence->evicted.empty()) {
      p.feed_again();
      report_.refed_rows += std::ssize(std::exchange(p.sequence->evicted, {}));
    }
    p.sequence->aside = false;
    growth += added(p);
    held += wanted;
    packed.push_back(std::move(p));
  }
  report_.peak_blocks = std::max(report_.peak_blocks, held);
}

void Engine::step() {
  // Further rows first: they belong to the pass that is over.
  if (!asking_.empty()) {
    answer_later();
    resume(asking_);
    return;
  }
  // One kind of pass at a time: that of the first draft that waits, else the network's own.
  std::erase(waiting_, nullptr);
  if (waiting_.empty()) return;
  const auto draft =
      std::find_if(waiting_.begin(), waiting_.end(), [](const Waiting* w) { return w->drafts(); });
  const Waiting& first = draft == waiting_.end() ? *waiting_.front() : **draft;
  std::vector<Waiting*> entering;
  for (Waiting* waiting : waiting_) {
    waiting->held = !waiting->enters_with(first);
    if (!waiting->held) entering.push_back(waiting);
  }
  forward(entering);
  resume(waiting_);
}

/// Rows of one sequence enter together: groups by sequence, both in order of arrival. Steps that
/// are wrong stay out.
std::vector<Engine::Packed> Engine::pack(const std::vector<Waiting*>& entering) {
  std::vector<Packed> packed;
  for (Waiting* waiting : entering) {
    if ((waiting->error = check(waiting->step, waiting->sequence.model.config()))) continue;
    if (waiting->sequence.first_draft && !waiting->step.skipped)
      throw std::logic_error("Engine: a whole pass over rows with sublayers skipped");
    auto found = std::find_if(packed.begin(), packed.end(),
                              [&](const Packed& p) { return p.sequence == &waiting->sequence; });
    if (found == packed.end())
      found = packed.insert(packed.end(), Packed{.sequence = &waiting->sequence});
    waiting->result.first_row =
        found->sequence->cache.rows_fed() + static_cast<int>(found->tokens.size());
    for (auto output : waiting->step.outputs) {
      output.index += static_cast<int>(found->tokens.size());
      found->outputs.push_back(std::move(output));
    }
    found->later |= waiting->step.later;
    found->branches.push_back(waiting);
    found->tokens.insert(found->tokens.end(), waiting->step.tokens.begin(),
                         waiting->step.tokens.end());
    found->labels.insert(found->labels.end(), waiting->step.labels.begin(),
                         waiting->step.labels.end());
  }
  // Who waited for rows that were withdrawn goes on without a pass.
  std::erase_if(packed, [](const Packed& p) { return p.tokens.empty(); });
  return packed;
}

/// Feeds steps of one network and one kind.
void Engine::forward(const std::vector<Waiting*>& entering) {
  const Waiting& first = *entering.front();
  Model& model = first.sequence.model;
  const bool drafting = first.drafts();
  const SkippedSublayers* const skipped = first.step.skipped ? &*first.step.skipped : nullptr;

  std::vector<Packed> packed = pack(entering);
  if (!drafting) schedule(packed);
  std::erase_if(packed, [&](Packed& p) {
    const std::exception_ptr error =
        window_error(p.labels, p.sequence->cache, p.sequence->segments, model.config());
    p.fail(error);
    return error != nullptr;
  });
  if (packed.empty()) return;

  std::vector<SequenceStep> steps;
  for (Packed& p : packed) {
    if (!skipped)
      p.sequence->close_forward();
    else if (!p.sequence->first_draft)
      p.sequence->first_draft = p.sequence->cache.rows_fed();
    steps.push_back({&p.sequence->cache, &p.sequence->segments, p.tokens, p.labels, p.outputs,
                     p.later ? &p.hidden : nullptr});
    if (watch_ && !drafting && p.sequence->trace) watch_(*p.sequence->trace, false);
  }
  try {
    const std::int64_t before = clock_.now_ns();
    auto logits = model.forward(steps, skipped);
    const std::int64_t now = clock_.now_ns();
    if (!drafting) model_ns_ += now - before;
    for (size_t s = 0; s < packed.size(); ++s) {
      packed[s].hand_out(std::move(logits[s]));
      Sequence::State& sequence = *packed[s].sequence;
      if (drafting)
        (skipped ? sequence : *sequence.drafts_for)
            .account_draft(static_cast<int>(packed[s].tokens.size()), now - before);
      if (!skipped) sequence.account(packed[s].branches, now);
    }
  } catch (...) {
    for (Packed& p : packed) p.fail(std::current_exception());
  }
}

void Engine::answer_later() {
  std::vector<Waiting*> asked(asking_.begin(), asking_.end());
  std::erase(asked, nullptr);
  std::vector<FurtherRows> further;
  for (const Waiting* waiting : asked)
    further.push_back({waiting->result.hidden, waiting->step.outputs});
  try {
    auto logits = model_.further(further);
    for (size_t i = 0; i < asked.size(); ++i) {
      asked[i]->result.outputs = std::move(logits[i]);
      asked[i]->sequence.note_predictions(asked[i]->step, asked[i]->result);
    }
  } catch (...) {
    for (Waiting* waiting : asked) waiting->error = std::current_exception();
  }
}

/// Goes on with all that stand in the queue now, but for those that were held back. A resumed
/// branch may end others, which then withdraw: the list is read entry by entry, and new ones join
/// behind.
void Engine::resume(std::list<Waiting*>& queue) {
  auto next = queue.begin();
  for (size_t left = queue.size(); left > 0; --left) {
    Waiting* waiting = *next;
    if (waiting && waiting->held) {
      ++next;
      continue;
    }
    next = queue.erase(next);
    if (!waiting) continue;
    waiting->queue = nullptr;
    waiting->awaiting.resume();
  }
}

std::int64_t Engine::run(int count, int live, const std::function<Task<void>(int)>& start,
                         const std::function<void(int, Task<void>&)>& done) {
  std::int64_t outside_ns = 0;
  prefixes_->clear();
  std::list<std::pair<int, Task<void>>> tasks;
  int next = 0;
  while (next < count || !tasks.empty()) {
    while (next < count && static_cast<int>(tasks.size()) < std::max(live, 1)) {
      tasks.emplace_back(next, start(next));
      ++next;
      tasks.back().second.start();
    }
    for (auto task = tasks.begin(); task != tasks.end();) {
      if (!task->second.done()) {
        ++task;
        continue;
      }
      const std::int64_t before = clock_.now_ns();
      done(task->first, task->second);
      outside_ns += clock_.now_ns() - before;
      task = tasks.erase(task);
    }
    if (next < count && static_cast<int>(tasks.size()) < std::max(live, 1)) continue;
    if (waiting_.empty() && asking_.empty() && !tasks.empty())
      throw std::logic_error("Engine::run: a task waits for something that is no forward pass");
    if (!tasks.empty()) step();
  }
  prefixes_->clear();
  return outside_ns;
}

}  // namespace pardec
