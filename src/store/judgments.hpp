#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/store.hpp"

/// What judges were asked, what they said, and what it cost. Every function that writes is one
/// transaction.
namespace pardec {

/// A judge or a protocol: a name, and all that makes it what it is.
struct NamedRecord {
  std::string name;
  Json json;
};

/// SHA-256 of the record: tells those of one name apart.
std::string hash_of(const NamedRecord& record);

/// Names of people as judges begin so.
inline constexpr std::string_view kHuman = "human:";

/// Inserted once, and found afterwards.
RowId put_judge(Store& store, const NamedRecord& judge);
RowId put_protocol(Store& store, const NamedRecord& protocol);

/// -1: the service does not say; NULL in the database.
struct TokenCounts {
  std::int64_t prompt = -1, completion = -1, reasoning = -1, cached = -1;
};

/// One request of a call.
struct AttemptRow {
  std::string process, call_key;
  int number = 1;
  std::string started_utc;
  double waited_s = 0, seconds = 0;
  int http_status = 0;
  std::string request_id, format;
  TokenCounts tokens;  ///< these and the cost at most, while the outcome is unknown
  double cost = 0;
  bool outcome_unknown = false;
  std::string error, body;  ///< empty: NULL
};

/// Inserts the attempt, or settles the one that was inserted before it was sent.
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
  bool valid = false;  ///< holds a verdict
};

/// What was answered to this call, whoever asked: a reply with a verdict if there is one, else the
/// last. None: it was not answered.
std::optional<ReplyRow> find_reply(Store& store, const std::string& call_key);
/// The same, but for one that was refused or cut short where there is no answer: it was paid for.
std::optional<ReplyRow> find_outcome(Store& store, const std::string& call_key);

/// Whether a reply can be read, in the order of their names.
enum class VoteState {
  error,     ///< there is none
  refused,   ///< the judge refused
  scored,    ///< it can
  unscored,  ///< it cannot
};
std::string_view name(VoteState state);

/// What a vote came to.
struct VoteRow {
  std::string field;
  int vote = 0;
  VoteState state = VoteState::unscored;
  std::string label;  ///< class, or winner: method, baseline, tie; empty: none
  std::optional<double> value;
  std::string reason;
};

/// One vote on an answer, or, where `baseline` is none of 0, on two.
struct JudgmentRow {
  RowId generation = 0, baseline = 0;
  bool method_first = true;  ///< of two
  RowId judge = 0, protocol = 0;
  VoteRow vote;
  RowId reply = 0;  ///< 0: there is none
};

/// Stores a reply with the votes that follow from it; a reply whose `id` is not 0 is there already,
/// and one without a call key is nobody's (people have none). A vote that is there is replaced.
/// Returns the reply's id.
RowId put_votes(Store& store, RowId judge, ReplyRow reply, std::vector<JudgmentRow> votes);

/// All votes on the answers of a run; of two answers those where the run is the method.
std::vector<JudgmentRow> judgments(Store& store, RowId run);

/// Name and record of each judge and protocol of a database, by id.
std::map<RowId, NamedRecord> judges_of(Store& store);
std::map<RowId, NamedRecord> protocols_of(Store& store);

/// What was spent on judges of a database, and perhaps spent.
struct JudgeSpending {
  double money = 0, possible_money = 0;
  std::int64_t tokens = 0, possible_tokens = 0;
  std::int64_t possible_attempts = 0, attempts = 0;
  /// Of attempts that were made while the service had no prices.
  std::int64_t unpriced_prompt_tokens = 0, unpriced_completion_tokens = 0;
};
JudgeSpending judge_spending(Store& store, RowId judge);

}  // namespace pardec
