#include "src/report/judge_table.hpp"

#include <algorithm>
#include <cmath>

#include "src/report/comparison_notes.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/measured_columns.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A number; an empty cell for NaN.
Cell maybe_number(double value, int decimals) {
  return std::isnan(value) ? no_cell() : number_cell(value, decimals);
}

Cell maybe_share(double share) {
  return std::isnan(share) ? no_cell() : Cell(percent(share), json_of(share));
}

Table verdict_table(const JudgeFindings& findings, double confidence) {
  Table table;
  table.title = "Judged";
  const auto number = [](const char* header, const char* key = "") {
    return Column{header, Align::right, key};
  };
  const bool pairs = std::any_of(findings.arms.begin(), findings.arms.end(),
                                 [](const JudgedArm& arm) { return arm.outcomes.has_value(); });
  const bool classes = std::any_of(findings.arms.begin(), findings.arms.end(),
                                   [](const JudgedArm& arm) { return arm.rates.has_value(); });
  const bool repeats = std::any_of(findings.arms.begin(), findings.arms.end(),
                                   [](const JudgedArm& arm) { return arm.agreement.votes > 1; });
  table.columns =
      with_dataset({{"arm"},
                    {"against"},
                    {"protocol"},
                    {"judge"},
                    number("scored"),
                    number("of", "items"),
                    number("refused"),
                    number("unscored"),
                    number("errors"),
                    number("score"),
                    {fixed(100 * confidence, 0) + " % interval", Align::left, "score_interval"}});
  if (classes)
    for (const char* header : {"P", "R", "C", "I", "M", "CN", "H"})
      table.columns.push_back(number(header));
  if (pairs)
    for (const auto& [header, key] : std::vector<std::pair<const char*, const char*>>{
             {"W", "wins"},
             {"T", "ties"},
             {"L", "losses"},
             {"equal", "equal_answers"},
             {"x", "hpd_ratio"},
             {"x/(1+x)", "hpd_ratio_normalised"},
             {"equal length", "length_adjusted_win_rate"},
             {"consistent", "consistent"},
             {"first", "first_biased"},
             {"second", "second_biased"}})
      table.columns.push_back(number(header, key));
  if (repeats)
    for (const auto& [header, key] :
         std::vector<std::pair<const char*, const char*>>{{"votes", "votes"},
                                                          {"flips", "flip_rate"},
                                                          {"kappa", "fleiss_kappa"},
                                                          {"alpha", "krippendorff_alpha"}})
      table.columns.push_back(number(header, key));
  for (const JudgedArm& arm : findings.arms) {
    std::vector<Cell> row = with_dataset(
        dataset_cells(arm.dataset),
        {arm.arm, arm.baseline.empty() ? no_cell() : Cell(arm.baseline), arm.protocol, arm.judge,
         number_cell(arm.scored), number_cell(arm.items), number_cell(arm.votes.refused),
         number_cell(arm.votes.unscored), number_cell(arm.votes.errors),
         maybe_number(arm.score.estimate, 3), interval_cell(arm.score, 3)});
    if (classes) {
      if (arm.rates) {
        const JudgeCounts& c = *arm.rates;
        row.insert(row.end(), {arm.scored == 0 ? no_cell() : number_cell(c.precision(), 3),
                               arm.scored == 0 ? no_cell() : number_cell(c.recall(), 3)});
        for (const long count :
             {c.correct, c.incorrect, c.missing, c.correct_null, c.hallucination})
          row.push_back(number_cell(std::int64_t{count}));
      } else {
        row.insert(row.end(), 7, no_cell());
      }
    }
    if (pairs) {
      if (arm.outcomes) {
        const Outcomes& o = *arm.outcomes;
        row.insert(row.end(), {number_cell(o.wins), number_cell(o.ties), number_cell(o.losses),
                               number_cell(arm.equal), maybe_number(o.hpd_ratio(), 3),
                               maybe_number(o.hpd_ratio_normalised(), 3),
                               maybe_number(arm.length_adjusted->estimate, 3)});
      } else {
        row.insert(row.end(), 7, no_cell());
      }
      if (arm.bias)
        row.insert(row.end(), {maybe_share(arm.bias->consistent), maybe_share(arm.bias->first),
                               maybe_share(arm.bias->second)});
      else
        row.insert(row.end(), 3, no_cell());
    }
    if (repeats) {
      const VoteAgreement& a = arm.agreement;
      row.insert(row.end(), {number_cell(a.votes), maybe_share(a.flips), maybe_number(a.fleiss, 3),
                             maybe_number(a.alpha, 3)});
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) {
    table.notes = {
        "nobody judged this run: 'judge `service=FILE` `protocol=NAME`' asks a network, 'judge "
        "export' makes a sheet for people."};
    return table;
  }
  table.notes = {
      "scored of: values, turns or pairs that have a verdict, of all that were judged; refused, "
      "unscored (no verdict could be read) and errors count votes, and are in no score.",
      str("score: mean grade, F1 (five-classes) or (W + T / 2) / N (pairs), with the interval of a "
          "jackknife over examples that share no text, none for fewer than ",
          kFewestBlocks, " such groups.")};
  for (const std::string& note : judged_notes(findings.compared))
    table.notes.push_back(str("in compare, report and claims: ", note));
  if (findings.compared.empty())
    table.notes.emplace_back(
        "in compare, report and claims: no score of this table, since these use only the verdicts "
        "of networks.");
  if (pairs)
    table.notes.push_back(
        "a pair is a tie unless both orders name the same winner; equal: pairs of equal answers, "
        "which are ties without a question to the judge, and are left out of consistent, first, "
        "second and the agreement; x: (W + T) / (T + L), as in HPD's Figure 8; equal length: "
        "win rate for answers of equal length, from a logistic regression on the difference of "
        "lengths; first, second: pairs in which the verdicts of both orders favour this place.");
  if (repeats)
    table.notes.push_back(
        "votes: votes of one judge on one item; flips: how often two of them differ; kappa: "
        "Fleiss' kappa; alpha: Krippendorff's alpha, ordinal.");
  return table;
}

Table without_table(const JudgeFindings& findings) {
  Table table;
  table.title = "Without a verdict";
  table.columns = with_dataset(
      {{"arm"}, {"protocol"}, {"judge"}, {"state"}, {"votes", Align::right}, {"reason"}});
  for (const WithoutVerdict& one : findings.without)
    table.rows.push_back(with_dataset(
        dataset_cells(one.dataset),
        {one.arm, one.protocol, one.judge, one.state ? std::string(name(*one.state)) : "",
         number_cell(one.votes), visible_text(one.reason)}));
  table.notes = {
      "reason of a refusal: in the words of the judge or of its service. The same command asks "
      "again for votes with an error. The tables judgments and pairs of pardec export show the "
      "answers."};
  return table;
}

Table agreement_table(const JudgeFindings& findings) {
  Table table;
  table.title = "How judges agree";
  table.columns = with_dataset({{"protocol"},
                                {"judge"},
                                {"other judge", Align::left, "other"},
                                {"n", Align::right},
                                {"Cohen's kappa", Align::right, "cohen_kappa"},
                                {"agree", Align::right, "agreement"},
                                {"n decided", Align::right, "decided"},
                                {"agree", Align::right, "decided_agreement"}});
  for (const JudgesAgreement& pair : findings.judges)
    table.rows.push_back(
        with_dataset(dataset_cells(pair.dataset),
                     {pair.protocol, pair.first, pair.second, number_cell(pair.items),
                      maybe_number(pair.kappa, 3), maybe_share(pair.agreement),
                      number_cell(pair.decided), maybe_share(pair.decided_agreement)}));
  table.notes = {
      "n: items that both judged (an inconsistent pair is a tie); decided: pairs that neither "
      "calls a tie."};
  return table;
}

Table strength_table(const JudgeFindings& findings, double confidence) {
  Table table;
  table.title = "Strengths";
  table.columns = with_dataset(
      {{"protocol"},
       {"judge"},
       {"arm"},
       {"Bradley-Terry", Align::right, "strength"},
       {fixed(100 * confidence, 0) + " % interval", Align::left, "strength_interval"}});
  for (const ArmStrengths& strengths : findings.strengths)
    for (size_t a = 0; a < strengths.arms.size(); ++a)
      table.rows.push_back(with_dataset(dataset_cells(strengths.dataset),
                                        {strengths.protocol, strengths.judge, strengths.arms[a],
                                         maybe_number(strengths.strengths[a].estimate, 3),
                                         interval_cell(strengths.strengths[a], 3)}));
  table.notes = {
      "Bradley-Terry: natural logarithms with mean 0, a tie being half a win of each; none if an "
      "arm never lost a point."};
  return table;
}

}  // namespace

std::vector<Table> judge_tables(const JudgeFindings& findings, double confidence) {
  std::vector<Table> tables{verdict_table(findings, confidence)};
  if (!findings.without.empty()) tables.push_back(without_table(findings));
  if (!findings.judges.empty()) tables.push_back(agreement_table(findings));
  if (!findings.strengths.empty()) tables.push_back(strength_table(findings, confidence));
  return tables;
}

Table judge_plan_table(const JudgePlan& plan, bool priced) {
  Table table;
  table.title = "What would be asked";
  table.columns = {{"verdicts", Align::right},
                   {"stored", Align::right},
                   {"known replies", Align::right, "cached"},
                   {"equal questions", Align::right, "shared"},
                   {"equal answers", Align::right, "equal"},
                   {"calls", Align::right},
                   {"tokens at most", Align::right, "tokens"},
                   {"price at most", Align::right, "price"}};
  table.rows.push_back({number_cell(plan.progress.votes), number_cell(plan.progress.before),
                        number_cell(plan.progress.cached), number_cell(plan.shared),
                        number_cell(plan.progress.equal), number_cell(plan.calls),
                        number_cell(plan.worst.tokens),
                        priced ? number_cell(plan.worst.cost, 4) : no_cell()});
  table.notes = {
      "stored: earlier verdicts; known replies: stored replies to the same question are used; "
      "equal questions: one of the calls asks the same for another answer; equal answers: pairs "
      "that are ties, and not asked about.",
      "at most: each prompt has fewer tokens than bytes, each reply `max_tokens`; a reply "
      "without a verdict is asked about once more, and an attempt may have to be repeated."};
  if (!priced) table.notes.emplace_back("no price: the service's file has no 'prices'.");
  return table;
}

}  // namespace pardec
