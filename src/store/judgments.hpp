#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/store.hpp"

/// Requests to judges, their replies, and the cost. Every function that writes does so in one
/// transaction.
namespace pardec {

/// A judge or a protocol: a name, and a record of everything that defines it.
struct NamedRecord {
  std::string name;
  Json json;
};

/// SHA-256 of the record; distinguishes records with the same name.
std::string hash_of(const NamedRecord& record);

/// Prefix of the names of human judges.
inline constexpr std::string_view kHuman = "human:";

/// The id of the record, which is inserted if the database does not have it.
RowId put_judge(Store& store, const NamedRecord& judge);
RowId put_protocol(Store& store, const NamedRecord& protocol);

/// -1: not reported by the service; NULL in the database.
struct TokenCounts {
  std::int64_t prompt = -1, completion = -1, reasoning = -1, cached = -1;
};

/// One HTTP request of a call.
struct AttemptRow {
  std::string process, call_key;
  int number = 1;
  std::string started_utc;
  double waited_s = 0, seconds = 0;
  int http_status = 0;
  std::string request_id, format;
  TokenCounts tokens;  ///< while the outcome is unknown: upper limits of tokens and cost
  double cost = 0;
  bool outcome_unknown = false;
  std::string error, body;  ///< empty: NULL
};

/// Inserts the attempt, or completes the row that was inserted before the request was sent.
void put_attempt(Store& store, RowId judge, const AttemptRow& attempt);

/// How a call ended.
enum class ReplyEnd { answered, refused, cut_short, failed };
std::string_view name(ReplyEnd end);

struct ReplyRow {
  RowId id = 0;
  std::string process, call_key;
  ReplyEnd end = ReplyEnd::answered;
  std::string text, reason, served_model;
  TokenCounts tokens;
  double cost = 0;
  bool valid = false;  ///< contains a verdict
};

/// The reply to this call, from any run: a reply with a verdict if there is one, otherwise the last
/// reply. None: the call was not answered.
std::optional<ReplyRow> find_reply(Store& store, const std::string& call_key);
/// As find_reply; if there is no answer, a reply that was refused or cut short, since it was paid
/// for.
std::optional<ReplyRow> find_outcome(Store& store, const std::string& call_key);

/// The state of a vote, in alphabetical order.
enum class VoteState {
  error,     ///< there is no reply
  refused,   ///< the judge refused
  scored,    ///< the reply can be read
  unscored,  ///< the reply cannot be read
};
std::string_view name(VoteState state);

/// The result of a vote.
struct VoteRow {
  std::string field;
  int vote = 0;
  VoteState state = VoteState::unscored;
  std::string label;  ///< class, or winner: method, baseline or tie; empty: none
  std::optional<double> value;
  std::string reason;
};

/// One vote on an answer or, if `baseline` is not 0, on a pair of answers.
struct JudgmentRow {
  RowId generation = 0, baseline = 0;
  bool method_first = true;  ///< order of the pair
  RowId judge = 0, protocol = 0;
  VoteRow vote;
  RowId reply = 0;  ///< 0: there is none
};

/// Stores votes together with their reply. The reply is stored only if it is new (`id` 0) and has a
/// call key; verdicts of people have none. Existing votes are replaced. Returns the reply's id; 0:
/// there is none.
RowId put_votes(Store& store, RowId judge, ReplyRow reply, std::vector<JudgmentRow> votes);

/// All votes on the answers of a run. Votes on pairs are included if the run is the method.
std::vector<JudgmentRow> judgments(Store& store, RowId run);

/// Name and record of each judge and protocol of a database, by id.
std::map<RowId, NamedRecord> judges_of(Store& store);
std::map<RowId, NamedRecord> protocols_of(Store& store);

/// Amounts spent on the judges of a database. `possible_*`: attempts of unknown outcome, which may
/// have been charged.
struct JudgeSpending {
  double money = 0, possible_money = 0;
  std::int64_t tokens = 0, possible_tokens = 0;
  std::int64_t possible_attempts = 0, attempts = 0;
  /// Tokens of attempts made while the service had no prices.
  std::int64_t unpriced_prompt_tokens = 0, unpriced_completion_tokens = 0;
};
JudgeSpending judge_spending(Store& store, RowId judge);

}  // namespace pardec
