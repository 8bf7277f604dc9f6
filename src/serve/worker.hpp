#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/serve/job_queue.hpp"
#include "src/serve/pass_tokens.hpp"
#include "src/serve/text_release.hpp"
#include "src/serve/token_scores.hpp"
#include "src/tasks/given_requests.hpp"
#include "src/tasks/session.hpp"

namespace pardec::serve {

/// The result of a job.
struct WorkResult {
  Answers answers;
  std::string text;                ///< text of the answer, up to the first stop string
  bool at_stop = false;            ///< whether the answer ended at a stop string
  std::vector<TokenScore> scores;  ///< scores of the answer's tokens; empty: not requested
  /// scores of the prompt's tokens except the first token; empty: not requested
  std::vector<TokenScore> prompt_scores;
  std::int64_t queued_ns = 0;  ///< time in the queue, in nanoseconds
  std::exception_ptr error;    ///< why the job failed; null: success
};

/// One job for the engine. Its functions are called on the engine's thread. `text`, `pass` and
/// `ended` must not throw. An exception from `written` becomes the error of the result.
struct Work {
  std::shared_ptr<const Decoder> decoder;
  std::shared_ptr<const GivenRequests> given;  ///< contains one request
  std::uint64_t seed = 1;
  std::vector<std::string> stops;  ///< stop strings; none is empty
  bool ignore_eos = false;
  int min_tokens = 0;     ///< minimum number of generated tokens before an end-of-sequence token
  std::int64_t rows = 0;  ///< maximum number of cache rows that the job needs
  bool decodes = true;    ///< false: nothing is decoded; the prompt can still be scored
  /// The number of ids in TokenScore::top. `logprobs`: for the answer's tokens; `prompt_logprobs`:
  /// for the prompt's tokens. None: these tokens are not scored.
  std::optional<int> logprobs, prompt_logprobs;
  /// Returns the text of the answer. Called after decoding has ended, so that `text` receives
  /// nothing before. If `written` is empty, the text is the decoder's own output, and `text`
  /// receives parts of this output while decoding runs (see Request::reader).
  std::function<std::string(const Answers& answers)> written;
  /// Called with the next part of the answer's text as soon as this part cannot change any more
  /// (TextRelease). May be empty.
  std::function<void(std::string text)> text;
  /// Called after each pass that added tokens or streams to the answer. May be empty.
  std::function<void(PassTokens pass)> pass;
  /// Called once, at the end of the job. Not called if the job was cancelled or dropped
  /// (Worker::run).
  std::function<void(WorkResult result)> ended;
};

/// Runs jobs on one engine, at most Queue::Bounds::live jobs at a time. Jobs start in order of
/// arrival, between two forward passes. If the engine has no room, a job waits until another job
/// has ended or was cancelled.
class Worker {
 private:
  struct Timed {
    Work work;
    std::int64_t since_ns;
  };

 public:
  using Queue = JobQueue<Timed>;
  /// REQUIRES: `session` has a tokenizer and outlives this object, and nothing else uses its
  /// engine.
  Worker(Session& session, const Queue::Bounds& bounds);
  ~Worker();

  /// Runs jobs until stop() is called. Jobs that have not ended by then are dropped, and their
  /// `ended` is not called. An exception of the engine becomes the error of all jobs in the engine.
  /// The calling thread is the engine's thread, and must be the thread that loaded the network.
  void run();

  // The next five functions may be called on any thread:

  void stop() { queue_.stop(); }
  /// Adds the jobs of a request, and returns a number for each job, in the order of `works`. The
  /// number identifies the job in cancel(). If there is no room for all jobs (Queue::Bounds), adds
  /// no job, and returns an empty list.
  std::vector<std::uint64_t> submit(std::vector<Work> works);
  /// Whether submit() would now add one job that needs no cache rows.
  bool has_room() const { return queue_.has_room(); }
  /// Cancels the jobs with these numbers. The cache rows of these jobs are freed before the next
  /// forward pass. Does nothing for jobs that have ended.
  void cancel(const std::vector<std::uint64_t>& numbers) { queue_.cancel(numbers); }

  /// The current load of the engine, and counts of its passes so far.
  struct Load {
    std::size_t running = 0, waiting = 0;  ///< number of jobs in the engine, and in the queue
    std::int64_t passes = 0;               ///< number of passes of the engine so far
    std::int64_t job_passes = 0;  ///< sum over these passes of the number of jobs in the pass
    std::int64_t held_rows = 0;   ///< number of cache rows in use
    /// share of the cache budget in use, 0 to 1; 0 without a budget
    double held_share = 0;
  };
  /// The load. `running` and `waiting` are current; the other members are as of the end of the last
  /// pass.
  Load load() const;

 private:
  struct Live;
  void drop(const std::vector<std::uint64_t>& numbers);
  void start(Queue::Entry entry);
  Task<void> decode(Live& live);
  void listen();
  void tell_passes();
  void note_load();
  std::list<Live> take_over();

  Session& session_;
  Queue queue_;
  std::list<Live> live_;    // used on the engine's thread only
  bool listening_ = false;  // to the engine's events; engine's thread only
  // Copies of the engine's numbers, for load().
  std::atomic<std::int64_t> passes_ = 0, job_passes_ = 0, held_rows_ = 0, held_blocks_ = 0;
};

}  // namespace pardec::serve
