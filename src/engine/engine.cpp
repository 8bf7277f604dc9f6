#include "src/engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include "src/engine/engine_parts.hpp"
#include "src/engine/living_rows.hpp"
#include "src/engine/logit_rules.hpp"
#include "src/engine/prefix_cache.hpp"
#include "src/model/plain/mask.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

Engine::Engine(Model& model, const Clock& clock)
    : model_(model), clock_(clock), prefixes_(std::make_unique<PrefixCache>(*this)) {}
Engine::~Engine() = default;

void Engine::set_trace_sink(std::function<void(const Trace&)> sink) { sink_ = std::move(sink); }

void Engine::set_listener(std::function<void(const Event&)> listener) {
  listener_ = std::move(listener);
}

void Engine::set_rules(GenerationRules rules, const std::vector<Token>& ends) {
  rules_ = std::move(rules);
  ends_ = model_.config().eos;
  ends_.insert(ends_.end(), ends.begin(), ends.end());
}

Sequence Engine::open(const RequestName& request, const std::string& decoder) {
  auto state = std::make_unique<Sequence::State>(*this, model_, KvCache(model_), nullptr);
  state->request = request.text;
  state->decoder = decoder;
  state->job = running_;
  if (sink_) {
    state->trace.emplace();
    state->trace->request = request.text;
    state->trace->group = request.group;
    state->trace->decoder = decoder;
    state->trace->job = running_;
    state->trace->rules = rules_.applied;
  }
  state->opened_ns = clock_.now_ns();
  return Sequence(std::move(state));
}

namespace {

/// Checks a step before the forward pass is computed, so that only the job with the error fails.
std::exception_ptr check(const Step& step, const ModelConfig& config) {
  for (int i = 0; i < step.size(); ++i) {
    const Token token = step.tokens[static_cast<size_t>(i)];
    const int position = step.labels[static_cast<size_t>(i)].position;
    if (token < 0 || token >= config.vocab_size)
      return std::make_exception_ptr(
          ModelError("model", str("token id ", token, " is not in the vocabulary, which ends at ",
                                  config.vocab_size - 1)));
    if (position < 0 || position >= config.positions())
      return std::make_exception_ptr(ModelError(
          "model",
          str("context overflow: position ", position, " is needed, ", config.positions_key(),
              " is ", config.positions(), "; use a shorter prompt, a smaller stack or K_max")));
  }
  return nullptr;
}

/// The same for a sequence's new rows together, with the network's sliding window.
std::exception_ptr window_error(const std::vector<RowLabel>& labels, const KvCache& cache,
                                const Segments& segments, const ModelConfig& config) {
  try {
    check_window("model", config.sliding_window, cache.slots(), labels, segments);
    return nullptr;
  } catch (const ModelError&) {
    return std::current_exception();
  }
}

}  // namespace

std::exception_ptr Engine::Waiting::not_finite() const {
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const RowLogits& logits = result.outputs[i];
    if (logits.finite()) continue;
    const OutputRequest& output = step.outputs[i];
    const auto slots = sequence.cache.slots();
    const auto slot = std::find_if(slots.begin(), slots.end(), [&](const KvCache::Slot& s) {
      return s.row == result.first_row + output.index;
    });
    const float best = logits.best_logit;
    return std::make_exception_ptr(ModelError(
        drafts() ? "draft" : "model",
        str("logits ", output.head > 0 ? str("of extra head ", output.head, " ") : "",
            "of the row at position ", slot == slots.end() ? -1 : slot->label.position,
            " are not finite (",
            std::isnan(best) ? "NaN"
            : best > 0       ? "Inf"
                             : "all -Inf",
            "), expected numbers: its weights or its dtype give none; 'pardec doctor `model=DIR`' "
            "looks into the weights")));
  }
  return nullptr;
}

void Engine::Packed::apply(const GenerationRules& rules, std::span<const Token> eos,
                           const LeastLength& least) {
  struct Seen {
    RowLabel label;
    Token token;
    Origin origin;
  };
  const LivingRows living(sequence->cache.slots(), sequence->segments);
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputRequest& output = outputs[i];
    if (output.head != 0) continue;
    const RowLabel& label = labels[static_cast<size_t>(output.index)];
    std::vector<Seen> seen;
    living.seen_by(label, [&](const KvCache::Slot& slot) {
      const auto row = static_cast<size_t>(slot.row);
      seen.push_back({slot.label, sequence->tokens[row], sequence->origins[row]});
    });
    for (size_t row = 0; row < labels.size(); ++row)
      if (visible(label, labels[row], sequence->segments))
        seen.push_back({labels[row], tokens[row], origins[row]});
    std::stable_sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) {
      return std::pair(a.label.position, a.label.order) <
             std::pair(b.label.position, b.label.order);
    });
    Tokens before;
    int generated = 0;
    for (const Seen& one : seen) {
      before.push_back(one.token);
      generated += one.origin != Origin::prompt;
    }
    pardec::apply(rules, {before, generated, sequence->limit, least.tokens, least.ends}, eos,
                  sequence->model.config().vocab_size, output);
  }
  auto next = outputs.begin();  // for the trace, which records the requests of each branch
  for (Waiting* branch : branches)
    for (OutputRequest& asked : branch->step.outputs) {
      asked.banned = next->banned;
      asked.allowed = next->allowed;
      ++next;
    }
}

void Engine::Packed::hand_out(std::vector<RowLogits> logits) {
  auto next = logits.begin();
  for (Waiting* branch : branches) {
    const auto end = next + std::ssize(branch->step.outputs);
    branch->result.outputs.assign(std::make_move_iterator(next), std::make_move_iterator(end));
    next = end;
    branch->error = branch->not_finite();
    if (branch->step.later)
      branch->result.hidden =
          hidden.from(again + branch->result.first_row - branches[0]->result.first_row);
  }
}

void Engine::pass() {
  if (waiting_.empty() && asking_.empty()) {
    if (std::any_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return !job.task.done(); }))
      throw std::logic_error("Engine: a job waits for something that is no forward pass");
    return;
  }
  struct Stepping {
    bool& now;
    explicit Stepping(bool& flag) : now(flag) { now = true; }
    ~Stepping() { now = false; }
  } stepping(stepping_);
  // Further rows come first, since they belong to the last pass.
  if (!asking_.empty()) {
    answer_later();
    resume(asking_);
    return;
  }
  // One kind of pass at a time: the kind of the first waiting draft, otherwise the full pass.
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

/// Packs the steps of each sequence together, sequences and steps in order of arrival. Steps with
/// errors are left out.
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
    found->origins.insert(found->origins.end(), waiting->step.origins.begin(),
                          waiting->step.origins.end());
  }
  // Steps without tokens whose companions were withdrawn continue without a pass.
  std::erase_if(packed, [](const Packed& p) { return p.tokens.empty(); });
  return packed;
}

/// Computes steps of one network and one kind.
void Engine::forward(const std::vector<Waiting*>& entering) {
  const Waiting& first = *entering.front();
  Model& model = first.sequence.model;
  const bool drafting = first.drafts();
  const std::optional<SkippedSublayers>& skipped = first.step.skipped;

  std::vector<Packed> packed = pack(entering);
  if (!drafting) {
    const std::size_t wanted = packed.size();
    schedule(packed);
    pass_held_back_ = packed.size() < wanted;
  }
  std::erase_if(packed, [&](Packed& p) {
    const std::exception_ptr error =
        window_error(p.labels, p.sequence->cache, p.sequence->segments, model.config());
    p.fail(error);
    return error != nullptr;
  });
  if (packed.empty()) return;

  std::vector<SequenceStep> steps;
  for (Packed& p : packed) {
    const LeastLength& least = this->least(p.sequence->job);
    if ((!rules_.none() || least.tokens > 0) && !skipped) p.apply(rules_, ends_, least);
    if (!skipped)
      p.sequence->close_forward();
    else if (!p.sequence->first_draft)
      p.sequence->first_draft = p.sequence->cache.rows_fed();
    steps.push_back({&p.sequence->cache, &p.sequence->segments, p.tokens, p.labels, p.outputs,
                     p.later ? &p.hidden : nullptr});
    if (!drafting) p.sequence->tell_read(false);
  }
  try {
    const std::int64_t before = clock_.now_ns(), experts_before = model.experts_read();
    auto logits = model.forward(steps, skipped.value_or(SkippedSublayers{}));
    const std::int64_t now = clock_.now_ns();
    if (!drafting) {
      model_ns_ += now - before;
      pass_rows_ = held_rows();
      count(packed);
      occupancy_.experts_read += model.experts_read() - experts_before;
    }
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

/// Counts the jobs and streams of a full pass.
void Engine::count(const std::vector<Packed>& packed) {
  std::set<int> jobs;
  for (const Packed& p : packed)
    for (const Waiting* branch : p.branches) {
      jobs.insert(branch->job);
      if (!branch->step.outputs.empty()) occupancy_.stream_passes += branch->step.streams;
    }
  ++occupancy_.passes;
  occupancy_.job_passes += std::ssize(jobs);
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
      asked[i]->error = asked[i]->not_finite();
      asked[i]->sequence.note_predictions(asked[i]->step, asked[i]->result);
    }
  } catch (...) {
    for (Waiting* waiting : asked) waiting->error = std::current_exception();
  }
}

/// Resumes all entries currently in the queue, except those held back. A resumed branch may end
/// others, which then withdraw from the queue, and new entries may join at the end; hence the list
/// is read entry by entry.
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
    running_ = waiting->job;
    waiting->awaiting.resume();
  }
}

// --- The loop ---

int Engine::submit(Task<void> job, LeastLength least) {
  const int number = next_job_++;
  jobs_.push_back({number, std::move(job), std::move(least)});
  const int before = std::exchange(running_, number);  // in a listener, this is another job
  jobs_.back().task.start();
  running_ = before;
  return number;
}

void Engine::cancel(int job) {
  if (stepping_)
    cancelled_.push_back(job);
  else
    std::erase_if(jobs_, [&](const Job& one) { return one.number == job; });
}

Engine::Job& Engine::job(int number) {
  return *std::find_if(jobs_.begin(), jobs_.end(),
                       [&](const Job& one) { return one.number == number; });
}

/// The least length of a job's answer; none for sequences outside of jobs.
const LeastLength& Engine::least(int job) const {
  static const LeastLength kNone;
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& one) { return one.number == job; });
  return found == jobs_.end() ? kNone : found->least;
}

/// Removes the jobs that have ended, and cancelled ones.
std::vector<Ended> Engine::take_ended() {
  for (const int job : std::exchange(cancelled_, {})) cancel(job);
  std::vector<Ended> ended;
  for (auto one = jobs_.begin(); one != jobs_.end();) {
    if (!one->task.done()) {
      ++one;
      continue;
    }
    Ended& end = ended.emplace_back(Ended{one->number, nullptr});
    try {
      one->task.result();
    } catch (...) {
      end.error = std::current_exception();
    }
    one = jobs_.erase(one);
  }
  return ended;
}

void Engine::step() {
  pass();
  for (const Ended& end : take_ended())
    if (listener_) listener_(end);
}

std::int64_t Engine::run(int count, int live, const std::function<Task<void>(int)>& start,
                         const std::function<void(const Ended&)>& done) {
  if (!idle()) throw std::logic_error("Engine::run: jobs are there that it did not start");
  struct Cleared {  // also if `start` or `done` throws
    Engine& engine;
    ~Cleared() {
      engine.jobs_.clear();
      engine.cancelled_.clear();
      engine.prefixes_->clear();
    }
  } cleared{*this};
  std::int64_t outside_ns = 0;
  prefixes_->clear();
  occupancy_ = {};
  next_job_ = 0;
  LoadWindows load;
  load.begin(clock_.now_ns());
  const auto room = [&] { return next_job_ < count && std::ssize(jobs_) < std::max(live, 1); };
  while (next_job_ < count || !idle()) {
    while (room()) submit(start(next_job_));
    for (const Ended& end : take_ended()) {
      if (listener_) listener_(end);
      const std::int64_t before = clock_.now_ns();
      done(end);
      outside_ns += clock_.now_ns() - before;
    }
    if (room()) continue;
    pass();
    load.add(clock_.now_ns() - outside_ns, pass_rows_, next_job_ < count || pass_held_back_,
             std::exchange(pass_tokens_, 0));
  }
  occupancy_.load = load.windows();
  return outside_ns;
}

}  // namespace pardec
