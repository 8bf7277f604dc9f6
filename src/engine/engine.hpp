#pragma once
#include <coroutine>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/counters.hpp"
#include "src/engine/events.hpp"
#include "src/engine/task.hpp"
#include "src/engine/trace.hpp"
#include "src/model/files/generation_rules.hpp"
#include "src/model/model.hpp"
#include "src/support/clock.hpp"

namespace pardec {

class Engine;
class PrefixCache;

/// Where a row's token comes from.
enum class Origin {
  prompt,  ///< the prompt
  forced,  ///< fed without being chosen: skeleton, prefixes, masks
  chosen,  ///< the choice of an earlier row
  draft,   ///< a guess that is to be checked
};

/// The tokens that one branch of a sequence feeds in one forward pass.
struct Step {
  std::vector<Token> tokens;
  std::vector<RowLabel> labels;
  std::vector<Origin> origins;
  std::vector<int> from;  ///< row whose choice a token is, -1 for the others
  std::vector<OutputRequest> outputs;
  bool later = false;  ///< logits of further rows may be asked for when these have been seen
  int streams = 1;     ///< streams of choices that its outputs are of, e.g. all values of a prompt
  /// A draft of the network by itself: what it leaves out. Its rows must be taken back before the
  /// next whole pass.
  std::optional<SkippedSublayers> skipped;

  /// Returns the token's index in the step.
  int add(Token token, const RowLabel& label, Origin origin, int from_row = -1);
  /// Asks for the logits of the token at `index` in the step; `banned` ids are not to be chosen,
  /// and where some are `allowed`, no others.
  void want(int index, const Sampling& sampling = {}, std::vector<Token> banned = {},
            std::vector<Token> allowed = {});
  int size() const { return static_cast<int>(tokens.size()); }
};

/// A row at its natural position in the one segment of a plain text.
inline RowLabel text_label(int position) {
  return {.position = position, .order = position, .segment = 0, .rank = 0};
}

/// Prompt tokens of a plain text that go on behind its first `fed` ones.
Step prompt_step(const Tokens& tokens, int fed);

struct StepResult {
  int first_row = 0;               ///< name of the step's first row; the others follow
  std::vector<RowLogits> outputs;  ///< in the order they were asked for
  HiddenRows hidden;               ///< of the step's rows, where it said `later`
};

/// The rows of one text in the cache. Branches of one sequence await their forwards separately;
/// they enter a forward pass together. Dropping, keeping and relabelling take effect before the
/// next one.
class Sequence {
 public:
  Sequence(Sequence&&) noexcept;
  ~Sequence();

  class ForwardAwaiter;
  /// co_await: the forward pass that feeds `step`; a step without tokens waits for the other
  /// branches' next one. Throws ModelError for an id or position that the network lacks, before
  /// anything of the step is fed, and for rows whose logits are not finite (RowLogits::finite).
  ForwardAwaiter forward(Step step);
  /// co_await: the logits of further rows of a step that was fed with `later`, by their index in
  /// it, as StepResult::outputs. No forward pass: the head alone runs, over the rows that all
  /// sequences ask for at this point. REQUIRES: `seen` is the result of that step; none was fed
  /// since.
  ForwardAwaiter later(const StepResult& seen, std::vector<OutputRequest> outputs);

  int add_segment(const std::vector<int>& sees);
  /// Rows that were rejected or replaced.
  void drop(std::span<const int> rows);
  /// As drop, for rows that have served: they are no scratch.
  void release(std::span<const int> rows);
  void keep(int first, std::span<const int> rows);
  void relabel(int row, const RowLabel& label);
  /// Forgets the rows that were fed with sublayers skipped. They are in no trace, and their names
  /// are given again.
  void take_back_drafts();
  /// A sequence that goes on from the same rows; its counters start at zero.
  Sequence fork(const std::string& request);
  /// Counts its time from `ns` of the engine's clock on: what a fork had to wait for is its cost.
  void start_clock_at(std::int64_t ns);
  /// An empty sequence of a draft network, with a trace of its own under the same names; what it
  /// costs is counted as drafting of this one, which outlives it.
  Sequence open_draft(Model& draft);

  /// How many ids one of its answers may have at most, for rules about the last one.
  void set_limit(int limit);
  /// Notes that the choice of `row`, `token`, is the next token of one of the streams that this
  /// sequence has, which the decoder counts from 0. `guessed`: as in TokenEvent.
  void emit(int row, Token token, int stream = 0, bool guessed = false);
  /// Tells whoever listens that these guesses, one after another behind the token of `row`, were
  /// checked and are no part of the stream.
  void reject(int row, std::span<const Token> guesses, int stream = 0);
  /// Counts the answer's streams and text; everything else is counted by the engine.
  Counters& counters();
  /// Stops the clock, closes the books and gives up the rows. Returns what the sequence cost.
  Counters finish();
  int rows_fed() const;

 private:
  friend class Engine;
  struct State;
  explicit Sequence(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// How much of the KV cache all sequences may hold together, counted in blocks as a paged cache has
/// them, and whom it then takes (vLLM's scheduling, as in the batched runs of the APAR paper).
struct CacheBudget {
  std::int64_t blocks = 0;  ///< 0: no limit
  int block_rows = 16;
  double watermark = 0.01;  ///< share of the blocks left free where one more is taken in
  /// Of those taken in for one forward pass, with a limit or without; the first may have more.
  std::int64_t prefill_rows = 2560;
  /// False: there is no other memory for rows of those set aside; they stay, and count.
  bool swaps = true;
};

/// What a budget led to.
struct CacheReport {
  std::int64_t peak_blocks = 0;  ///< held in a forward pass, at most
  std::int64_t swapped = 0;      ///< times that a sequence was set aside with its rows
  std::int64_t recomputed = 0;   ///< times that its rows were given up and fed again
  std::int64_t refed_rows = 0;
};

/// What shared the whole passes of the engine's own network in one `run`; means are sums over
/// passes.
struct Occupancy {
  std::int64_t passes = 0;
  std::int64_t job_passes = 0;  ///< sum of the tasks that took part in a pass
  std::int64_t stream_passes =
      0;  ///< sum of the streams that chose from one: answers, values, threads
};

/// Decodes jobs: packs what all live sequences wait for into one forward pass after the other.
/// Passes of a draft network, and those with sublayers skipped, come first: all sequences then meet
/// in the network's own pass. Single-threaded.
class Engine {
 public:
  /// `model` and `clock` outlive the engine.
  Engine(Model& model, const Clock& clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Model& model() { return model_; }
  const Clock& clock() const { return clock_; }

  /// A new, empty sequence. `request` and `decoder` name it in traces.
  Sequence open(const std::string& request, const std::string& decoder);

  /// Prefixes that are computed once for all sequences of one `run`: it begins and ends without
  /// any, so that no block of a measurement is faster for an earlier one.
  PrefixCache& prefixes() { return *prefixes_; }

  /// From the next forward pass on. Sequences are taken in first come, first served while blocks
  /// are free, those of idle `prefixes` included; where those that run no longer fit, the latest
  /// are set aside: one plain causal thread is fed again later, anything else keeps its rows on the
  /// host. A sequence that cannot fit alone ends with a RunError. Draft networks have their own
  /// cache, which is not counted; rows fed with sublayers skipped are gone before a counted pass.
  void set_cache_budget(const CacheBudget& budget) { budget_ = budget; }
  const CacheReport& cache_report() const { return report_; }

  /// Whether sequences hold the rows that they were forked behind in common, and attend to them in
  /// one product for all (cascade inference), or each has a copy. Decides for forks from now on.
  void set_cascade(bool cascade) { cascade_ = cascade; }

  /// What is made of logits before a choice: of each row of a whole pass by what that row sees, in
  /// the order of the text. Drafts of a draft network go by them, too; those of extra heads, of
  /// masks and of the network with sublayers skipped do not. For the passes from now on.
  /// `ends`: at which answers end besides the network's own ends; rules about ends count them, too.
  void set_rules(GenerationRules rules, const std::vector<Token>& ends = {});

  /// Finished traces go there, in the order in which sequences end. Empty: none are recorded.
  void set_trace_sink(std::function<void(const Trace&)> sink);

  /// Is told what happens, as it happens; the time it takes counts. It may submit and cancel jobs.
  /// Empty: nobody listens.
  void set_listener(std::function<void(const Event&)> listener);

  // The engine as a loop: while (!engine.idle()) engine.step();

  /// Starts a job, which runs until it waits for a forward pass. Returns its number, which events
  /// and traces name; they count from 0.
  int submit(Task<void> job);
  /// One forward pass for all that wait, or further rows of the last one; tells of the jobs that
  /// ended (Ended). Nothing where the engine is idle.
  void step();
  /// Gives a job up where it stands, with its rows; it is not told of again. In a listener: as soon
  /// as the pass has been read. A job that is over already: nothing.
  void cancel(int job);
  /// No job is there.
  bool idle() const { return jobs_.empty(); }

  /// The closed case: runs `count` jobs, at most `live` at a time, to their end, numbered from 0.
  /// `start(i)` makes the i-th, `done` is called as each ends; both in here, in order of i and in
  /// order of end. The time spent in `done` is returned, so that a caller can leave it out of its
  /// measurement. REQUIRES: idle().
  std::int64_t run(int count, int live, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  /// Since the last `run` began; without one, of all jobs.
  const Occupancy& occupancy() const { return occupancy_; }

  /// Time spent inside the network's own whole forward passes so far.
  std::int64_t model_ns() const { return model_ns_; }

 private:
  friend class Sequence;
  struct Waiting;
  struct Packed;
  struct Job;
  void pass();
  std::vector<Ended> take_ended();
  Job& job(int number);
  void forward(const std::vector<Waiting*>& entering);
  static std::vector<Packed> pack(const std::vector<Waiting*>& entering);
  void schedule(std::vector<Packed>& packed);
  void set_aside(Packed& late);
  void count(const std::vector<Packed>& packed);
  std::int64_t blocks(std::int64_t rows) const;
  std::int64_t held_blocks() const;
  bool holds(const Sequence::State& sequence) const;
  void answer_later();
  void resume(std::list<Waiting*>& queue);

  Model& model_;
  const Clock& clock_;
  std::function<void(const Trace&)> sink_;
  std::function<void(const Event&)> listener_;
  std::int64_t model_ns_ = 0;
  std::list<Waiting*> waiting_;            // for a forward pass, in order of arrival
  std::list<Waiting*> asking_;             // for further rows of the last one
  std::list<Sequence::State*> sequences_;  // all of the network that are open, oldest first
  int running_ = -1;                       // job that goes on right now
  bool cascade_ = false;
  GenerationRules rules_;
  std::vector<Token> ends_;  // for the rules
  CacheBudget budget_;
  CacheReport report_;
  Occupancy occupancy_;
  std::unique_ptr<PrefixCache> prefixes_;
  int next_job_ = 0;
  bool stepping_ = false;
  std::vector<int> cancelled_;  // while stepping
  std::list<Job> jobs_;         // oldest first; what they wait for goes with them
};

/// Awaits one forward pass, or further rows of it. Lives in the frame of the coroutine that waits:
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
  bool further_;  // rows of the last pass, not a pass of its own
};

}  // namespace pardec
