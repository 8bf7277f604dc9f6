#pragma once
#include <coroutine>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/task.hpp"
#include "src/engine/trace.hpp"
#include "src/model/files/generation_rules.hpp"
#include "src/model/model.hpp"
#include "src/support/clock.hpp"
#include "src/support/counters.hpp"

namespace pardec {

class Engine;
class PrefixCache;

/// The source of a row's token.
enum class Origin {
  prompt,  ///< the prompt
  forced,  ///< added without being chosen: skeleton, prefixes, masks
  chosen,  ///< chosen from the logits of an earlier row
  draft,   ///< a guess to be verified
};

/// The new tokens of one branch of a sequence in one forward pass.
struct Step {
  std::vector<Token> tokens;
  std::vector<RowLabel> labels;
  std::vector<Origin> origins;
  std::vector<int> from;  ///< for chosen tokens, the row they were chosen from; otherwise -1
  std::vector<OutputRequest> outputs;
  bool later = false;  ///< whether Sequence::later may request logits of more rows
  int streams = 1;  ///< number of streams that the outputs belong to, e.g. all values of a prompt
  /// If set, the network drafts for itself and skips these sublayers. Call
  /// Sequence::take_back_drafts to remove the rows before the next full pass.
  std::optional<SkippedSublayers> skipped;

  /// Adds a token, and returns its index in the step.
  int add(Token token, const RowLabel& label, Origin origin, int from_row = -1);
  /// Requests the logits of the token at `index` in the step. `banned` ids cannot be chosen. If
  /// `allowed` is not empty, no other ids can be chosen.
  void want(int index, const Sampling& sampling = {}, std::vector<Token> banned = {},
            std::vector<Token> allowed = {});
  int size() const { return static_cast<int>(tokens.size()); }
};

/// The label of a row in plain text: natural position, segment 0.
inline RowLabel text_label(int position) {
  return {.position = position, .order = position, .segment = 0, .rank = 0};
}

/// A step with the tokens of a plain prompt after the first `fed` ones, which were computed before.
Step prompt_step(const Tokens& tokens, int fed);

struct StepResult {
  int first_row = 0;  ///< number of the step's first row; the other rows follow in order
  std::vector<RowLogits> outputs;  ///< in the order of the requests
  HiddenRows hidden;               ///< rows of the step, if it was computed with `later`
};

/// The rows of one text in the cache. Branches of one sequence await their forward passes
/// separately, and enter a pass together. Dropping, releasing and relabelling take effect before
/// the next pass.
class Sequence {
 public:
  Sequence(Sequence&&) noexcept;
  ~Sequence();

  class ForwardAwaiter;
  /// co_await: computes `step` in the next forward pass. A step without tokens waits for the next
  /// pass of another branch. Throws ModelError before computing any row if an id or a position is
  /// outside the network's range. Throws ModelError after the pass if the logits of a requested row
  /// are not finite (RowLogits::finite).
  ForwardAwaiter forward(Step step);
  /// co_await: the logits of further rows of a step that was computed with `later`. Indices are
  /// those of the step; the result is as in StepResult::outputs. This is not a forward pass: only
  /// the heads are computed, in one batch for all sequences that request further rows. REQUIRES:
  /// `seen` is the result of that step, and no step of this sequence was computed since.
  ForwardAwaiter later(const StepResult& seen, std::vector<OutputRequest> outputs);

  int add_segment(const std::vector<int>& sees);
  /// Drops rows that were rejected or replaced.
  void drop(std::span<const int> rows);
  /// Drops rows that were part of the answer but are no longer needed. Unlike with `drop`, the
  /// counter `scratch` does not include them.
  void release(std::span<const int> rows);
  /// Drops all rows from `first` on except `rows`.
  void keep(int first, std::span<const int> rows);
  void relabel(int row, const RowLabel& label);
  /// Removes the rows that were computed with skipped sublayers. They appear in no trace, and later
  /// rows reuse their numbers.
  void take_back_drafts();
  /// A sequence that continues from the same rows. Its counters start at zero.
  Sequence fork(const RequestName& request);
  /// Moves the start of the sequence's clock to `ns`, a time of the engine's clock. Thus the cost
  /// of a fork can include the time that it waited for its prefix.
  void start_clock_at(std::int64_t ns);
  /// An empty sequence of a draft network. It has its own trace under the same names. Its cost is
  /// counted as drafting cost of this sequence, which must outlive it.
  Sequence open_draft(Model& draft);

  /// Sets the length limit of an answer of this sequence, in ids. Rules about the last id before
  /// the limit need it.
  void set_limit(int limit);
  /// Reports that `token`, the choice of `row`, is the next token of a stream of this sequence. The
  /// decoder numbers the streams from 0. `guessed`: as in TokenEvent.
  void emit(int row, Token token, int stream = 0, bool guessed = false);
  /// Reports to the listener that these guesses, which follow the token of `row`, were verified and
  /// are not part of the stream.
  void reject(int row, std::span<const Token> guesses, int stream = 0);
  /// The decoder counts the answer's streams and text here; the engine counts everything else.
  Counters& counters();
  /// Stops the clock, completes counters and trace, and frees the rows. Returns the cost of the
  /// sequence.
  Counters finish();
  int rows_fed() const;

 private:
  friend class Engine;
  struct State;
  explicit Sequence(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A limit of the KV cache for all sequences together, counted in blocks as in a paged cache, with
/// vLLM's scheduling (as in the batched runs of the APAR paper).
struct CacheBudget {
  std::int64_t blocks = 0;  ///< 0: no limit
  int block_rows = 16;
  double watermark = 0.01;  ///< share of the blocks that stays free when a sequence is admitted
  /// Maximum number of rows admitted to one forward pass, also without a limit of blocks. The first
  /// sequence may exceed it.
  std::int64_t prefill_rows = 2560;
  /// False: there is no other memory for the rows of preempted sequences. They stay in the cache,
  /// and count.
  bool swaps = true;
};

/// The effects of a budget.
struct CacheReport {
  std::int64_t peak_blocks = 0;  ///< maximum held in a forward pass
  std::int64_t swapped = 0;      ///< number of preemptions that kept the rows
  std::int64_t recomputed = 0;   ///< number of preemptions that freed the rows for recomputation
  std::int64_t refed_rows = 0;
};

/// Occupancy of the full passes of the engine's own network in one `run`. Divide the sums by
/// `passes` for means.
struct Occupancy {
  std::int64_t passes = 0;
  std::int64_t job_passes = 0;  ///< number of jobs in a pass, summed over passes
  /// number of streams that chose from a pass (answers, values, threads), summed over passes
  std::int64_t stream_passes = 0;
};

/// The minimum length of a job's answer. A sequence of the job cannot choose an id in `ends` before
/// it has `tokens` tokens after the prompt.
struct LeastLength {
  int tokens = 0;
  Tokens ends;
};

/// Decodes jobs: packs the pending steps of all live sequences into one forward pass after another.
/// Passes of a draft network and passes with skipped sublayers come first, so that all sequences
/// meet in the network's full pass. Single-threaded.
class Engine {
 public:
  /// `model` and `clock` must outlive the engine.
  Engine(Model& model, const Clock& clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Model& model() { return model_; }
  const Clock& clock() const { return clock_; }

  /// A new, empty sequence. `request` and `decoder` are its names in traces.
  Sequence open(const RequestName& request, const std::string& decoder);

  /// Prefixes that are computed once for all sequences of one `run`. A run begins and ends without
  /// prefixes, so that no block of a measurement benefits from an earlier one.
  PrefixCache& prefixes() { return *prefixes_; }

  /// Takes effect from the next forward pass on. Sequences are admitted first come, first served,
  /// as long as blocks are free; the blocks of idle `prefixes` are freed for them. If running
  /// sequences no longer fit, the latest are preempted: a plain causal thread is recomputed later,
  /// any other sequence keeps its rows on the host. A sequence that does not fit alone ends with a
  /// RunError. The budget covers neither the caches of draft networks nor rows computed with
  /// skipped sublayers: those are removed before the next full pass.
  void set_cache_budget(const CacheBudget& budget) { budget_ = budget; }
  const CacheReport& cache_report() const { return report_; }

  /// Whether forks share the rows of the original in memory, with one attention product for all
  /// (cascade inference), or copy them. Applies to later forks.
  void set_cascade(bool cascade) { cascade_ = cascade; }

  /// Rules that change logits before a choice. They apply to each row of a full pass, based on the
  /// tokens visible to the row, in the order of the text. Drafts of a draft network follow them
  /// too; drafts of extra heads, of masks and of the network with skipped sublayers do not. Applies
  /// to later passes. `ends`: ids that end an answer, besides the network's own; rules about ends
  /// include them.
  void set_rules(GenerationRules rules, const std::vector<Token>& ends = {});

  /// Receives the traces of sequences in the order in which they end. Empty: no traces are
  /// recorded.
  void set_trace_sink(std::function<void(const Trace&)> sink);

  /// Receives events as they happen; its running time counts in the measurements. It may submit and
  /// cancel jobs. Empty: no listener.
  void set_listener(std::function<void(const Event&)> listener);

  // The engine as a loop: while (!engine.idle()) engine.step();

  /// Starts a job, which runs until it waits for a forward pass. Returns the number of the job,
  /// used by events and traces and counted from 0.
  int submit(Task<void> job, LeastLength least = {});
  /// Computes one forward pass for all waiting jobs, or further rows of the last pass. Reports the
  /// jobs that ended (Ended). Does nothing if the engine is idle.
  void step();
  /// Cancels a job and frees its rows; no more events of it are sent. In a listener, it takes
  /// effect after the pass has been read. Does nothing if the job is over.
  void cancel(int job);
  /// Whether there are no jobs.
  bool idle() const { return jobs_.empty(); }

  /// Runs `count` jobs, numbered from 0, to their end, with at most `live` at a time. `start(i)`
  /// creates the i-th job, in order of i; `done` is called as each one ends. Returns the time spent
  /// in `done`, so that a caller can subtract it from its measurement. REQUIRES: idle().
  std::int64_t run(int count, int live, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  /// Occupancy since the last `run` began. If there was no `run`: over all jobs so far.
  const Occupancy& occupancy() const { return occupancy_; }

  /// Rows of all open sequences in the cache at this moment. Shared memory counts once.
  std::int64_t held_rows() const;
  /// Blocks of the cache budget that these rows hold; 0: there is no limit.
  std::int64_t held_blocks() const;
  const CacheBudget& cache_budget() const { return budget_; }

  /// Total time of the network's own full forward passes.
  std::int64_t model_ns() const { return model_ns_; }

 private:
  friend class Sequence;
  struct Waiting;
  struct Packed;
  struct Job;
  void pass();
  std::vector<Ended> take_ended();
  Job& job(int number);
  const LeastLength& least(int job) const;
  void forward(const std::vector<Waiting*>& entering);
  static std::vector<Packed> pack(const std::vector<Waiting*>& entering);
  void schedule(std::vector<Packed>& packed);
  void set_aside(Packed& late);
  void count(const std::vector<Packed>& packed);
  std::int64_t blocks(std::int64_t rows) const;
  std::int64_t held(const std::function<std::int64_t(std::int64_t rows)>& cost) const;
  bool holds(const Sequence::State& sequence) const;
  void answer_later();
  void resume(std::list<Waiting*>& queue);

  Model& model_;
  const Clock& clock_;
  std::function<void(const Trace&)> sink_;
  std::function<void(const Event&)> listener_;
  std::int64_t model_ns_ = 0;
  std::list<Waiting*> waiting_;            // for a forward pass, in order of arrival
  std::list<Waiting*> asking_;             // for further rows of the last pass
  std::list<Sequence::State*> sequences_;  // open sequences of the network, oldest first
  int running_ = -1;                       // the job that is resumed right now
  bool cascade_ = false;
  GenerationRules rules_;
  std::vector<Token> ends_;  // additional ends for the rules
  CacheBudget budget_;
  CacheReport report_;
  Occupancy occupancy_;
  std::unique_ptr<PrefixCache> prefixes_;
  int next_job_ = 0;
  bool stepping_ = false;
  std::vector<int> cancelled_;  // while stepping
  std::list<Job> jobs_;         // oldest first; destroying a job withdraws its pending steps
};

/// Awaits one forward pass, or further rows of one. Lives in the frame of the waiting coroutine;
/// destroying the frame withdraws the step.
class Sequence::ForwardAwaiter {
 public:
  ForwardAwaiter(State& state, Step step, const StepResult* seen = nullptr);
  ForwardAwaiter(const ForwardAwaiter&) = delete;
  ForwardAwaiter& operator=(const ForwardAwaiter&) = delete;
  ~ForwardAwaiter();
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> awaiting);
  StepResult await_resume();

 private:
  std::unique_ptr<Engine::Waiting> waiting_;
  bool further_;  // awaits rows of the last pass instead of a new pass
};

}  // namespace pardec
