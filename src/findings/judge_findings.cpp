#include "src/findings/judge_findings.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>

#include "src/findings/comparison.hpp"
#include "src/scoring/judging.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/store/invocations.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

namespace {

/// One value, turn or pair, and all votes on it by one judge under one protocol.
struct JudgedItem {
  const StoredGeneration* answer;
  std::string field;
  RowId baseline;
  std::vector<JudgmentRow> votes;
};

/// Identifies a group of items: dataset, arm, the other arm, protocol, judge.
using JudgedPlace = std::tuple<std::string, std::string, std::string, RowId, RowId>;

bool is_person(const std::string& judge) { return judge.starts_with(kHuman); }

/// A verdict as text, for agreement between judges.
std::optional<std::string> said_of(const JudgedItem& item, bool person) {
  if (item.baseline != 0) {
    const auto winner = winner_of(item.votes, person);
    if (!winner || are_equal(item.votes)) return std::nullopt;
    return *winner == Winner::method ? "method" : *winner == Winner::tie ? "tie" : "baseline";
  }
  std::vector<VoteRow> votes;
  for (const JudgmentRow& row : item.votes) votes.push_back(row.vote);
  const auto verdict = verdict_of(votes);
  if (!verdict) return std::nullopt;
  if (!verdict->label.empty()) return verdict->label;
  // The mean of several votes is rounded to the nearest grade if votes are whole grades.
  const bool whole = std::all_of(votes.begin(), votes.end(), [](const VoteRow& vote) {
    return !vote.value || *vote.value == std::round(*vote.value);
  });
  return str(whole ? std::round(verdict->value) : verdict->value);
}

void count_votes(VerdictCounts& counts, const std::vector<JudgmentRow>& votes) {
  for (const JudgmentRow& row : votes)
    ++(row.vote.state == VoteState::scored    ? counts.scored
       : row.vote.state == VoteState::refused ? counts.refused
       : row.vote.state == VoteState::error   ? counts.errors
                                              : counts.unscored);
}

/// Votes as numbers: grades, indices of labels in the order of first use, or winners of pairs.
VoteAgreement agreement_of(const std::vector<JudgedItem>& items) {
  const std::vector<std::string> scale{"hallucination", "incorrect", "missing", "correct null",
                                       "correct",       "baseline",  "tie",     "method"};
  const auto number_of_label = [&](const VoteRow& vote) -> double {
    const auto found = std::find(scale.begin(), scale.end(), vote.label);
    return found == scale.end() ? vote.value.value_or(std::nan(""))
                                : static_cast<double>(found - scale.begin());
  };
  VoteAgreement out{1, std::nan(""), std::nan(""), std::nan("")};
  std::vector<Votes> all;
  size_t most = 0;
  for (const JudgedItem& item : items) {
    if (are_equal(item.votes)) continue;  // no judge voted on it
    Votes& votes = all.emplace_back();
    if (item.baseline != 0) {
      for (const PairVerdict& pair : pair_verdicts(item.votes)) {
        const auto winner = pair.winner();
        votes.push_back(winner ? std::optional(*winner == Winner::method ? 2.0
                                               : *winner == Winner::tie  ? 1.0
                                                                         : 0.0)
                               : std::nullopt);
      }
    } else {
      for (const JudgmentRow& row : item.votes) {
        const double number = number_of_label(row.vote);
        votes.push_back(row.vote.state == VoteState::scored && !std::isnan(number)
                            ? std::optional(number)
                            : std::nullopt);
      }
    }
    most = std::max(most, votes.size());
  }
  for (Votes& votes : all) votes.resize(most);
  out.votes = static_cast<std::int64_t>(std::max<size_t>(most, 1));
  if (most < 2) return out;
  out.flips = flip_rate(all);
  out.fleiss = fleiss_kappa(all);
  out.alpha = krippendorff_alpha_ordinal(all);
  return out;
}

Interval score_of(const std::vector<ScorePart>& parts, std::int32_t clusters, ScoreRange range,
                  double confidence) {
  return with_ends_of(score_intervals({}, parts, clusters, range, confidence).method, clusters);
}

double outcome_value(Winner winner) {
  return winner == Winner::method ? 1 : winner == Winner::tie ? 0.5 : 0;
}

double length_of(const StoredGeneration& answer, const std::string& field) {
  double length = 0;
  for (const FieldAnswer& one : answer.row.fields)
    if (field.empty() || one.name == field) length += static_cast<double>(code_points(one.text));
  return length;
}

void add_pairs(JudgedArm& arm, const std::vector<JudgedItem>& items,
               const std::map<RowId, const StoredGeneration*>& answers, double confidence) {
  const bool person = is_person(arm.judge);
  NameNumbers clusters;
  std::vector<ScorePart> parts;
  std::vector<LengthPair> lengths;
  std::vector<PairVerdict> pairs;
  Outcomes outcomes;
  for (const JudgedItem& item : items) {
    const bool equal = are_equal(item.votes);
    arm.equal += equal;
    if (!equal)
      for (const PairVerdict& pair : pair_verdicts(item.votes)) pairs.push_back(pair);
    const auto winner = winner_of(item.votes, person);
    if (!winner) continue;
    ++arm.scored;
    ++(*winner == Winner::method ? outcomes.wins
       : *winner == Winner::tie  ? outcomes.ties
                                 : outcomes.losses);
    const std::int32_t cluster = clusters.of(item.answer->cluster);
    parts.push_back({cluster, 0, outcome_value(*winner), 1});
    if (const auto other = answers.find(item.baseline); other != answers.end())
      lengths.push_back(
          {outcome_value(*winner),
           length_of(*item.answer, item.field) - length_of(*other->second, item.field), cluster});
  }
  arm.outcomes = outcomes;
  arm.score = score_of(parts, clusters.size(), {}, confidence);
  if (!person) arm.bias = position_bias(pairs);
  arm.length_adjusted = length_adjusted_win_rate(lengths, clusters.size(), confidence);
  if (clusters.size() < kFewestBlocks)  // a regression over so few clusters is meaningless
    arm.length_adjusted = Interval{std::nan(""), std::nan(""), std::nan("")};
}

void add_verdicts(JudgedArm& arm, const std::vector<JudgedItem>& items, const std::string& protocol,
                  double confidence) {
  const bool five_classes = protocol == "five-classes";
  const ScoreRange range = five_classes           ? ScoreRange{}
                           : protocol == "single" ? range_of("judge_score")
                                                  : range_of("judge_template");
  NameNumbers clusters;
  std::vector<ScorePart> parts;
  for (const JudgedItem& item : items) {
    std::vector<VoteRow> votes;
    for (const JudgmentRow& row : item.votes) votes.push_back(row.vote);
    const auto verdict = verdict_of(votes);
    if (!verdict) continue;
    ++arm.scored;
    if (!verdict->label.empty()) ++arm.classes[verdict->label];
    const std::int32_t cluster = clusters.of(item.answer->cluster);
    if (five_classes) {
      const std::string& label = verdict->label;
      const double right = label == "correct" || label == "correct null",
                   half_wrong = label == "hallucination" || label == "missing",
                   wrong = label == "incorrect";
      parts.push_back({cluster, 0, 2 * right, 2 * right + half_wrong + 2 * wrong});
    } else if (!std::isnan(verdict->value)) {
      parts.push_back({cluster, 0, verdict->value, 1});
    }
  }
  arm.score = score_of(parts, clusters.size(), range, confidence);
  if (!five_classes) return;
  const auto count = [&](const char* label) {
    const auto found = arm.classes.find(label);
    return found == arm.classes.end() ? 0L : static_cast<long>(found->second);
  };
  arm.rates = JudgeCounts{count("correct"), count("incorrect"), count("missing"),
                          count("correct null"), count("hallucination")};
}

/// Adds votes without a verdict, by state and reason.
void add_without(JudgeFindings& findings, const JudgedArm& arm,
                 const std::vector<JudgedItem>& items) {
  std::map<std::pair<VoteState, std::string>, std::int64_t> counts;
  for (const JudgedItem& item : items)
    for (const JudgmentRow& row : item.votes)
      if (row.vote.state != VoteState::scored) ++counts[{row.vote.state, row.vote.reason}];
  std::vector<WithoutVerdict> rows;
  for (const auto& [why, votes] : counts)
    rows.push_back({arm.dataset, arm.arm, arm.protocol, arm.judge, why.first, why.second, votes});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.votes > b.votes; });
  if (const size_t all = rows.size(); all > kMostReasons) {
    for (size_t r = kMostReasons; r < all; ++r) rows[kMostReasons - 1].votes += rows[r].votes;
    rows.resize(kMostReasons);
    rows.back().state.reset();
    rows.back().reason = str(all - kMostReasons + 1, " other reasons");
  }
  std::move(rows.begin(), rows.end(), std::back_inserter(findings.without));
}

/// Adds the agreement of each pair of judges that saw the same items.
void add_agreements(JudgeFindings& findings, const std::map<RowId, std::string>& judges,
                    const std::map<RowId, std::string>& protocols,
                    const std::map<JudgedPlace, std::vector<JudgedItem>>& places,
                    const std::map<std::string, DatasetRow>& datasets) {
  // By dataset and protocol name: item -> judge -> label.
  using Item = std::tuple<RowId, RowId, std::string>;
  std::map<std::pair<std::string, std::string>, std::map<Item, std::map<RowId, std::string>>> all;
  for (const auto& [place, items] : places) {
    const auto& [dataset, arm, baseline, protocol, judge] = place;
    for (const JudgedItem& item : items)
      if (const auto said = said_of(item, is_person(judges.at(judge))))
        all[{dataset, protocols.at(protocol)}][{item.answer->row.id, item.baseline, item.field}]
           [judge] = *said;
  }
  for (const auto& [place, items] : all) {
    std::set<RowId> seen;
    for (const auto& [item, said] : items)
      for (const auto& [judge, label] : said) seen.insert(judge);
    std::vector<RowId> order(seen.begin(), seen.end());
    std::stable_sort(order.begin(), order.end(), [&](RowId a, RowId b) {
      return is_person(judges.at(a)) && !is_person(judges.at(b));
    });
    for (size_t a = 0; a < order.size(); ++a)
      for (size_t b = a + 1; b < order.size(); ++b) {
        JudgesAgreement pair;
        pair.dataset = datasets.at(place.first);
        pair.protocol = place.second;
        pair.first = judges.at(order[a]);
        pair.second = judges.at(order[b]);
        std::map<std::string, int> labels;
        const auto number = [&](const std::string& label) {
          return labels.emplace(label, static_cast<int>(labels.size())).first->second;
        };
        std::vector<LabelPair> said;
        std::int64_t equal = 0, decided_equal = 0;
        for (const auto& [item, by_judge] : items) {
          const auto one = by_judge.find(order[a]), two = by_judge.find(order[b]);
          if (one == by_judge.end() || two == by_judge.end()) continue;
          said.emplace_back(number(one->second), number(two->second));
          equal += one->second == two->second;
          if (std::get<1>(item) == 0 || one->second == "tie" || two->second == "tie") continue;
          ++pair.decided;
          decided_equal += one->second == two->second;
        }
        pair.items = std::ssize(said);
        if (pair.items == 0) continue;
        pair.agreement = share_of(equal, pair.items);
        pair.kappa = cohen_kappa(said);
        pair.decided_agreement =
            pair.decided == 0 ? std::nan("") : share_of(decided_equal, pair.decided);
        findings.judges.push_back(std::move(pair));
      }
  }
}

/// Adds strengths for each dataset and judge with at least three compared arms.
void add_strengths(JudgeFindings& findings, const std::map<RowId, std::string>& judges,
                   const std::map<RowId, std::string>& protocols,
                   const std::map<JudgedPlace, std::vector<JudgedItem>>& places,
                   const std::map<std::string, DatasetRow>& datasets, double confidence) {
  struct Games {
    std::vector<std::string> arms;
    std::vector<Game> games;
    NameNumbers clusters;

    int of(const std::string& arm) {
      const auto found = std::find(arms.begin(), arms.end(), arm);
      if (found != arms.end()) return static_cast<int>(found - arms.begin());
      arms.push_back(arm);
      return static_cast<int>(arms.size()) - 1;
    }
  };
  std::map<std::tuple<std::string, RowId, RowId>, Games> all;
  for (const auto& [place, items] : places) {
    const auto& [dataset, arm, baseline, protocol, judge] = place;
    if (baseline.empty()) continue;
    Games& games = all[{dataset, protocol, judge}];
    const int a = games.of(arm), b = games.of(baseline);
    for (const JudgedItem& item : items)
      if (const auto winner = winner_of(item.votes, is_person(judges.at(judge))))
        games.games.push_back(
            {a, b, outcome_value(*winner), games.clusters.of(item.answer->cluster)});
  }
  for (const auto& [place, games] : all) {
    if (games.arms.size() < 3) continue;
    const auto& [dataset, protocol, judge] = place;
    auto strengths = bradley_terry(games.games, static_cast<int>(games.arms.size()),
                                   games.clusters.size(), confidence);
    if (games.clusters.size() < kFewestBlocks)
      for (Interval& strength : strengths) strength.low = strength.high = std::nan("");
    findings.strengths.push_back({datasets.at(dataset), protocols.at(protocol), judges.at(judge),
                                  games.arms, std::move(strengths)});
  }
}

}  // namespace

JudgeFindings judge_findings(Store& store, const std::string& invocation, double confidence) {
  std::vector<RunSummary> runs;
  std::vector<Measurements> measured;  // by shard
  for (const auto& shard : store.shards_of(invocation)) {
    measured.push_back(measurements_of(store, shard));
    for (const RunFigures& run : measured.back().figures.runs) runs.push_back(run.summary);
  }
  const auto judges = names_of(judges_of(store)), protocols = names_of(protocols_of(store));
  const auto records = protocols_of(store);
  std::vector<std::vector<StoredGeneration>> stored;
  std::map<RowId, const StoredGeneration*> answers;
  std::map<RowId, std::string> labels;
  std::map<std::string, DatasetRow> datasets;
  for (const RunSummary& run : runs) {
    stored.push_back(store.generations(run.run.id));
    datasets.emplace(run.run.dataset.name, run.run.dataset);
    for (const StoredGeneration& answer : stored.back()) {
      answers[answer.row.id] = &answer;
      labels[answer.row.id] = run.run.label;
    }
  }
  std::map<JudgedPlace, std::vector<JudgedItem>> places;
  for (const RunSummary& run : runs)
    for (JudgmentRow& row : judgments(store, run.run.id)) {
      const std::string baseline =
          row.baseline == 0 || !labels.contains(row.baseline) ? "" : labels.at(row.baseline);
      auto& items =
          places[{run.run.dataset.name, run.run.label, baseline, row.protocol, row.judge}];
      const StoredGeneration* answer = answers.at(row.generation);
      if (items.empty() || items.back().answer != answer || items.back().field != row.vote.field ||
          items.back().baseline != row.baseline)
        items.push_back({answer, row.vote.field, row.baseline, {}});
      items.back().votes.push_back(std::move(row));
    }
  JudgeFindings findings;
  for (const auto& [place, items] : places) {
    const auto& [dataset, label, baseline, protocol, judge] = place;
    JudgedArm& arm = findings.arms.emplace_back();
    arm.dataset = datasets.at(dataset);
    arm.arm = label;
    arm.baseline = baseline;
    arm.protocol = protocols.at(protocol);
    arm.judge = judges.at(judge);
    arm.items = std::ssize(items);
    for (const JudgedItem& item : items) count_votes(arm.votes, item.votes);
    arm.agreement = agreement_of(items);
    add_without(findings, arm, items);
    if (!baseline.empty())
      add_pairs(arm, items, answers, confidence);
    else
      add_verdicts(arm, items, records.at(protocol).name, confidence);
  }
  for (const Measurements& of : measured)
    for (size_t r = 0; r < of.scores.size(); ++r)
      for (JudgedShare& share : judged_shares(store, of.figures.runs[r], of.scores[r]))
        findings.compared.push_back(std::move(share));
  add_agreements(findings, judges, protocols, places, datasets);
  add_strengths(findings, judges, protocols, places, datasets, confidence);
  return findings;
}

}  // namespace pardec
