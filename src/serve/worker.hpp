#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/serve/text_release.hpp"
#include "src/serve/token_scores.hpp"
#include "src/tasks/given_requests.hpp"
#include "src/tasks/session.hpp"

namespace pardec::serve {

/// The end of a job.
struct WorkResult {
  Answers answers;
  std::string text;      ///< up to the first stop string
  bool at_stop = false;  ///< it ended at a stop string
  std::vector<TokenScore> scores;
  std::int64_t queued_ns = 0;  ///< time before it was begun
  std::exception_ptr error;
};

/// One job for the engine. Its functions are called on the engine's thread; `text` and `ended` must
/// not throw.
struct Work {
  std::shared_ptr<const Decoder> decoder;
  std::shared_ptr<const GivenRequests> given;  ///< with one request
  std::uint64_t seed = 1;
  std::vector<std::string> stops;
  bool ignore_eos = false;
  bool decodes = true;  ///< false: there is no answer, the prompt is scored alone
  std::optional<int>
      logprobs;                ///< scores of the answer's tokens, with so many of the likeliest ids
  bool prompt_scores = false;  ///< with `logprobs`: of the prompt's tokens too, without the first
  /// Makes the text of the answer, which is then known at its end only. Empty: it is the text that
  /// the decoder writes.
  std::function<std::string(const Answers& answers)> written;
  /// Receives the answer's text in order, as soon as it is certain. Empty: only the end matters.
  std::function<void(std::string text)> text;
  /// Called once, unless the job was cancelled before.
  std::function<void(WorkResult result)> ended;
};

/// Runs jobs on one engine, whose loop they join and leave between forward passes, when they end or
/// are cancelled. First come, first served.
class Worker {
 public:
  /// `live`: most jobs at a time; `waiting`: most jobs that wait for that. `session` must outlive
  /// this object, and nobody else may use its engine.
  Worker(Session& session, int live, int waiting);
  ~Worker();

  /// Works until `stop`, on the engine's thread: the one that loaded the network. Jobs that are
  /// left then are dropped without an end.
  void run();

  // From any thread:

  void stop();
  /// Adds the jobs of a request. Returns their numbers; empty: they are more than may wait, and
  /// none was added.
  std::vector<std::uint64_t> submit(std::vector<Work> works);
  /// Frees the job's rows before the next forward pass. Does nothing if it has ended.
  void cancel(const std::vector<std::uint64_t>& numbers);

  struct Load {
    std::size_t running = 0, waiting = 0;
    Occupancy passes;  ///< since the start
  };
  Load load() const;

 private:
  struct Live;
  struct Queued {
    std::uint64_t number;
    Work work;
    std::int64_t since_ns;
  };
  void drop_cancelled();
  void start(Queued queued);
  Task<void> decode(Live& live);
  std::list<Live> take_over();

  Session& session_;
  const std::size_t most_live_, most_waiting_;
  std::list<Live> live_;  // of the engine's thread
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Queued> queue_;
  std::vector<std::uint64_t> cancelled_;
  std::uint64_t next_number_ = 1;
  std::size_t running_ = 0;  // as `live_`, for `load`
  Occupancy passes_;         // as the engine's, for `load`
  bool stopping_ = false;
};

}  // namespace pardec::serve
