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

/// Asks questions to a chat service through the store: questions that were answered are not asked
/// again, and each reply is stored as it arrives.
namespace pardec {

/// Asks the calls from `next`, and reports to `events`; see chat::Service::ask.
using AskService = std::function<void(const chat::NextCall& next, chat::Events& events)>;

/// The outcome of a question.
struct QuestionOutcome {
  ReplyRow reply;  ///< id 0: the reply is new, not a stored one
  VoteState state = VoteState::unscored;
  std::string problem;  ///< why it cannot be read; empty: scored
};

struct Question {
  Inquiry inquiry;
  int vote = 0;   ///< number of the vote; the same inquiry for another vote is a separate question
  int order = 0;  ///< order of the two answers shown; another order is a separate question
  /// Why a reply cannot be read; empty: it can.
  std::function<std::string(std::string_view reply)> problem;
  /// The inquiry to make after a reply that cannot be read; none: the question is asked only once.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;
  /// Receives the outcome; returns the votes to store with the reply.
  std::function<std::vector<JudgmentRow>(const QuestionOutcome&)> take;
  int asked = 1;
};

/// What to do with a stored reply that cannot be used (refused, cut short or unreadable).
/// asked_anew: ask the question again; used for judging, where the vote is stored with its reply.
/// stands: accept the reply as the outcome, so that no question is paid for twice.
enum class UselessReply { asked_anew, stands };

/// Asks the questions of one task to one judge or teacher, and records attempts and replies.
class Questioning : public chat::Events {
 public:
  /// Without a store, no answers are expected (dry run), and every question becomes a call. `more`
  /// returns the next question when none is waiting; none: there is none at present. `heard` is
  /// called after each reply that arrived.
  Questioning(Store* store, NamedRecord judge, std::int64_t max_tokens, UselessReply useless,
              std::function<std::optional<Question>()> more, std::function<void()> heard);

  /// Adds a question, to be asked before those from `more`.
  void put(Question question) { waiting_.push_back(std::move(question)); }

  /// The next call that no stored reply answers.
  std::optional<chat::Call> next();
  std::int64_t calls() const { return calls_; }  ///< number of replies that arrived

  void sending(const chat::Call& call, const chat::Attempt& attempt) override;
  void settled(const chat::Call& call, const chat::Attempt& attempt) override;
  void replied(const chat::Call& call, const chat::Reply& reply) override;

 private:
  RowId judge();
  std::optional<ReplyRow> answered_before(const std::string& key, const Question& question);
  /// Handles the reply, and stores it unless it is stored. Returns its id.
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
  // by call key; equal questions share a call
  std::map<std::string, std::vector<Question>> under_way_;
};

/// The call for a question. The call's key is a hash of everything that the reply depends on.
chat::Call call_of(const NamedRecord& judge, const Question& question, std::int64_t max_tokens);

}  // namespace pardec
