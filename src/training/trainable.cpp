#include "src/training/trainable.hpp"

#include "src/model/transformer.hpp"

namespace pardec {

std::vector<std::pair<std::string, at::Tensor>> Trainable::exported(
    const std::map<std::string, at::Tensor>&,
    std::vector<std::pair<std::string, at::Tensor>> masters) const {
  return masters;
}

std::vector<RowTargets> own_targets(const TrainingSample& sample) {
  std::vector<RowTargets> all;
  for (const auto& [row, token] : sample.targets) all.push_back({row, {token}});
  return all;
}

std::int64_t parameter_count(const Trainable& what) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : what.parameters()) sum += parameter.elements();
  return sum;
}

}  // namespace pardec
