#include "metrics/attribute_f1.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "metrics/statistics.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

bool absent(const std::optional<std::string>& prediction) {
  return !prediction || *prediction == "n/a" || *prediction == "None";
}

bool absent(const std::vector<std::string>& references) {
  return references.empty() || references.front() == "n/a";
}

using Pair = std::pair<std::string_view, std::string_view>;  // category, attribute
using PairCounts = std::map<Pair, AttributeCounts>;

AttributeScores summarise(const PairCounts& pairs) {
  AttributeScores scores{};
  int scored = 0;
  for (const auto& [pair, counts] : pairs) {
    if (counts.nv + counts.vc + counts.vw + counts.vn == 0) continue;
    ++scored;
    scores.micro += counts;
    scores.macro_precision += counts.precision();
    scores.macro_recall += counts.recall();
    scores.macro_f1 += counts.f1();
  }
  scores.micro_precision = scores.micro.precision();
  scores.micro_recall = scores.micro.recall();
  scores.micro_f1 = scores.micro.f1();
  for (double* sum : {&scores.macro_precision, &scores.macro_recall, &scores.macro_f1})
    if (scored) *sum /= scored;
  return scores;
}

}  // namespace

double AttributeCounts::precision() const { return share_of(vc, nv + vc + vw); }
double AttributeCounts::recall() const { return share_of(vc, vn + vc + vw); }
double AttributeCounts::f1() const {
  const double p = precision(), r = recall();
  return p + r == 0 ? 0.0 : 2 * p * r / (p + r);
}

AttributeCounts& AttributeCounts::operator+=(const AttributeCounts& other) {
  nn += other.nn;
  nv += other.nv;
  vn += other.vn;
  vc += other.vc;
  vw += other.vw;
  return *this;
}

AttributeCounts count(const AttributePrediction& prediction) {
  const bool predicted = !absent(prediction.prediction);
  if (!prediction.annotated || absent(prediction.references))
    return predicted ? AttributeCounts{.nv = 1} : AttributeCounts{.nn = 1};
  if (!predicted) return {.vn = 1};
  const bool correct =
      std::any_of(prediction.references.begin(), prediction.references.end(),
                  [&](const std::string& value) { return strip(value) == *prediction.prediction; });
  return correct ? AttributeCounts{.vc = 1} : AttributeCounts{.vw = 1};
}

AttributeOutcome outcome(const AttributePrediction& prediction) {
  return {prediction.category, prediction.attribute, prediction.annotated, count(prediction)};
}

std::string letters(const AttributeCounts& one) {
  return one.nn ? "nn" : one.nv ? "nv" : one.vn ? "vn" : one.vc ? "vc" : "vw";
}

AttributeCounts counts_of(const std::string& letters) {
  if (letters == "nn") return {.nn = 1};
  if (letters == "nv") return {.nv = 1};
  if (letters == "vn") return {.vn = 1};
  if (letters == "vc") return {.vc = 1};
  if (letters == "vw") return {.vw = 1};
  throw ConfigError(str("a field counts as '", letters, "', expected nn, nv, vn, vc or vw"));
}

namespace {

std::vector<AttributeOutcome> outcomes(const std::vector<AttributePrediction>& predictions) {
  std::vector<AttributeOutcome> out;
  out.reserve(predictions.size());
  for (const auto& prediction : predictions) out.push_back(outcome(prediction));
  return out;
}

AttributeScores scores(const std::vector<AttributeOutcome>& outcomes, bool annotated_only) {
  PairCounts pairs;
  for (const auto& outcome : outcomes)
    if (outcome.annotated || !annotated_only)
      pairs[{outcome.category, outcome.attribute}] += outcome.counts;
  return summarise(pairs);
}

}  // namespace

AttributeScores extractgpt_f1(const std::vector<AttributeOutcome>& outcomes) {
  return scores(outcomes, true);
}
AttributeScores strict_f1(const std::vector<AttributeOutcome>& outcomes) {
  return scores(outcomes, false);
}
AttributeScores extractgpt_f1(const std::vector<AttributePrediction>& predictions) {
  return extractgpt_f1(outcomes(predictions));
}
AttributeScores strict_f1(const std::vector<AttributePrediction>& predictions) {
  return strict_f1(outcomes(predictions));
}

}  // namespace pardec
