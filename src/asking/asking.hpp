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

/// Questions to a chat service, with replies in the store: a question with a stored reply is not
/// sent again, and each reply is stored when it arrives.
namespace pardec {

/// A function that takes calls from `next`, sends them to a service, and reports to `events`; see
/// chat::Service::ask. Functions with an AskService as argument, such as label_examples, call it
/// once, with a Questioning of their own: `next` calls Questioning::next, and `events` is the
/// Questioning itself.
using AskService = std::function<void(const chat::NextCall& next, chat::Events& events)>;

/// The outcome of a question.
struct QuestionOutcome {
  ReplyRow reply;  ///< its `id` is 0 if the reply is new, and so not stored yet
  /// scored: the reply is readable; unscored: it is not readable, or was cut short; refused: the
  /// judge or a filter refused to answer; error: the call failed
  VoteState state = VoteState::unscored;
  std::string problem;  ///< why the reply is not usable; empty: it is usable
};

/// A question to a judge or a teacher.
struct Question {
  Inquiry inquiry;
  int vote = 0;  ///< index of the vote, from 0; each vote on an inquiry is a separate question
  /// if the question shows a pair of answers: their order, as the number of an enumerator of Order
  /// (judge.hpp); otherwise 0. Each order is a separate question.
  int order = 0;
  /// Returns why a reply is not readable; an empty text if it is readable.
  std::function<std::string(std::string_view reply)> problem;
  /// Makes the inquiry to send after a reply that is not readable. `problem`: why the reply is not
  /// readable. May be empty: then no second inquiry is sent, and the first reply is the outcome.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;
  /// Called with the outcome, at most once. Returns the votes to store with the reply.
  std::function<std::vector<JudgmentRow>(const QuestionOutcome&)> take;
  /// 1: `inquiry` is the first inquiry. 2 (kMostAsks): `inquiry` is the result of `ask_again`;
  /// Questioning sets this.
  int asked = 1;
};

/// What to do with a stored reply that is not usable (refused, cut short, or not readable).
enum class UselessReply {
  /// For judging. A question whose stored reply was refused or cut short is sent again. If the
  /// stored reply to the first inquiry is not readable, the first inquiry is not repeated. Only the
  /// inquiry from Question::ask_again is sent, unless this inquiry has a readable stored reply.
  asked_anew,
  /// For teachers. An inquiry with a stored reply is not sent again, so that nothing is paid for
  /// twice. (Only failed calls are sent again.) A stored reply that was refused or cut short is the
  /// outcome. If the stored reply to the first inquiry is not readable, the inquiry from
  /// Question::ask_again comes next. The stored reply to this inquiry is the outcome; if there is
  /// none, the inquiry is sent.
  stands,
};

/// Makes calls from the questions to one judge or teacher, and stores attempts and replies. One
/// object is for one command that judges, rewrites or labels. Exceptions of the store (StoreError)
/// and of the functions in questions pass through.
class Questioning : public chat::Events {
 public:
  /// `store`: null if there are no stored replies and no call will be sent (a dry run). `judge`:
  /// the judge or teacher. `max_tokens`: Call::max_tokens of each call. `more`: returns the next
  /// question, or none if there is no question at the moment; called when no question from `put` or
  /// Question::ask_again is waiting. `answered`: called after each new reply; may be empty.
  Questioning(Store* store, NamedRecord judge, std::int64_t max_tokens, UselessReply useless,
              std::function<std::optional<Question>()> more, std::function<void()> answered);

  /// Adds a question. It is sent before questions from `more`.
  void put(Question question) { waiting_.push_back(std::move(question)); }

  /// The next call; none if there is no question at the moment. If a question has a stored reply,
  /// this reply is used, and no call is made. Equal questions (with the same key, see call_of)
  /// share one call.
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

/// The call for a question. Its key is a SHA-256 of everything that may affect the reply, and of
/// the question's numbers `vote`, `asked` and `order`.
chat::Call call_of(const NamedRecord& judge, const Question& question, std::int64_t max_tokens);

}  // namespace pardec
