#include "metrics/judge_f1.hpp"

#include "metrics/statistics.hpp"

namespace pardec {

double JudgeCounts::precision() const {
  return share_of(correct + correct_null, correct + correct_null + hallucination + incorrect);
}

double JudgeCounts::recall() const {
  return share_of(correct + correct_null, correct + correct_null + missing + incorrect);
}

double JudgeCounts::f1() const {
  const double p = precision(), r = recall();
  return p + r == 0 ? 0.0 : 2 * p * r / (p + r);
}

}  // namespace pardec
