#include "src/store/judgments.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

RowId put_named(Store& store, const std::string& table, const NamedRecord& record) {
  const std::string json = dump(record.json), hash = hash_of(record);
  Database& db = store.database();
  db.run(str("INSERT INTO ", table, " (name, hash, json) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
         record.name, hash, json);
  return db.integer(str("SELECT id FROM ", table, " WHERE name = ? AND hash = ?"), record.name,
                    hash);
}

std::map<RowId, NamedRecord> named_of(Store& store, const std::string& table) {
  std::map<RowId, NamedRecord> out;
  Statement find(store.database(), str("SELECT id, name, json FROM ", table));
  while (find.step()) {
    RowReader row(find);
    NamedRecord& record = out[row.integer()];
    record = {row.text(), row.json()};
  }
  return out;
}

std::optional<std::int64_t> said(std::int64_t count) {
  return count < 0 ? std::nullopt : std::optional(count);
}

/// Empty text becomes NULL.
std::optional<std::string> maybe(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(repair_utf8(text));
}

RowId put_reply(Database& db, RowId judge, const ReplyRow& reply) {
  db.run(
      "INSERT INTO judge_reply (judge_id, process, call_key, state, text, reason, served_model, "
      "prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, cost, valid, "
      "created_utc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      judge, reply.process, reply.call_key, name(reply.end), repair_utf8(reply.text),
      repair_utf8(reply.reason), repair_utf8(reply.served_model), said(reply.tokens.prompt),
      said(reply.tokens.completion), said(reply.tokens.reasoning), said(reply.tokens.cached),
      reply.cost, reply.valid, utc_now());
  return sqlite3_last_insert_rowid(db.handle());
}

void put_vote(Database& db, const JudgmentRow& row) {
  const VoteRow& vote = row.vote;
  if (row.baseline == 0)
    db.run(
        "INSERT INTO judgment (generation_id, judge_id, protocol_id, field, vote, state, class, "
        "value, reason, reply_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0)) ON CONFLICT DO "
        "UPDATE SET "
        "state = excluded.state, class = excluded.class, value = excluded.value, "
        "reason = excluded.reason, reply_id = excluded.reply_id",
        row.generation, row.judge, row.protocol, vote.field, vote.vote, name(vote.state),
        maybe(vote.label), vote.value, maybe(vote.reason), row.reply);
  else
    db.run(
        "INSERT INTO comparison (generation_id, baseline_id, judge_id, protocol_id, field, vote, "
        "method_first, state, winner, reason, reply_id) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0)) "
        "ON CONFLICT DO UPDATE SET state = excluded.state, winner = excluded.winner, "
        "reason = excluded.reason, reply_id = excluded.reply_id",
        row.generation, row.baseline, row.judge, row.protocol, vote.field, vote.vote,
        row.method_first, name(vote.state), maybe(vote.label), maybe(vote.reason), row.reply);
}

// The values of the columns `state`.
constexpr std::array<std::pair<ReplyEnd, std::string_view>, 4> kReplyEnds{
    {{ReplyEnd::answered, "answered"},
     {ReplyEnd::refused, "refused"},
     {ReplyEnd::cut_short, "cut_short"},
     {ReplyEnd::failed, "failed"}}};
constexpr std::array<std::pair<VoteState, std::string_view>, 4> kVoteStates{
    {{VoteState::error, "error"},
     {VoteState::refused, "refused"},
     {VoteState::scored, "scored"},
     {VoteState::unscored, "unscored"}}};

template <typename Value, size_t N>
std::string_view text_of(const std::array<std::pair<Value, std::string_view>, N>& table,
                         Value value) {
  for (const auto& [one, text] : table)
    if (one == value) return text;
  throw std::logic_error("a value without a text");
}

/// StoreError: the schema does not have this value.
template <typename Value, size_t N>
Value value_of(const std::array<std::pair<Value, std::string_view>, N>& table,
               std::string_view wanted, const Store& store) {
  for (const auto& [value, text] : table)
    if (text == wanted) return value;
  throw StoreError(store.path().string(),
                   str("a column 'state' holds '", wanted, "', which the schema does not have"), 2);
}

}  // namespace

std::string_view name(ReplyEnd end) { return text_of(kReplyEnds, end); }
std::string_view name(VoteState state) { return text_of(kVoteStates, state); }

std::string hash_of(const NamedRecord& record) { return sha256(dump(record.json)); }

RowId put_judge(Store& store, const NamedRecord& judge) { return put_named(store, "judge", judge); }

RowId put_protocol(Store& store, const NamedRecord& protocol) {
  return put_named(store, "protocol", protocol);
}

std::map<RowId, NamedRecord> judges_of(Store& store) { return named_of(store, "judge"); }
std::map<RowId, NamedRecord> protocols_of(Store& store) { return named_of(store, "protocol"); }

void put_attempt(Store& store, RowId judge, const AttemptRow& attempt) {
  const TokenCounts& tokens = attempt.tokens;
  store.database().run(
      "INSERT INTO judge_attempt (judge_id, process, call_key, number, started_utc, waited_s, "
      "seconds, http_status, request_id, format, prompt_tokens, completion_tokens, "
      "reasoning_tokens, cached_tokens, cost, outcome_unknown, error, body) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
      "seconds = excluded.seconds, http_status = excluded.http_status, "
      "request_id = excluded.request_id, format = excluded.format, "
      "prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens, "
      "reasoning_tokens = excluded.reasoning_tokens, cached_tokens = excluded.cached_tokens, "
      "cost = excluded.cost, outcome_unknown = excluded.outcome_unknown, "
      "error = excluded.error, body = excluded.body",
      judge, attempt.process, attempt.call_key, attempt.number, attempt.started_utc,
      attempt.waited_s, attempt.seconds, attempt.http_status, repair_utf8(attempt.request_id),
      attempt.format, said(tokens.prompt), said(tokens.completion), said(tokens.reasoning),
      said(tokens.cached), attempt.cost, attempt.outcome_unknown, maybe(attempt.error),
      maybe(attempt.body));
}

std::optional<ReplyRow> find_reply(Store& store, const std::string& call_key) {
  auto reply = find_outcome(store, call_key);
  return reply && reply->end == ReplyEnd::answered ? reply : std::nullopt;
}

std::optional<ReplyRow> find_outcome(Store& store, const std::string& call_key) {
  Statement find(store.database(),
                 "SELECT id, process, text, served_model, valid, state, reason FROM judge_reply "
                 "WHERE call_key = ? AND state <> 'failed' "
                 "ORDER BY valid DESC, state = 'answered' DESC, id DESC LIMIT 1");
  if (!find.bind(call_key).step()) return std::nullopt;
  RowReader row(find);
  ReplyRow reply;
  reply.id = row.integer();
  reply.process = row.text();
  reply.call_key = call_key;
  reply.text = row.text();
  reply.served_model = row.text();
  reply.valid = row.flag();
  reply.end = value_of(kReplyEnds, row.text(), store);
  reply.reason = row.text();
  return reply;
}

RowId put_votes(Store& store, RowId judge, ReplyRow reply, std::vector<JudgmentRow> votes) {
  Database& db = store.database();
  Transaction transaction(db);
  if (reply.id == 0 && !reply.call_key.empty()) reply.id = put_reply(db, judge, reply);
  for (JudgmentRow& vote : votes) {
    vote.reply = reply.id;
    put_vote(db, vote);
  }
  transaction.commit();
  store.check_place();
  return reply.id;
}

std::vector<JudgmentRow> judgments(Store& store, RowId run) {
  Statement find(store.database(), R"(
    SELECT generation_id, 0, 1, judge_id, protocol_id, field, vote, state, class, value, reason,
           coalesce(reply_id, 0)
    FROM judgment JOIN generation ON generation.id = generation_id WHERE run_id = ?1
    UNION ALL
    SELECT generation_id, baseline_id, method_first, judge_id, protocol_id, field, vote, state,
           winner, NULL, reason, coalesce(reply_id, 0)
    FROM comparison JOIN generation ON generation.id = generation_id WHERE run_id = ?1
    ORDER BY 1, 2, 4, 5, 6, 7, 3)");
  find.bind(run);
  std::vector<JudgmentRow> out;
  while (find.step()) {
    RowReader found(find);
    JudgmentRow row;
    row.generation = found.integer();
    row.baseline = found.integer();
    row.method_first = found.flag();
    row.judge = found.integer();
    row.protocol = found.integer();
    row.vote = {found.text(), found.small(),      value_of(kVoteStates, found.text(), store),
                found.text(), found.maybe_real(), found.text()};
    row.reply = found.integer();
    out.push_back(std::move(row));
  }
  return out;
}

JudgeSpending judge_spending(Store& store, RowId judge) {
  Statement find(store.database(), R"(
    SELECT coalesce(sum(cost) FILTER (WHERE outcome_unknown = 0), 0),
           coalesce(sum(cost) FILTER (WHERE outcome_unknown = 1), 0),
           coalesce(sum(tokens) FILTER (WHERE outcome_unknown = 0), 0),
           coalesce(sum(tokens) FILTER (WHERE outcome_unknown = 1), 0),
           coalesce(sum(outcome_unknown), 0), count(*),
           coalesce(sum(prompt_tokens) FILTER (WHERE cost = 0), 0),
           coalesce(sum(completion_tokens) FILTER (WHERE cost = 0), 0)
    FROM (SELECT *, coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) AS tokens
          FROM judge_attempt) WHERE judge_id = ?)");
  find.bind(judge).step();
  RowReader row(find);
  return {row.real(),    row.real(),    row.integer(), row.integer(),
          row.integer(), row.integer(), row.integer(), row.integer()};
}

}  // namespace pardec
