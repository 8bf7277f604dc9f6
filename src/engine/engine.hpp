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
#include "src/engine/load_windows.hpp"
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
  std::vector<RowLabel> labels;  ///< one per token
  std::vector<Origin> origins;   ///< one per token
  /// per token: number (in the sequence) of the row whose logits chose the token; -1: the token was
  /// not chosen
  std::vector<int> from;
  /// The requested logits. OutputRequest::index is an index in `tokens`.
  std::vector<OutputRequest> outputs;
  bool later = false;  ///< whether Sequence::later may request logits of more rows
  /// Number of streams that choose tokens from `outputs`, e.g. the number of values that are
  /// decoded in parallel (see Occupancy).
  int streams = 1;
  /// If set, this step makes guesses with a part of the network: its pass skips these sublayers.
  /// The pass's rows must be removed with Sequence::take_back_drafts before the next full pass of
  /// the sequence. Otherwise Engine::step and Engine::run throw std::logic_error.
  std::optional<SkippedSublayers> skipped;

  /// Adds a token, and returns its index in the step. `from_row`: the token's entry in `from`.
  int add(Token token, const RowLabel& label, Origin origin, int from_row = -1);
  /// Requests the logits of the token at `index` in the step. The ids in `banned` cannot be chosen.
  /// If `allowed` is not empty, only its ids can be chosen.
  void want(int index, const Sampling& sampling = {}, std::vector<Token> banned = {},
            std::vector<Token> allowed = {});
  int size() const { return static_cast<int>(tokens.size()); }
};

/// The label of a row in plain causal text: position and order count from 0, segment and rank are
/// 0.
inline RowLabel text_label(int position) {
  return {.position = position, .order = position, .segment = 0, .rank = 0};
}

/// A step with all of `tokens`, as the part of a plain prompt that begins at position `first`. The
/// labels are text_label(first), text_label(first + 1), ... No logits are requested.
Step prompt_step(const Tokens& tokens, int first);

/// The result of a step (Sequence::forward).
struct StepResult {
  /// number of the step's first row in the sequence; the other rows follow in order
  int first_row = 0;
  std::vector<RowLogits> outputs;  ///< one per entry of Step::outputs, in this order
  /// The last layer's outputs for the step's rows; empty unless Step::later was set.
  HiddenRows hidden;
};

/// The rows of one text in the KV cache. A sequence may have several branches. Each branch awaits
/// its own forward passes, and the engine computes the waiting steps of all branches in one pass.
/// drop, release, keep and relabel take effect before the next pass.
class Sequence {
 public:
  Sequence(Sequence&&) noexcept;
  ~Sequence();

  class ForwardAwaiter;
  /// co_await: computes `step` in the next forward pass. A step without tokens waits for the next
  /// pass of another branch; if no branch has tokens, co_await returns without a pass. ModelError,
  /// before any row is computed: an id or a position is outside the network's range, or the step
  /// does not fit the network's sliding window (check_window). ModelError, after the pass: the
  /// logits of a requested row are not finite (RowLogits::finite). RunError: the sequence does not
  /// fit into the cache budget, even alone. If Model::forward throws, all sequences of the pass
  /// fail with this exception. These errors are thrown by co_await, not by Engine::step.
  ForwardAwaiter forward(Step step);
  /// co_await: the logits of more rows of a step that was computed with Step::later.
  /// OutputRequest::index is an index in Step::tokens of that step. The result has the new
  /// `outputs`; its other members equal those of `seen`. This is not a forward pass: only the heads
  /// are computed, in one batch for all sequences that request further rows. Engine::set_rules does
  /// not apply. ModelError: the logits of a requested row are not finite. If Model::further throws,
  /// all requests of the batch fail with this exception, e.g. std::logic_error: the step does not
  /// have a requested row. REQUIRES: `seen` is the result of the step, no other step of this
  /// sequence was computed after it, and this is not a sequence of a draft network.
  ForwardAwaiter later(const StepResult& seen, std::vector<OutputRequest> outputs);

  /// Adds a segment that sees itself and the segments in `sees`, and returns its number. Errors:
  /// see Segments::add.
  int add_segment(const std::vector<int>& sees);
  /// Drops rows whose tokens were rejected or replaced, and counts these rows in the counter
  /// `scratch`. REQUIRES: the rows are alive; otherwise std::logic_error.
  void drop(std::span<const int> rows);
  /// Drops rows that were part of the answer but are no longer needed. They are not counted in
  /// `scratch`. REQUIRES: as for `drop`.
  void release(std::span<const int> rows);
  /// Calls `drop` for all live rows whose number is at least `first`, except those in `rows`. Rows
  /// in `rows` need not be alive.
  void keep(int first, std::span<const int> rows);
  /// Changes order, segment and rank of a row. Errors: see KvCache::relabel.
  void relabel(int row, const RowLabel& label);
  /// Removes all rows that were computed with skipped sublayers. No trace contains these rows. The
  /// next new rows have the same numbers again. Does nothing if there are no such rows.
  void take_back_drafts();
  /// Returns a new sequence that continues from the same rows. `request`: the name of the new
  /// sequence in traces. The counters of the new sequence start at zero.
  Sequence fork(const RequestName& request);
  /// Sets the time at which the sequence started, in nanoseconds of the engine's clock. With this
  /// function, the times of a fork can include the time until its prefix was computed.
  void start_clock_at(std::int64_t ns);
  /// Opens an empty sequence of a draft network. The counters draft_forwards, draft_fed and
  /// draft_ns of this sequence count the draft network's passes. The draft sequence has its own
  /// trace, with the names of this sequence. This sequence and `draft` must outlive the draft
  /// sequence.
  Sequence open_draft(Model& draft);

  /// Sets the maximum number of tokens after the prompt; 0: unknown. GenerationRules::forced_eos
  /// depends on this limit. The engine does not enforce the limit.
  void set_limit(int limit);
  /// Reports that `token`, chosen from the logits of `row`, is the next token of the answer in
  /// stream `stream`. The decoder numbers the streams of the sequence from 0. `guessed`: see
  /// TokenEvent. The engine counts the token, records it in the trace, and sends it to the
  /// listener. Exceptions of the listener pass through. REQUIRES: if there is a listener, the
  /// sequence was opened by a job that has not ended.
  void emit(int row, Token token, int stream = 0, bool guessed = false);
  /// Reports to the listener that `guesses` for the tokens after `row` were verified and rejected.
  /// Errors and REQUIRES: as for `emit`.
  void reject(int row, std::span<const Token> guesses, int stream = 0);
  /// The counters of the sequence. The engine sets the counters of rows, passes and times. The
  /// decoder sets the counters of the answer: generated tokens, streams, text, stages, and
  /// `drafted` and `accepted`.
  Counters& counters();
  /// Stops the clock, completes counters and trace, and frees the rows. Returns the final counters.
  /// A second call only returns the counters. A sequence that is destroyed without this call leaves
  /// no trace. Exceptions of the listener and of the trace sink pass through.
  Counters finish();
  /// Number of rows computed so far, which is the number of the next new row. A fork includes the
  /// rows of its original.
  int rows_fed() const;

 private:
  friend class Engine;
  struct State;
  explicit Sequence(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A limit for the KV cache of all sequences together. The cache is counted in blocks, like a paged
/// cache. Sequences are scheduled as in vLLM, on which the batched runs of the APAR paper are
/// based.
struct CacheBudget {
  std::int64_t blocks = 0;  ///< 0: no limit
  int block_rows = 16;      ///< rows per block, at least 1
  /// Share of the blocks that stays free when a sequence is admitted next to others, from 0 to 1.
  double watermark = 0.01;
  /// Maximum number of rows that new and returning sequences may add to one forward pass (prefill).
  /// This limit also applies if `blocks` is 0. The first of these sequences in a pass may exceed
  /// the limit.
  std::int64_t prefill_rows = 2560;
  /// Whether the rows of preempted sequences are moved to the host if they cannot be recomputed.
  /// False: these rows stay in the cache, and count as held blocks.
  bool swaps = true;
};

/// The effects of a cache budget, since the engine was created.
struct CacheReport {
  /// largest number of cache blocks held in a forward pass so far; 0 if there is no limit
  std::int64_t peak_blocks = 0;
  std::int64_t swapped = 0;     ///< number of preemptions that kept the rows
  std::int64_t recomputed = 0;  ///< number of preemptions that freed the rows for recomputation
  std::int64_t refed_rows = 0;  ///< number of rows computed again after such preemptions
};

/// How many jobs and streams share the passes of one `run`. Only full passes of the engine's own
/// network count. Dividing a sum by `passes` gives a mean.
struct Occupancy {
  std::int64_t passes = 0;      ///< number of passes
  std::int64_t job_passes = 0;  ///< number of jobs in a pass, summed over passes
  /// number of streams (answers, values, threads) that chose tokens from a pass, summed over passes
  std::int64_t stream_passes = 0;
  /// number of experts whose weights a pass read, summed over layers and passes
  std::int64_t experts_read = 0;
  /// use of the cache over the time of the last `run`; set when `run` has ended
  std::vector<LoadSums> load = {};
};

/// The minimum length of a job's answer. A sequence of the job cannot choose an id in `ends` before
/// it has `tokens` tokens after the prompt.
struct LeastLength {
  int tokens = 0;  ///< 0: no minimum
  Tokens ends;     ///< ids that would end the answer
};

/// Decodes jobs. A job is a coroutine that awaits the forward passes of its sequences. The engine
/// packs the waiting steps of all sequences into one forward pass after another. Passes of a draft
/// network and passes with skipped sublayers are computed first, so that all sequences share the
/// full pass of the network. Not thread-safe.
class Engine {
 public:
  /// `model` and `clock` must outlive the engine. REQUIRES: the model was loaded with weights.
  Engine(Model& model, const Clock& clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Model& model() { return model_; }
  const Clock& clock() const { return clock_; }

  /// Opens an empty sequence. `request` and `decoder` are the names of the sequence in traces.
  Sequence open(const RequestName& request, const std::string& decoder);

  /// The prefixes that are computed once for all sequences. `run` clears them at its beginning and
  /// at its end, so that no measured block benefits from an earlier block. `submit` and `step` keep
  /// them.
  PrefixCache& prefixes() { return *prefixes_; }

  /// Sets the cache budget, from the next forward pass on. Sequences are admitted in order of
  /// arrival as long as blocks are free; the engine frees unused `prefixes` for them. If running
  /// sequences no longer fit, the sequences that arrived last are preempted. The rows of a
  /// preempted sequence are freed and recomputed later if they are plain causal text and the
  /// sequence waits with a single new token. Other rows are moved to the host
  /// (CacheBudget::swaps). If a sequence does not fit even alone, co_await throws RunError in its
  /// waiting branches. The budget does not include the caches of draft networks or rows computed
  /// with skipped sublayers.
  void set_cache_budget(const CacheBudget& budget) { budget_ = budget; }
  const CacheReport& cache_report() const { return report_; }

  /// True: later forks share the original's rows in memory, and attention reads these rows once for
  /// all forks (cascade inference). False (the default): later forks copy the rows.
  void set_cascade(bool cascade) { cascade_ = cascade; }

  /// Sets rules that change logits before a choice. They take effect from the next pass on. They
  /// apply to each row whose logits are requested with a step, based on the tokens visible to the
  /// row, in the order of the text. They also apply to the passes of a draft network. They do not
  /// apply to extra heads, to passes with skipped sublayers, or to rows requested with
  /// Sequence::later. `ends`: ids that end an answer in addition to the network's own; rules about
  /// the end of an answer treat both kinds alike.
  void set_rules(GenerationRules rules, const std::vector<Token>& ends = {});

  /// Sets a function that receives the trace of each sequence when the sequence is finished
  /// (Sequence::finish). Only sequences that are opened after this call have traces. Empty: no
  /// traces are recorded.
  void set_trace_sink(std::function<void(const Trace&)> sink);

  /// Sets a function that receives events as they happen. The function may submit and cancel jobs.
  /// The running time of the function is included in measured times. Empty: no listener.
  void set_listener(std::function<void(const Event&)> listener);

  // The engine as a loop: while (!engine.idle()) engine.step();

  /// Starts a job, and runs it until it waits for a forward pass or ends. Returns the job's number
  /// for events and traces. Jobs are numbered from 0; each `run` begins again at 0. `least`: the
  /// minimum length of the job's answer. If the job throws, `step` reports the exception
  /// (Ended::error).
  int submit(Task<void> job, LeastLength least = {});
  /// Computes one forward pass for the waiting jobs that can share it. If a job has called
  /// Sequence::later, computes these logits instead. Reports the jobs that ended to the listener
  /// (Ended). Does nothing if the engine is idle. std::logic_error: a job awaits something other
  /// than the engine, or awaits a full pass before it has removed its drafts (Step::skipped). The
  /// engine itself sends Ended, and PassRead for all passes but the last of a sequence; exceptions
  /// of the listener for these events pass through. If a call in a job sends the event
  /// (Sequence::emit, reject, finish), the listener's exception is thrown by this call.
  void step();
  /// Cancels a job and frees its rows. No more events are sent for the job, not even Ended. A
  /// cancellation during a pass, e.g. by the listener, takes effect after all results of the pass
  /// have been processed. Does nothing if the job has ended.
  void cancel(int job);
  /// Whether no job is left: all jobs were cancelled, or have ended and were reported.
  bool idle() const { return jobs_.empty(); }

  /// Runs `count` jobs, at most `live` at a time (`live` < 1 counts as 1). `start(i)` creates job
  /// i; it is called for 0, 1, ... in this order. `done` is called whenever a job ends, also if the
  /// job threw an exception (Ended::error). Returns the time spent in `done`, in nanoseconds, so
  /// that the caller can subtract it from its measurement. An exception of `start` or of `done`
  /// ends the run, and all jobs are cancelled. An exception that `step` throws has the same effect.
  /// REQUIRES: idle(); otherwise std::logic_error.
  std::int64_t run(int count, int live, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  /// Occupancy since the beginning of the last `run`; without any `run`, since the engine was
  /// created.
  const Occupancy& occupancy() const { return occupancy_; }

  /// Number of rows in the cache now, of all open sequences except those of draft networks. Rows
  /// that preemption freed or moved to the host do not count. Shared rows count once.
  std::int64_t held_rows() const;
  /// Number of blocks of the cache budget that are held now; 0 if there is no limit.
  std::int64_t held_blocks() const;
  const CacheBudget& cache_budget() const { return budget_; }

  /// Total time of the network's full forward passes since the engine was created, in nanoseconds.
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
  std::vector<Token> ends_;  // ids that end an answer, for the rules
  CacheBudget budget_;
  CacheReport report_;
  Occupancy occupancy_;
  // Of the last pass: rows in the cache, whether it left steps out for lack of room, tokens chosen.
  std::int64_t pass_rows_ = 0, pass_tokens_ = 0;
  bool pass_held_back_ = false;
  std::unique_ptr<PrefixCache> prefixes_;
  int next_job_ = 0;
  bool stepping_ = false;
  std::vector<int> cancelled_;  // jobs cancelled during step()
  std::list<Job> jobs_;         // oldest first; destroying a job withdraws its pending steps
};

/// Awaits one forward pass, or more logits of the last pass (Sequence::later). The awaiter lives in
/// the frame of the waiting coroutine; destroying the frame withdraws the step.
class Sequence::ForwardAwaiter {
 public:
  /// `seen`: for Sequence::later, the result of the step; null: a forward pass is awaited.
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
