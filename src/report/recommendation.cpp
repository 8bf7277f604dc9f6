#include "src/report/recommendation.hpp"

#include <algorithm>
#include <cmath>

#include "src/findings/score_findings.hpp"
#include "src/report/measured_columns.hpp"
#include "src/report/metric_title.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::size_t kNamed = 5;

/// The first names, and the number of further ones.
std::string listed(const std::vector<std::string>& all, std::string_view separator) {
  std::vector<std::string> named(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kNamed)));
  return join(named, separator) +
         (all.size() > kNamed ? str(separator, all.size() - kNamed, " more") : "");
}

std::string speed_text(const ArmFinding& arm) {
  return str(fixed(arm.speedup->ratio.estimate, 2), " times as fast");
}

/// What would decide an open difference of scores.
std::string needed_text(const ArmFinding& arm) {
  const ScoreFinding* score = first_score(arm);
  return score && score->would_do ? str("needs about ", *score->would_do, " examples in all")
                                  : "needs more examples";
}

std::string undecided_text(const ArmStanding& one) {
  const ArmFinding& arm = *one.arm;
  if (one.speed == SpeedShown::unknown)
    return arm.speedup ? str(speed_text(arm), ", no interval: ", arm.speedup->blocks, " of the ",
                             kFewestBlocks, " blocks that it needs")
                       : std::string("no block was measured together with its baseline");
  if (one.speed == SpeedShown::open)
    return str("no difference in speed shown: ", fixed(arm.speedup->ratio.estimate, 2), " ",
               interval_cell(arm.speedup->ratio, 2).text);
  const std::string fast = speed_text(arm);
  if (arm.run.run.oracle) return fast + ", the tokens were forced";
  if (one.quality == QualityShown::unknown) return fast + ", its answers have no score";
  return str(fast, ", ", needed_text(arm));
}

std::string ruled_out_text(const ArmStanding& one) {
  const AnswerState& state = one.arm->state;
  switch (one.quality) {
    case QualityShown::broken:
      return state.mostly_broken()
                 ? str(state.broken, " of ", counted(state.answers, "answer"), " broken")
                 : std::string("most answers of its baseline broken");
    case QualityShown::noise:
      return "untrained";
    case QualityShown::worse:
      return "answers worse";
    default:
      return "slower";
  }
}

std::string answers_text(const Comparison& comparison, const ArmFinding& arm,
                         const std::string& baseline) {
  if (quality_shown(comparison, arm) == QualityShown::same)
    return str("every answer the same as ", baseline, "'s");
  return str("answers not worse: ", metric_title(headline_score(arm)), " ",
             difference_text(*first_score(arm)->difference));
}

std::string take_text(const Comparison& comparison, const Headline& headline) {
  const ArmFinding& best = *headline.best;
  const ArmFinding& baseline = *comparison.baseline_of(best);
  std::string text = str("take ", best.run.run.label, ": ", speed_text(best), " as ",
                         baseline.run.run.label, " ", interval_cell(best.speedup->ratio, 2).text,
                         ", ", answers_text(comparison, best, baseline.run.run.label), ".");
  std::vector<std::string> ties, codes;
  for (const ArmFinding* arm : headline.ties) ties.push_back(arm->run.run.label);
  if (!ties.empty())
    text += str(" No difference in speed is shown from: ", listed(ties, ", "), ".");
  for (const Warning& warning : comparison.warnings)
    if (warning.dataset == headline.dataset &&
        (warning.arm == best.run.run.label || warning.arm == baseline.run.run.label) &&
        std::find(codes.begin(), codes.end(), warning.code) == codes.end())
      codes.push_back(warning.code);
  if (!codes.empty()) text += str(" Mind the warnings: ", join(codes, ", "), ".");
  return text;
}

/// If no arm is shown to be better: which arms to keep.
std::string stay_text(const Comparison& comparison, const Headline& headline) {
  std::vector<std::string> baselines, broken;
  for (const ArmStanding& one : headline.arms) {
    const ArmFinding& baseline = *comparison.baseline_of(*one.arm);
    auto& labels = baseline.broken() ? broken : baselines;
    if (std::find(labels.begin(), labels.end(), baseline.run.run.label) == labels.end())
      labels.push_back(baseline.run.run.label);
  }
  if (baselines.empty())
    return str("no decision: most answers of ", listed(broken, ", "), " are broken.");
  return str("stay with ", listed(baselines, " or "), ": no arm is shown faster and as good.");
}

}  // namespace

std::string Recommendation::text() const {
  std::string text = str("Of these, on this machine, for ", dataset, ": ", said);
  for (const std::string* more : {&undecided, &against})
    if (!more->empty()) text += " " + *more;
  return text;
}

std::vector<Recommendation> recommendations(const Comparison& comparison) {
  std::vector<Recommendation> all;
  for (const Headline& headline : headlines_of(comparison)) {
    Recommendation one{
        headline.dataset, headline.best ? headline.best->run.run.label : "",
        headline.best ? take_text(comparison, headline) : stay_text(comparison, headline), "", ""};
    std::vector<std::string> undecided, slower, against;
    for (const ArmStanding& standing : headline.arms) {
      const std::string& label = standing.arm->run.run.label;
      if (standing.is_ruled_out())
        against.push_back(str(label, " (", ruled_out_text(standing), ")"));
      else if (!standing.is_shown())
        (standing.arm->speedup && standing.arm->speedup->ratio.estimate < 1 ? slower : undecided)
            .push_back(str(label, " (", undecided_text(standing), ")"));
    }
    if (!undecided.empty()) one.undecided = str("Not decided: ", listed(undecided, "; "), ".");
    if (!slower.empty())
      one.undecided += str(one.undecided.empty() ? "" : " ",
                           "Not decided, slower so far: ", listed(slower, "; "), ".");
    if (!against.empty()) one.against = str("Ruled out: ", listed(against, ", "), ".");
    all.push_back(std::move(one));
  }
  return all;
}

std::string_view verdict_word(const Comparison& comparison, const ArmFinding& arm) {
  switch (quality_shown(comparison, arm)) {
    case QualityShown::same:
      return "same answers";
    case QualityShown::not_worse:
      return "not worse";
    case QualityShown::worse:
      return "worse";
    case QualityShown::open:
      return "open";
    case QualityShown::unknown:
      return arm.run.run.oracle ? "forced" : "no score";
    case QualityShown::noise:
      return "untrained";
    case QualityShown::broken:
      return "broken";
    case QualityShown::baseline:
      break;
  }
  return "";
}

std::string verdict_text(const Comparison& comparison, const ArmFinding& arm) {
  const std::string_view word = verdict_word(comparison, arm);
  if (word.empty()) return "-";
  const ScoreFinding* score = first_score(arm);
  return str(word, word == "open" && score->would_do
                       ? str(": needs about ", *score->would_do, " in all")
                       : "");
}

Tone verdict_tone(QualityShown quality) {
  switch (quality) {
    case QualityShown::same:
    case QualityShown::not_worse:
      return Tone::good;
    case QualityShown::worse:
    case QualityShown::broken:
      return Tone::bad;
    case QualityShown::open:
    case QualityShown::unknown:
    case QualityShown::noise:
      return Tone::caution;
    case QualityShown::baseline:
      break;
  }
  return Tone::plain;
}

}  // namespace pardec
