#include "metrics/judge_f1.hpp"

namespace pardec {

namespace {

double ratio(long part, long whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double JudgeCounts::precision() const {
  return ratio(correct + correct_null, correct + correct_null + hallucination + incorrect);
}

double JudgeCounts::recall() const {
  return ratio(correct + correct_null, correct + correct_null + missing + incorrect);
}

double JudgeCounts::f1() const {
  const double p = precision(), r = recall();
  return p + r == 0 ? 0.0 : 2 * p * r / (p + r);
}

}  // namespace pardec
