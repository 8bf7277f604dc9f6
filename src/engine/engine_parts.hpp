#pragma once
// What the sources of the engine share among themselves.
#include <exception>
#include <list>
#include <map>
#include <set>
#include <string>

#include "src/engine/engine.hpp"

namespace pardec {

class MaskRows;

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
  /// For a listener: whose sequence it is, which number in the job each of its streams has, and the
  /// rows that chose for them.
  std::string request, decoder;
  int job = -1;
  std::map<int, int> streams;
  std::set<int> chose;
  bool finished = false;
  State* const drafts_for;
  std::optional<int> first_draft;  // first row fed with sublayers skipped, while there is one
  Tokens tokens;                   // by row, all that were ever fed ...
  std::vector<Origin> origins;     // ... and where they come from
  int limit = 0;                   // ids that one of its answers may have; 0: not known
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
  void account(const Step& step, const MaskRows& living);
  void record(const Step& step);
  void note_predictions(const Step& step, const StepResult& result);
  void tell(int row, Token token, int stream, bool guessed, bool final);
  /// Tokens up to `row` that stand side by side and that nobody chose.
  Tokens before(int row) const;
  void tell_read(bool ended) const;
  /// Books a pass of a draft network, or one with sublayers skipped.
  void account_draft(int rows, std::int64_t ns) {
    ++counters.draft_forwards;
    counters.draft_fed += rows;
    counters.draft_ns += ns;
  }
};

struct Engine::Job {
  int number;
  Task<void> task;
  int streams = 0;  ///< that have begun
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
  int job = -1;       ///< that waits

  /// What ends it where nothing can be chosen from a row that it asked for; null: all is well.
  std::exception_ptr not_finite() const;

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
  std::vector<Origin> origins;
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
  /// Adds what the rules make of the network's own logits, by what each choosing row sees.
  void apply(const GenerationRules& rules, std::span<const Token> eos);
  /// Deals out the results of the pass to the branches.
  void hand_out(std::vector<RowLogits> logits);
};

}  // namespace pardec
