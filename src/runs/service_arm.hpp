#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "decoders/free_running.hpp"
#include "decoders/service/service.hpp"
#include "src/chat/service.hpp"
#include "src/engine/events.hpp"
#include "src/runs/arms.hpp"
#include "src/store/judgments.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

/// The client of a service that answers an arm. It sends the arm's prompts over HTTP, and converts
/// replies to streams. Times are measured at this client, and include queues, retries and the
/// network connection.
class ServiceArm final : public StreamSource, private chat::Events {
 public:
  /// Asks the service which kinds of prompts it accepts, unless the arm's option `mode` is `chat`.
  /// ConfigError: the description of the service is invalid, or the API key is missing. DataError:
  /// the file of the description cannot be read. RunError: the service cannot be reached, or
  /// refuses prompts of the arm's mode. REQUIRES: `session` has the tokenizer.
  ServiceArm(const Arm& arm, const Session& session);
  ~ServiceArm() override;

  /// The description that a run stores: the service, how prompts are sent, and whether replies have
  /// token ids.
  const Json& description() const { return description_; }
  /// The row that is stored instead of a network's row. Its hash depends only on the service's
  /// address and the name of its model.
  ModelRow model_row() const;
  /// True if prompts are sent as text or as the messages of a conversation; false if they are sent
  /// as token ids.
  bool needs_words() const { return mode_ != PromptMode::ids; }

  /// From now on, requests are recorded in this database, and the budget includes what earlier runs
  /// in this database spent on the service. `store` must outlive this object. REQUIRES: called
  /// before the first `run`.
  void record_in(Store& store) { store_ = &store; }

  /// Runs `count` jobs, at most `live` at a time, as Engine::run does. `start`, `done`: see
  /// Engine::run. Returns the time spent in `done` and for recording requests, in nanoseconds.
  /// chat::StopRun: no more requests can be sent. StoreError: a request cannot be recorded. Other
  /// errors: see paid_service and chat::Service. An exception of `start` or of `done` ends the run.
  std::int64_t run(int count, int live, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  /// Sends one prompt, and returns the reply as a stream. RunError: the service gives no answer, or
  /// the answer has more tokens than requested or ids that the tokenizer does not have. REQUIRES:
  /// called by a job of `run`.
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) override;

  /// Some servers report guesses only in total (vLLM's /metrics), and not in each reply. For these
  /// servers, adds to `counters` the guesses that the server counted during `run`, and the number
  /// of passes. The number of passes is the number of generated tokens minus the number of accepted
  /// guesses, since each pass adds one token that is not a guess. Call this in `done` for each job,
  /// with the job's counters. Only the call for the job that ends last changes its counters.
  void add_block_guesses(Counters& counters);

 private:
  class Reply;  // awaits the reply to a call
  struct Job {
    int number;
    Task<void> task;
  };
  /// Counters of the server. drafts: passes that verified guesses. drafted: guesses. accepted[i]:
  /// accepted guesses at place i of their pass, from 0.
  struct GuessCounters {
    std::int64_t drafts = 0, drafted = 0;
    std::vector<std::int64_t> accepted;
    GuessCounters operator-(const GuessCounters& before) const {
      GuessCounters since = *this;
      since.drafts -= before.drafts, since.drafted -= before.drafted;
      for (std::size_t i = 0; i < before.accepted.size() && i < since.accepted.size(); ++i)
        since.accepted[i] -= before.accepted[i];
      return since;
    }
  };

  void sending(const chat::Call& call, const chat::Attempt& attempt) override;
  void settled(const chat::Call& call, const chat::Attempt& attempt) override;
  void replied(const chat::Call& call, const chat::Reply& reply) override;

  /// Sets mode_ and gives_ids_ by test requests to the service.
  void find_mode(const Session& session);
  chat::Call call_of(const StreamRequest& request, const DecoderContext& context);
  Stream stream_of(const StreamRequest& request, const DecoderContext& context,
                   const chat::Reply& reply);
  /// The server's total counters of guesses (in vLLM's /metrics). None: the server does not have
  /// them.
  std::optional<GuessCounters> read_guesses() const;
  void record(const chat::Call& call, const chat::Attempt& attempt);
  chat::Service& service();

  std::string label_;
  ServiceOptions options_;
  chat::ServiceSpec spec_;
  PromptMode mode_;
  bool gives_ids_ = false;  ///< whether replies have token ids
  Json description_;
  std::string tokenizer_hash_;

  Store* store_ = nullptr;
  std::optional<RowId> ledger_;
  std::string process_;
  std::unique_ptr<chat::Service> service_;  ///< made by the first `run`

  // during `run`
  std::int64_t calls_ = 0, outside_ns_ = 0, block_chosen_ = 0;
  bool tells_guesses_ = true, replies_tell_ = false;
  std::optional<GuessCounters> block_guesses_;  ///< set before `done` is called for the last job
  std::deque<Reply*> queue_;                    ///< calls that are not sent yet
  std::map<std::string, Reply*> waiting_;       ///< calls that were sent, by their keys
  std::list<Job> jobs_;
};

}  // namespace pardec
