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

/// The end of a job.
struct WorkResult {
  Answers answers;
  std::string text;                       ///< up to the first stop string
  bool at_stop = false;                   ///< it ended at a stop string
  std::vector<TokenScore> scores;         ///< of the answer's tokens
  std::vector<TokenScore> prompt_scores;  ///< of the prompt's tokens, without the first
  std::int64_t queued_ns = 0;             ///< time before it was begun
  std::exception_ptr error;
};

/// One job for the engine. Its functions are called on the engine's thread; `text`, `pass`
/// and `ended` must not throw.
struct Work {
  std::shared_ptr<const Decoder> decoder;
  std::shared_ptr<const GivenRequests> given;  ///< with one request
  std::uint64_t seed = 1;
  std::vector<std::string> stops;
  bool ignore_eos = false;
  int min_tokens = 0;     ///< no end of sequence is chosen before this number of tokens
  std::int64_t rows = 0;  ///< of the cache that it may need
  bool decodes = true;    ///< false: there is no answer, the prompt is scored alone
  /// Scores of the answer's tokens and of the prompt's, each with so many of the likeliest ids.
  std::optional<int> logprobs, prompt_logprobs;
  /// Makes the text of the answer, which is then known at its end only. Empty: it is the text that
  /// the decoder writes.
  std::function<std::string(const Answers& answers)> written;
  /// Receives the answer's text in order, as soon as it is certain. Empty: only the end matters.
  std::function<void(std::string text)> text;
  /// Receives the tokens of each pass that added tokens. Empty: tokens are not reported.
  std::function<void(PassTokens pass)> pass;
  /// Called once, unless the job was cancelled before.
  std::function<void(WorkResult result)> ended;
};

/// Runs jobs on one engine, whose loop they join and leave between forward passes, when they end or
/// are cancelled. First come, first served.
class Worker {
 private:
  struct Timed {
    Work work;
    std::int64_t since_ns;
  };

 public:
  using Queue = JobQueue<Timed>;
  /// `session` must outlive this object, and nobody else may use its engine.
  Worker(Session& session, const Queue::Bounds& bounds);
  ~Worker();

  /// Works until `stop`, on the engine's thread: the one that loaded the network. Jobs that are
  /// left then are dropped without an end.
  void run();

  // From any thread:

  void stop() { queue_.stop(); }
  /// Adds the jobs of a request. Returns their numbers; empty: there is no room for all of
  /// them, so none was added.
  std::vector<std::uint64_t> submit(std::vector<Work> works);
  /// Whether a further job would be admitted if it needed no row.
  bool has_room() const { return queue_.has_room(); }
  /// Frees the job's rows before the next forward pass. Does nothing if it has ended.
  void cancel(const std::vector<std::uint64_t>& numbers) { queue_.cancel(numbers); }

  struct Load {
    std::size_t running = 0, waiting = 0;
    std::int64_t passes = 0, job_passes = 0;  ///< since the start
    std::int64_t held_rows = 0;               ///< of the cache, at this moment
    double held_share = 0;                    ///< of the cache budget; 0: there is none
  };
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
  std::list<Live> live_;    // of the engine's thread
  bool listening_ = false;  // to the engine; of its thread
  // As the engine's, for `load`.
  std::atomic<std::int64_t> passes_ = 0, job_passes_ = 0, held_rows_ = 0, held_blocks_ = 0;
};

}  // namespace pardec::serve
