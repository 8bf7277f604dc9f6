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
  ReplyRow reply;  ///< `id` is 0 for a new reply, which is not stored yet
  VoteState state = VoteState::unscored;
  std::string problem;  ///< why the reply is not usable; empty: it is usable
};

/// A question to a judge or a teacher.
struct Question {
  Inquiry inquiry;
  int vote = 0;   ///< number of the vote; each vote on the same inquiry is a separate question
  int order = 0;  ///< order of two answers; each order is a separate question
  /// Returns why a reply is not readable; an empty text if it is readable.
  std::function<std::string(std::string_view reply)> problem;
  /// Makes the inquiry to send after a reply that is not readable. May be empty: then the question
  /// is sent only once.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;
  /// Gets the outcome, and returns the votes to store with the reply.
  std::function<std::vector<JudgmentRow>(const QuestionOutcome&)> take;
  int asked = 1;  ///< 1: the first inquiry; 2: the inquiry from `ask_again`; at most kMostAsks
};

/// What to do with a stored reply that is not usable (refused, cut short, or not readable).
enum class UselessReply {
  /// Send the question again; for judging. Exception: if the reply is not readable, and the inquiry
  /// from Question::ask_again was not sent yet, only this inquiry is sent.
  asked_anew,
  stands,  ///< the reply is the outcome, so that no question is paid for twice
};

/// Sends the questions of one task to one judge or teacher, and stores attempts and replies.
class Questioning : public chat::Events {
 public:
  /// `store`: null for a dry run, in which every question becomes a call and none is sent. `judge`:
  /// the judge or teacher. `max_tokens`: of each call. `more`: called when no question is waiting;
  /// returns the next question, or none if there is no question at the moment. `answered`: called
  /// after each reply; may be empty.
  Questioning(Store* store, NamedRecord judge, std::int64_t max_tokens, UselessReply useless,
              std::function<std::optional<Question>()> more, std::function<void()> answered);

  /// Adds a question. It is sent before questions from `more`.
  void put(Question question) { waiting_.push_back(std::move(question)); }

  /// The next call; none if there is no question at the moment. A question with a stored reply does
  /// not become a call: it gets the stored reply.
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
  std::function<void()> answered_;
  std::string process_;
  std::int64_t calls_ = 0;
  std::deque<Question> waiting_;
  // call key -> questions; equal questions share a call
  std::map<std::string, std::vector<Question>> under_way_;
};

/// The call for a question. Its key is a hash of everything that may affect the reply.
chat::Call call_of(const NamedRecord& judge, const Question& question, std::int64_t max_tokens);

}  // namespace pardec
