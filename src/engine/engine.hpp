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

/// The origin of a row's token.
enum class Origin {
  prompt,  ///< the prompt
  forced,  ///< added by the decoder without a choice: JSON skeleton, prefixes, mask tokens
  chosen,  ///< chosen from the logits of an earlier row
  draft,   ///< a guess to be verified
};

/// The new tokens of one branch of a sequence in one forward pass.
struct Step {
  std::vector<Token> tokens;
  std::vector<RowLabel> labels;
  std::vector<Origin> origins;
  std::vector<int> from;  ///< per token: the row whose logits chose it, or -1 if it was not chosen
  std::vector<OutputRequest> outputs;
  bool later = false;  ///< whether Sequence::later may request logits of more rows
  int streams = 1;     ///< number of streams that use the outputs, e.g. one per value of a prompt
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

/// The label of a row in plain causal text: position and order count from 0, segment and rank are
/// 0.
inline RowLabel text_label(int position) {
  return {.position = position, .order = position, .segment = 0, .rank = 0};
}

/// A step with the tokens of a plain prompt from index `fed` on. The tokens before were computed
/// already.
Step prompt_step(const Tokens& tokens, int fed);

struct StepResult {
  int first_row = 0;  ///< number of the step's first row; the other rows follow in order
  std::vector<RowLogits> outputs;  ///< in the order of the requests
  HiddenRows hidden;               ///< rows of the step, if it was computed with `later`
};

/// The rows of one text in the KV cache. A sequence may have several branches. They await forward
/// passes separately; the engine computes their steps in one pass. drop, release, keep and relabel
/// take effect before the next pass.
class Sequence {
 public:
  Sequence(Sequence&&) noexcept;
  ~Sequence();

  class ForwardAwaiter;
  /// co_await: computes `step` in the next forward pass. A step without tokens waits for the next
  /// pass of another branch. ModelError: an id or a position is outside the network's range (thrown
  /// before any row is computed), or the logits of a requested row are not finite
  /// (RowLogits::finite).
  ForwardAwaiter forward(Step step);
  /// co_await: the logits of more rows of a step that was computed with Step::later. The indices in
  /// `outputs` count the step's tokens. Returns StepResult::outputs only. This is not a forward
  /// pass: only the heads are computed, in one batch for all sequences that request further rows.
  /// REQUIRES: `seen` is the result of the step, and no other step of this sequence was computed
  /// after it.
  ForwardAwaiter later(const StepResult& seen, std::vector<OutputRequest> outputs);

  int add_segment(const std::vector<int>& sees);
  /// Drops rows that were rejected or replaced.
  void drop(std::span<const int> rows);
  /// Drops rows that were part of the answer but are no longer needed. The counter `scratch` counts
  /// rows dropped by `drop`, but not these.
  void release(std::span<const int> rows);
  /// Drops all rows with numbers of at least `first`, except `rows`.
  void keep(int first, std::span<const int> rows);
  void relabel(int row, const RowLabel& label);
  /// Removes all rows that were computed with skipped sublayers. They appear in no trace, and later
  /// rows get their numbers.
  void take_back_drafts();
  /// Returns a new sequence that continues from the same rows. The new sequence's counters start at
  /// zero.
  Sequence fork(const RequestName& request);
  /// Sets the time at which the sequence started, in nanoseconds of the engine's clock. With it,
  /// the time of a fork can include waiting for its prefix.
  void start_clock_at(std::int64_t ns);
  /// Opens an empty sequence of a draft network. The draft network's passes are counted as drafting
  /// of this sequence. The draft sequence has its own trace, with the same names. This sequence
  /// must outlive the draft sequence.
  Sequence open_draft(Model& draft);

  /// Sets the maximum number of ids of an answer of this sequence. GenerationRules::forced_eos
  /// depends on it.
  void set_limit(int limit);
  /// Reports that `token`, chosen from the logits of `row`, is the next token of a stream of this
  /// sequence. The decoder numbers its streams from 0. `guessed`: see TokenEvent.
  void emit(int row, Token token, int stream = 0, bool guessed = false);
  /// Reports to the listener that `guesses` for the tokens after `row` were verified and rejected.
  void reject(int row, std::span<const Token> guesses, int stream = 0);
  /// The counters of the sequence. The decoder sets those about the answer's streams and text; the
  /// engine sets all others.
  Counters& counters();
  /// Stops the clock, completes counters and trace, and frees the rows. Returns the final counters.
  Counters finish();
  int rows_fed() const;

 private:
  friend class Engine;
  struct State;
  explicit Sequence(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A limit for the KV cache of all sequences together. The cache is counted in blocks, like a paged
/// cache, and sequences are scheduled as in vLLM (as in the batched runs of the APAR paper).
struct CacheBudget {
  std::int64_t blocks = 0;  ///< 0: no limit
  int block_rows = 16;
  double watermark = 0.01;  ///< share of the blocks that stays free when a sequence is admitted
  /// Maximum number of rows of sequences admitted to one forward pass (prefill), even without a
  /// limit of blocks. The first admitted sequence may exceed it.
  std::int64_t prefill_rows = 2560;
  /// Whether the rows of preempted sequences are moved to the host. False: they stay in the cache,
  /// and count as held blocks.
  bool swaps = true;
};

/// The effects of a cache budget.
struct CacheReport {
  std::int64_t peak_blocks = 0;  ///< maximum number of blocks held in a forward pass
  std::int64_t swapped = 0;      ///< number of preemptions that kept the rows
  std::int64_t recomputed = 0;   ///< number of preemptions that freed the rows for recomputation
  std::int64_t refed_rows = 0;
};

/// How many jobs and streams share the passes of one `run`. Counts full passes of the engine's own
/// network. Dividing a sum by `passes` gives a mean.
struct Occupancy {
  std::int64_t passes = 0;
  std::int64_t job_passes = 0;  ///< number of jobs in a pass, summed over passes
  /// number of streams (answers, values, threads) that chose tokens from a pass, summed over passes
  std::int64_t stream_passes = 0;
};

/// The minimum length of a job's answer. A sequence of the job cannot choose an id in `ends` before
/// it has `tokens` tokens after the prompt.
struct LeastLength {
  int tokens = 0;
  Tokens ends;
};

/// Decodes jobs: packs the pending steps of all sequences into one forward pass after another.
/// Passes of a draft network and passes with skipped sublayers are computed first, so that all
/// sequences share the full pass of the network. Not thread-safe.
class Engine {
 public:
  /// `model` and `clock` must outlive the engine.
  Engine(Model& model, const Clock& clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Model& model() { return model_; }
  const Clock& clock() const { return clock_; }

  /// Opens an empty sequence. `request` and `decoder` are its names in traces.
  Sequence open(const RequestName& request, const std::string& decoder);

  /// The prefixes that are computed once for all sequences of one `run`. They are cleared at the
  /// beginning and at the end of a run, so that no measured block benefits from an earlier block.
  PrefixCache& prefixes() { return *prefixes_; }

  /// Takes effect from the next forward pass on. Sequences are admitted in order of arrival as long
  /// as blocks are free; blocks of unused `prefixes` are freed for them. If running sequences no
  /// longer fit, those that arrived last are preempted: plain causal text is recomputed later; all
  /// other rows are kept on the host. A sequence that does not fit even alone ends with a RunError.
  /// The budget does not include the caches of draft networks and rows computed with skipped
  /// sublayers.
  void set_cache_budget(const CacheBudget& budget) { budget_ = budget; }
  const CacheReport& cache_report() const { return report_; }

  /// True: later forks share the original's rows in memory, and attention reads these rows once for
  /// all forks (cascade inference). False: later forks copy the rows.
  void set_cascade(bool cascade) { cascade_ = cascade; }

  /// Sets rules that change logits before a choice, for later passes. They apply to each row of a
  /// full pass, based on the tokens visible to the row, in the order of the text. They also apply
  /// to guesses of a draft network, but not to guesses of extra heads, of mask tokens or of passes
  /// with skipped sublayers. `ends`: ids that end an answer, in addition to the network's own;
  /// rules about the end of an answer include them.
  void set_rules(GenerationRules rules, const std::vector<Token>& ends = {});

  /// Sets a function that gets the trace of each sequence when the sequence ends. Empty: no traces
  /// are recorded.
  void set_trace_sink(std::function<void(const Trace&)> sink);

  /// Sets a function that gets events as they happen. The function may submit and cancel jobs. Its
  /// running time is included in measured times. Empty: no listener.
  void set_listener(std::function<void(const Event&)> listener);

  // The engine as a loop: while (!engine.idle()) engine.step();

  /// Starts a job, and runs it until it waits for a forward pass. Returns the job's number for
  /// events and traces. Jobs are numbered from 0.
  int submit(Task<void> job, LeastLength least = {});
  /// Computes one forward pass for all waiting jobs, or, if a job requested them, more logits of
  /// the last pass. Reports the jobs that ended (Ended). Does nothing if the engine is idle.
  void step();
  /// Cancels a job and frees its rows; no more events are sent for it. If a listener cancels a job,
  /// this takes effect after all results of the pass have been processed. Does nothing if the job
  /// has ended.
  void cancel(int job);
  /// Whether no job is running.
  bool idle() const { return jobs_.empty(); }

  /// Runs `count` jobs, at most `live` at a time. `start(i)` creates job i, for i = 0, 1, ... in
  /// this order. `done` is called whenever a job ends. Returns the time spent in `done`, in
  /// nanoseconds, so that the caller can subtract it from its measurement. REQUIRES: idle().
  std::int64_t run(int count, int live, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  /// Occupancy since the beginning of the last `run`; without any `run`, since the engine was
  /// created.
  const Occupancy& occupancy() const { return occupancy_; }

  /// Number of rows of all open sequences in the cache now. Shared rows count once.
  std::int64_t held_rows() const;
  /// Number of blocks of the cache budget that are held now; 0 if there is no limit.
  std::int64_t held_blocks() const;
  const CacheBudget& cache_budget() const { return budget_; }

  /// Total time of the network's full forward passes, in nanoseconds.
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
  std::list<Waiting*> waiting_;            // wait for a forward pass, in order of arrival
  std::list<Waiting*> asking_;             // requests for more logits of the last pass
  std::list<Sequence::State*> sequences_;  // open sequences of the network, oldest first
  int running_ = -1;                       // the job that is running now; -1: none
  bool cascade_ = false;
  GenerationRules rules_;
  std::vector<Token> ends_;  // additional ids that end an answer
  CacheBudget budget_;
  CacheReport report_;
  Occupancy occupancy_;
  std::unique_ptr<PrefixCache> prefixes_;
  int next_job_ = 0;
  bool stepping_ = false;
  std::vector<int> cancelled_;  // jobs cancelled during step()
  std::list<Job> jobs_;         // oldest first; destroying a job withdraws its pending steps
};

/// Awaits one forward pass, or more logits of the last one. It lives in the frame of the waiting
/// coroutine; destroying the frame withdraws the step.
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
  bool further_;  // awaits logits of the last pass, not a new pass
};

}  // namespace pardec
