#include "src/asking/asking.hpp"

#include <utility>

#include "src/asking/paid_service.hpp"
#include "src/support/hashing.hpp"

namespace pardec {

namespace {

ReplyEnd end_of(chat::ReplyState state) {
  switch (state) {
    case chat::ReplyState::kAnswered:
      return ReplyEnd::answered;
    case chat::ReplyState::kRefused:
      return ReplyEnd::refused;
    case chat::ReplyState::kCutShort:
      return ReplyEnd::cut_short;
    case chat::ReplyState::kFailed:
      break;
  }
  return ReplyEnd::failed;
}

}  // namespace

chat::Call call_of(const NamedRecord& judge, const Question& question, std::int64_t max_tokens) {
  Json messages = Json::array();
  for (const chat::Message& message : question.inquiry.messages)
    messages.push_back({message.role, message.text});
  chat::Call call;
  call.key = sha256(dump(Json{{"judge", judge.json},
                              {"messages", messages},
                              {"schema", question.inquiry.schema},
                              {"max_tokens", max_tokens},
                              {"vote", question.vote},
                              {"asked", question.asked},
                              {"order", question.order}}));
  call.messages = question.inquiry.messages;
  call.schema = question.inquiry.schema;
  call.schema_name = question.inquiry.schema_name;
  call.max_tokens = max_tokens;
  return call;
}

Questioning::Questioning(Store* store, NamedRecord judge, std::int64_t max_tokens,
                         UselessReply useless, std::function<std::optional<Question>()> more,
                         std::function<void()> answered)
    : store_(store),
      record_(std::move(judge)),
      max_tokens_(max_tokens),
      useless_(useless),
      more_(std::move(more)),
      answered_(std::move(answered)),
      process_(make_uuid()) {}

std::optional<chat::Call> Questioning::next() {
  for (;;) {
    if (waiting_.empty()) {
      auto question = more_();
      if (!question) return std::nullopt;
      waiting_.push_back(std::move(*question));
    }
    Question question = std::move(waiting_.front());
    waiting_.pop_front();
    chat::Call call = call_of(record_, question, max_tokens_);
    if (const auto equal = under_way_.find(call.key); equal != under_way_.end()) {
      equal->second.push_back(std::move(question));
    } else if (auto reply = answered_before(call.key, question)) {
      take(std::move(question), std::move(*reply));
    } else {
      under_way_[call.key].push_back(std::move(question));
      return call;
    }
  }
}

RowId Questioning::judge() {
  if (!judge_) judge_ = put_judge(*store_, record_);
  return *judge_;
}

void Questioning::sending(const chat::Call& call, const chat::Attempt& attempt) {
  put_attempt(*store_, judge(), attempt_row(process_, call, attempt));
}

void Questioning::settled(const chat::Call& call, const chat::Attempt& attempt) {
  put_attempt(*store_, judge(), attempt_row(process_, call, attempt));
}

void Questioning::replied(const chat::Call& call, const chat::Reply& reply) {
  ++calls_;
  ReplyRow row;
  row.process = process_;
  row.call_key = call.key;
  row.end = end_of(reply.state);
  row.text = reply.text;
  row.reason = reply.reason;
  row.served_model = reply.model;
  row.tokens = token_counts(reply.usage);
  row.cost = reply.cost;
  auto equal = under_way_.extract(call.key);
  for (Question& question : equal.mapped()) row.id = take(std::move(question), row);
  if (answered_) answered_();
}

std::optional<ReplyRow> Questioning::answered_before(const std::string& key,
                                                     const Question& question) {
  if (!store_) return std::nullopt;
  if (useless_ == UselessReply::stands) return find_outcome(*store_, key);
  auto reply = find_reply(*store_, key);
  // For a first question, a reply without a verdict is also used: the judging may have been killed
  // before asking again.
  if (reply && !reply->valid && question.asked == kMostAsks) return std::nullopt;
  return reply;
}

RowId Questioning::take(Question question, ReplyRow reply) {
  QuestionOutcome outcome;
  if (reply.end == ReplyEnd::answered) {
    outcome.problem = question.problem(reply.text);
    reply.valid = outcome.problem.empty();
    if (!reply.valid && question.ask_again && question.asked < kMostAsks) {
      if (reply.id == 0) reply.id = put_votes(*store_, judge(), reply, {});
      question.inquiry =
          question.ask_again(std::move(question.inquiry), reply.text, outcome.problem);
      ++question.asked;
      waiting_.push_front(std::move(question));
      return reply.id;
    }
    outcome.state = reply.valid ? VoteState::scored : VoteState::unscored;
  } else {
    outcome.state = reply.end == ReplyEnd::refused  ? VoteState::refused
                    : reply.end == ReplyEnd::failed ? VoteState::error
                                                    : VoteState::unscored;
    outcome.problem = reply.reason;
  }
  outcome.reply = reply;
  std::vector<JudgmentRow> votes = question.take(outcome);
  if (reply.id != 0 && votes.empty()) return reply.id;
  return put_votes(*store_, judge(), std::move(reply), std::move(votes));
}

}  // namespace pardec
