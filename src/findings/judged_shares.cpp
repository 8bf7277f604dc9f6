#include "src/findings/judged_shares.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "src/scoring/judging.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The record that a stored score with these details refers to; 0: not known.
RowId record_of(const Json& details, const char* key, const std::map<RowId, NamedRecord>& records) {
  const auto name = details.value(key, ""), hash = details.value(str(key, "_hash"), "");
  RowId found = 0;
  for (const auto& [id, record] : records)
    if (record.name == name && (hash_of(record) == hash || (hash.empty() && found == 0)))
      found = id;
  return found;
}

/// Whether verdicts under this protocol become rows of the metric with this total.
bool gives(const NamedRecord& protocol, std::string_view total, std::string_view rows) {
  if (!protocol.json.contains("prompt")) return protocol.name == protocol_for(total);
  return rows ==  // a user's template
         (protocol.json.value("compares", false) ? "judge_preference" : "judge_template");
}

}  // namespace

std::map<RowId, std::string> names_of(const std::map<RowId, NamedRecord>& records) {
  std::map<std::string, int> seen;
  std::map<RowId, std::string> names;
  for (const auto& [id, record] : records) {
    const int number = ++seen[record.name];
    names[id] = number == 1 ? record.name : str(record.name, " (", number, ")");
  }
  return names;
}

std::vector<JudgedShare> judged_shares(Store& store, const RunFigures& figures,
                                       const ScoreTable& scores) {
  const RunRow& run = figures.summary.run;
  std::vector<JudgedShare> shares;
  for (const TaskMetric& metric : task_metrics()) {
    const auto* judged = metric.by<ByJudge>();
    if (!judged) continue;
    const ScoreColumn& column = scores.column(judged->rows);
    if (column.rows.empty()) continue;
    const Json& details = column.details[static_cast<size_t>(column.rows.back().details)];
    JudgedShare share;
    share.total = metric.totals.front();
    std::set<std::pair<RowId, std::string>> scored;
    for (const ScoreFigure& row : column.rows)
      scored.emplace(figures.answers[static_cast<size_t>(row.answer)].id,
                     scores.names().fields.name(row.field));
    // Each turn of a conversation and each value is judged separately.
    const bool by_field = run.form == "free" || judged->rows == "judge_class";
    for (const AnswerFigures& answer : figures.answers)
      share.of += by_field ? std::max(1, answer.fields) : 1;
    const auto judges = judges_of(store), protocols = protocols_of(store);
    const auto names = names_of(judges);
    std::set<RowId> of_metric;
    for (const auto& [id, record] : protocols)
      if (gives(record, share.total, judged->rows)) of_metric.insert(id);
    const RowId judge = record_of(details, "judge", judges),
                protocol = record_of(details, "protocol", protocols);
    share.dataset = run.dataset.name;
    share.arm = run.label;
    share.judge = names.contains(judge) ? names.at(judge) : details.value("judge", "");
    share.protocol = details.value("protocol", "");
    if (const auto baseline = details.value("baseline", ""); !baseline.empty())
      share.protocol += str(", against ", baseline);
    share.scored = std::ssize(scored);
    std::set<RowId> others;
    std::map<std::pair<RowId, std::string>, VoteState> without;  // by answer and field
    for (const JudgmentRow& row : judgments(store, run.id)) {
      if (row.judge != judge && of_metric.contains(row.protocol)) others.insert(row.judge);
      const std::pair place{row.generation, row.vote.field};
      if (row.judge == judge && row.protocol == protocol && row.vote.state != VoteState::scored &&
          !scored.contains(place))
        without.emplace(place, row.vote.state);
    }
    for (const RowId other : others) share.others.push_back(names.at(other));
    for (const auto& [place, state] : without)
      ++(state == VoteState::refused ? share.refused
         : state == VoteState::error ? share.errors
                                     : share.unscored);
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace pardec
