#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/store.hpp"

/// Stores requests to judges, their replies, and the cost. Each function writes in one transaction.
/// Functions with a store may throw the errors that store.hpp describes.
namespace pardec {

/// A judge, or a judging protocol (how judges are asked): a name, and JSON with all its settings.
struct NamedRecord {
  std::string name;
  Json json;
};

/// SHA-256 of the record's JSON, which distinguishes records with the same name.
std::string hash_of(const NamedRecord& record);

/// Prefix of the names of human judges.
inline constexpr std::string_view kHuman = "human:";

/// put_judge and put_protocol return the id of the record. If the database does not have a record
/// with this name and hash, they insert it.
RowId put_judge(Store& store, const NamedRecord& judge);
RowId put_protocol(Store& store, const NamedRecord& protocol);

/// Numbers of tokens. `completion` includes `reasoning`, and `prompt` includes `cached`. -1: the
/// service did not report the number; stored as NULL.
struct TokenCounts {
  std::int64_t prompt = -1, completion = -1, reasoning = -1, cached = -1;
};

/// One HTTP request of a call to a service.
struct AttemptRow {
  std::string process;   ///< uuid of the process that sends it
  std::string call_key;  ///< SHA-256 of everything that affects the reply (results/schema.sql)
  int number = 1;        ///< number of the attempt within its call, from 1
  std::string started_utc;
  /// waited_s: seconds since the previous attempt. seconds: duration of the request.
  double waited_s = 0, seconds = 0;
  int http_status = 0;  ///< 0: no response
  /// request_id: the service's id of the request. format: the requested format of the reply.
  std::string request_id, format;
  // While the outcome is unknown, `tokens` and `cost` are upper limits.
  TokenCounts tokens;
  double cost = 0;               ///< in the currency of the service's prices
  bool outcome_unknown = false;  ///< whether the request may have been charged without a response
  /// error: why there is no response. body: a response that is not an answer. Empty texts are
  /// stored as NULL.
  std::string error, body;
};

/// Inserts the row of an attempt. If there is a row with the same process, call key and number,
/// replaces its results, and keeps `started_utc` and `waited_s`. Call this before the request is
/// sent, and again when its outcome is known.
void put_attempt(Store& store, RowId judge, const AttemptRow& attempt);

/// How a call ended. Refused: by the network, or by a filter of the service. Cut short: at a length
/// limit, with an empty reply, or in reasoning without an end; or the prompt was too long. Failed:
/// there is no usable reply, but another attempt may succeed.
enum class ReplyEnd { answered, refused, cut_short, failed };
std::string_view name(ReplyEnd end);

/// The outcome of a call.
struct ReplyRow {
  RowId id = 0;                   ///< 0: not stored yet
  std::string process, call_key;  ///< as in AttemptRow
  ReplyEnd end = ReplyEnd::answered;
  /// reason: why there is no answer. served_model: the network, as the service names it.
  std::string text, reason, served_model;
  TokenCounts tokens;
  double cost = 0;     ///< in the currency of the service's prices
  bool valid = false;  ///< whether the text contains a verdict
};

/// The stored reply to this call, from any run: a reply with a verdict if there is one, else the
/// last reply. `tokens` and `cost` are not read. None: the call was never answered.
std::optional<ReplyRow> find_reply(Store& store, const std::string& call_key);
/// Like find_reply, but if the call was never answered, returns the last outcome that is `refused`
/// or `cut_short`, because such an outcome was paid for too. None: the call has no outcome of these
/// kinds.
std::optional<ReplyRow> find_outcome(Store& store, const std::string& call_key);

/// The state of a vote.
enum class VoteState {
  error,     ///< there is no reply
  refused,   ///< the judge refused
  scored,    ///< the reply contains a verdict
  unscored,  ///< the reply contains no verdict
};
std::string_view name(VoteState state);

/// The result of a vote.
struct VoteRow {
  std::string field;  ///< empty: the whole example
  int vote = 0;       ///< number of the vote, from 0
  VoteState state = VoteState::unscored;
  /// the verdict: a class; for a pair, `method`, `baseline` or `tie`; empty: there is no verdict,
  /// or it is a number
  std::string label;
  std::optional<double> value;  ///< the grade; none: the verdict has no number
  std::string reason;           ///< why there is no verdict, or a comment
};

/// One vote on an answer or, if `baseline` is not 0, on a pair of answers.
struct JudgmentRow {
  RowId generation = 0, baseline = 0;  ///< ids of the answer and of the baseline's answer
  bool method_first = true;            ///< for pairs: whether the method's answer was shown first
  RowId judge = 0, protocol = 0;       ///< ids of put_judge and put_protocol
  VoteRow vote;
  RowId reply = 0;  ///< id of the reply that contains the vote; 0: there is no reply
};

/// Stores votes and the reply that contains them. Existing votes are replaced. The stored votes
/// refer to this reply; JudgmentRow::reply of `votes` is ignored. The reply is stored only if it is
/// new (`id` is 0) and has a call key; verdicts of people have no call key. Returns the reply's id,
/// or 0 if there is no reply.
RowId put_votes(Store& store, RowId judge, ReplyRow reply, std::vector<JudgmentRow> votes);

/// All votes on the answers of a run, including votes on pairs in which the run is the method.
/// Sorted by answer, then by baseline, judge, protocol, field and number of the vote.
std::vector<JudgmentRow> judgments(Store& store, RowId run);

// All judges, or all judging protocols, of a database. The keys are the ids of the records.
std::map<RowId, NamedRecord> judges_of(Store& store);
std::map<RowId, NamedRecord> protocols_of(Store& store);

/// What a judge has cost so far. Attempts with an unknown outcome may have been charged. The
/// members `possible_*` have the cost, the tokens and the number of these attempts; `money` and
/// `tokens` do not include them.
struct JudgeSpending {
  double money = 0, possible_money = 0;              ///< in the currency of the service's prices
  std::int64_t tokens = 0, possible_tokens = 0;      ///< tokens of prompts and of replies
  std::int64_t possible_attempts = 0, attempts = 0;  ///< attempts: number of all attempts
  /// Tokens of all attempts with cost 0, which were made when the service had no prices.
  std::int64_t unpriced_prompt_tokens = 0, unpriced_completion_tokens = 0;
};
JudgeSpending judge_spending(Store& store, RowId judge);

}  // namespace pardec
