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

/// Questions to a chat service through the store: what was answered is not asked again, and each
/// reply is stored as it comes.
namespace pardec {

/// Asks what `next` gives, and tells `events`; as chat::Service::ask.
using AskService = std::function<void(const chat::NextCall& next, chat::Events& events)>;

/// What became of a question.
struct QuestionOutcome {
  ReplyRow reply;  ///< id 0: it came just now
  VoteState state = VoteState::unscored;
  std::string problem;  ///< why it cannot be read; empty: scored
};

struct Question {
  Inquiry inquiry;
  int vote = 0;   ///< equal inquiries of other votes are other questions
  int order = 0;  ///< and so are those that show two answers in another order
  /// Why a reply cannot be read; empty: it can.
  std::function<std::string(std::string_view reply)> problem;
  /// The inquiry behind a reply that cannot be read; none: it is asked once.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;
  /// Takes the outcome; returns the votes that are stored with the reply.
  std::function<std::vector<JudgmentRow>(const QuestionOutcome&)> take;
  int asked = 1;
};

/// What a stored reply is worth that was no use: a judging asks anew, since the vote itself is
/// stored beside it; else it stands, and nothing that was paid for is asked again.
enum class UselessReply { asked_anew, stands };

/// Asks the questions of one task to one judge or teacher, and keeps the ledger of it.
class Questioning : public chat::Events {
 public:
  /// Without a store, where nothing is to be answered, every question becomes a call.
  /// `more` gives the next question where none waits; none: there is none now. `heard` is called
  /// behind each reply that came.
  Questioning(Store* store, NamedRecord judge, std::int64_t max_tokens, UselessReply useless,
              std::function<std::optional<Question>()> more, std::function<void()> heard);

  /// Asked before those that `more` gives.
  void put(Question question) { waiting_.push_back(std::move(question)); }

  /// The next call that no stored reply answers.
  std::optional<chat::Call> next();
  std::int64_t calls() const { return calls_; }  ///< replies that came

  void sending(const chat::Call& call, const chat::Attempt& attempt) override;
  void settled(const chat::Call& call, const chat::Attempt& attempt) override;
  void replied(const chat::Call& call, const chat::Reply& reply) override;

 private:
  RowId judge();
  void put(const chat::Call& call, const chat::Attempt& attempt, bool outcome_unknown);
  std::optional<ReplyRow> answered_before(const std::string& key, const Question& question);
  /// The reply's id; it is stored where it was not.
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
  std::map<std::string, std::vector<Question>> under_way_;  // by call key; equal ones are one call
};

/// The call that asks a question. Its key is a hash of all that the reply depends on.
chat::Call call_of(const NamedRecord& judge, const Question& question, std::int64_t max_tokens);

}  // namespace pardec
