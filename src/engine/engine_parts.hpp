#pragma once
// Internals shared by the sources of the engine.
#include <exception>
#include <list>
#include <map>
#include <set>
#include <string>

#include "src/engine/engine.hpp"

namespace pardec {

class MaskRows;

struct Sequence::State {
  /// `drafts_for_`: the sequence for which this one drafts; null if this is not a sequence of a
  /// draft network.
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
  int emitted = 0;  // number of tokens emitted since the last forward pass
  /// Number of the sequence's first forward pass in the trace. A fork continues the numbering of
  /// its original.
  int first_step = 0;
  std::string request, decoder;  // names for events
  int job = -1;                  // number of the job that opened the sequence; -1: none
  std::map<int, int> streams;    // stream number in the sequence -> stream number in the job
  std::set<int> chose;           // rows whose choices were emitted; only with a listener
  bool finished = false;
  State* const drafts_for;
  std::optional<int> first_draft;  // first row computed with skipped sublayers; none: no such rows
  Tokens tokens;                   // the token of each row ever computed
  std::vector<Origin> origins;     // their origins
  int limit = 0;                   // see Sequence::set_limit
  /// Whether the sequence is preempted under a cache budget. `evicted`: its rows, if they were
  /// freed and must be recomputed.
  bool aside = false;
  std::vector<KvCache::Slot> evicted;

  /// Number of live rows in memory that is not shared. Evicted rows count, since they come back.
  std::int64_t own_rows() const {
    return evicted.empty() ? cache.own_rows_alive() : std::ssize(evicted);
  }

  /// Number of the next forward pass in the trace.
  int next_step() const { return first_step + static_cast<int>(counters.forwards); }
  void close_forward();
  void account(const std::vector<Engine::Waiting*>& branches, std::int64_t now);
  void account(const Step& step, const MaskRows& living);
  void record(const Step& step);
  void note_predictions(const Step& step, const StepResult& result);
  void tell(int row, Token token, int stream, bool guessed, bool final);
  /// The longest run of tokens that ends at `row`, has consecutive positions, and contains no
  /// chosen or guessed token; at most 65 tokens. Empty: the token of `row` was chosen or guessed.
  Tokens before(int row) const;
  void tell_read(bool ended) const;
  /// Counts a pass of a draft network, or a pass with skipped sublayers.
  void account_draft(int rows, std::int64_t ns) {
    ++counters.draft_forwards;
    counters.draft_fed += rows;
    counters.draft_ns += ns;
  }
};

struct Engine::Job {
  int number;
  Task<void> task;
  LeastLength least;
  int streams = 0;  ///< number of streams that have begun
};

/// A step for which a coroutine waits.
struct Engine::Waiting {
  Engine& engine;
  Sequence::State& sequence;
  Step step;
  StepResult result;
  std::exception_ptr error;
  std::coroutine_handle<> awaiting;
  std::list<Waiting*>* queue = nullptr;  ///< the list that contains this; null: none
  bool held = false;  ///< left out of this pass: another kind of pass, or no free cache blocks
  int job = -1;       ///< the job that waits

  /// A ModelError if the logits of a requested row are not finite; otherwise null.
  std::exception_ptr not_finite() const;

  /// Whether this is a step of a draft network, or a draft by the network itself.
  bool drafts() const { return sequence.drafts_for || step.skipped; }
  /// Whether one forward pass can compute both steps: the same network, with the same sublayers.
  bool enters_with(const Waiting& other) const {
    return &sequence.model == &other.sequence.model && drafts() == other.drafts() &&
           step.skipped == other.step.skipped;
  }
};

/// The new rows of one sequence in one forward pass: the steps of its waiting branches, one after
/// another.
struct Engine::Packed {
  Sequence::State* sequence;
  std::vector<Waiting*> branches;
  Tokens tokens;
  std::vector<RowLabel> labels;
  std::vector<Origin> origins;
  std::vector<OutputRequest> outputs;  ///< their indices are indices in `tokens`
  HiddenRows hidden;
  bool later = false;  ///< whether some branch may request further rows
  int again = 0;       ///< number of recomputed rows, which come before the new rows

  void hold() {
    for (Waiting* branch : branches) branch->held = true;
  }
  void fail(const std::exception_ptr& error) {
    for (Waiting* branch : branches) branch->error = error;
  }
  /// Inserts rows that were freed by preemption in front of the new rows, so that the pass
  /// recomputes them.
  void feed_again();
  /// Applies the rules to all output requests for the network's own head, based on the tokens
  /// visible to each row.
  void apply(const GenerationRules& rules, std::span<const Token> eos, const LeastLength& least);
  /// Distributes the results of the pass to the branches.
  void hand_out(std::vector<RowLogits> logits);
};

}  // namespace pardec
