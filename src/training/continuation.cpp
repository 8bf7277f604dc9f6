#include "src/training/continuation.hpp"

namespace pardec {

std::vector<Continuation> continuations(const TrainingSample& sample, int most) {
  std::vector<std::optional<Token>> target(sample.tokens.size());  // by row
  for (const auto& [row, token] : sample.targets) target[static_cast<size_t>(row)] = token;
  const auto goes_on = [&](size_t row) {
    if (row + 1 == target.size() || !target[row] || !target[row + 1]) return false;
    const RowLabel &here = sample.labels[row], &next = sample.labels[row + 1];
    return sample.tokens[row + 1] == *target[row] && next.position == here.position + 1 &&
           next.segment == here.segment;
  };
  std::vector<Continuation> all;
  for (size_t row = 0; row < target.size(); ++row) {
    Continuation next{static_cast<int>(row), {}};
    for (size_t at = row; std::ssize(next.tokens) < most && goes_on(at); ++at)
      next.tokens.push_back(*target[at + 1]);
    if (!next.tokens.empty()) all.push_back(std::move(next));
  }
  return all;
}

}  // namespace pardec
