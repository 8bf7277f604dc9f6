#pragma once
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"
#include "src/chat/service.hpp"
#include "src/store/judgments.hpp"

/// Sends questions to a chat service. Answers are kept in the store: a question with a stored
/// answer is not sent again, and each reply is stored as it arrives.
namespace pardec {

/// Sends the calls from `next` to a service, and reports to `events`. See chat::Service::ask.
using AskService = std::function<void(const chat::NextCall& next, chat::Events& events)>;

/// The outcome of a question.
struct QuestionOutcome {
  ReplyRow reply;  ///< id 0: a new reply; otherwise the id of a stored one
  VoteState state = VoteState::unscored;
  std::string problem;  ///< why the reply contains no verdict; empty: it contains one
};

struct Question {
  Inquiry inquiry;
  int vote = 0;   ///< number of the vote; each vote on the same inquiry is a question of its own
  int order = 0;  ///< order of two answers; each order is a question of its own
  /// Returns why a reply is not readable; empty: it is readable.
  std::function<std::string(std::string_view reply)> problem;
  /// Makes the inquiry to send after a reply that is not readable. Empty: the question is sent only
  /// once.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;
  /// Gets the outcome, and returns the votes to store with the reply.
  std::function<std::vector<JudgmentRow>(const QuestionOutcome&)> take;
  int asked = 1;
};

/// What to do with a stored reply that is not usable (refused, cut short, or not readable).
/// asked_anew: the question is sent again; used for judging, where votes are stored with the reply.
/// stands: the reply is the outcome, so that no question is paid for twice.
enum class UselessReply { asked_anew, stands };

/// Sends the questions of one task to one judge or teacher, and stores attempts and replies.
class Questioning : public chat::Events {
 public:
  /// `store`: null for a dry run, in which every question becomes a call. `more`: called when no
  /// question is waiting; returns the next one, or none if there is no question at the moment.
  /// `heard`: called after each reply.
  Questioning(Store* store, NamedRecord judge, std::int64_t max_tokens, UselessReply useless,
              std::function<std::optional<Question>()> more, std::function<void()> heard);

  /// Adds a question. It is sent before questions from `more`.
  void put(Question question) { waiting_.push_back(std::move(question)); }

  /// The next call. Questions with a stored answer get this answer and become no call.
  std::optional<chat::Call> next();
  std::int64_t calls() const { return calls_; }  ///< number of replies that arrived

  void sending(const chat::Call& call, const chat::Attempt& attempt) override;
  void settled(const chat::Call& call, const chat::Attempt& attempt) override;
  void replied(const chat::Call& call, const chat::Reply& reply) override;

 private:
  RowId judge();
  std::optional<ReplyRow> answered_before(const std::string& key, const Question& question);
  /// Handles a reply, and stores it if it is new. Returns the reply's id.
  RowId take(Question question, ReplyRow reply);

  Store* store_;
  NamedRecord record_;
  std::optional<RowId> judge_;
  std::int64_t max_tokens_;
  UselessReply useless_;
  std::function<std::optional<Question>()> more_;
  std::function<void()> heard_;
  std::string process_;
  std::int64_t calls_ = 0;
  std::deque<Question> waiting_;
  // call key -> questions; equal questions share a call
  std::map<std::string, std::vector<Question>> under_way_;
};

/// The call for a question. Its key is a hash of everything that may affect the reply.
chat::Call call_of(const NamedRecord& judge, const Question& question, std::int64_t max_tokens);

}  // namespace pardec
