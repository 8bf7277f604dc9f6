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

/// The service that answers an arm: it sends the arm's prompts over HTTP, and turns replies into
/// streams. Times are those of this client, including queues, retries and the network.
class ServiceArm final : public StreamSource, private chat::Events {
 public:
  /// `session` has the tokenizer, and outlives this object. Asks the service which prompts it
  /// takes, as far as the arm's mode leaves that open. ConfigError: the description, or the key is
  /// missing. RunError: the service cannot be reached, or refuses.
  ServiceArm(const Arm& arm, const Session& session);
  ~ServiceArm() override;

  /// What a run stores of it: the service, how prompts are sent, and whether replies have ids.
  const Json& description() const { return description_; }
  /// Its row in place of a network's: equal hashes for the same model at the same address.
  ModelRow model_row() const;
  /// Whether prompts are sent in words.
  bool needs_words() const { return mode_ != PromptMode::ids; }

  /// From now on, requests are recorded in this database, and count for the budget over all of its
  /// runs. The store outlives this object.
  void record_in(Store& store) { store_ = &store; }

  /// As Engine::run. chat::StopRun: the service cannot be asked further.
  std::int64_t run(int count, int live, const std::function<Task<void>(int)>& start,
                   const std::function<void(const Ended&)>& done);

  Task<Stream> stream(StreamRequest request, const DecoderContext& context) override;

  /// A server may report guesses only in total, not per reply. Adds the total of the last `run` to
  /// the counters of its last job; does nothing if each reply reported its own guesses. Call it for
  /// each job as it ends.
  void add_block_guesses(Counters& counters);

 private:
  class Reply;  // awaits the reply to a call
  struct Job {
    int number;
    Task<void> task;
  };
  /// Passes that verified guesses, the guesses, and those accepted by their place.
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

  void find_mode(const Session& session);
  chat::Call call_of(const StreamRequest& request, const DecoderContext& context);
  Stream stream_of(const StreamRequest& request, const DecoderContext& context,
                   const chat::Reply& reply);
  /// The server's counters of guesses (vLLM's, in /metrics); none: it has none.
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
  std::optional<GuessCounters> block_guesses_;  ///< set before the last job's `done`
  std::deque<Reply*> queue_;                    ///< not asked yet
  std::map<std::string, Reply*> waiting_;       ///< asked, by the call's key
  std::list<Job> jobs_;
};

}  // namespace pardec
