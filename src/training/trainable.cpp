#include "src/training/trainable.hpp"

#include "src/model/network.hpp"

namespace pardec {

std::vector<std::pair<std::string, at::Tensor>> Trainable::exported(
    const std::map<std::string, at::Tensor>&,
    std::vector<std::pair<std::string, at::Tensor>> masters) const {
  std::map<std::string, Parameter> of_network;
  for (Parameter& parameter : pardec::parameters(config()))
    of_network.emplace(parameter.name, parameter);
  for (auto& [name, weight] : masters)
    if (const auto found = of_network.find(name); found != of_network.end())
      weight = turned(weight, found->second);
  return masters;
}

std::vector<RowTargets> Trainable::targets(const TrainingSample& sample) const {
  std::vector<RowTargets> all;
  for (const auto& [row, token] : sample.targets) all.push_back({row, {token}});
  return all;
}

at::Tensor Trainable::logits(const Model::Network& network, size_t,
                             const at::Tensor& head_inputs) const {
  return training_logits(network, head_inputs);
}

std::set<std::string> files_of(const Trainable& what) {
  std::set<std::string> files;
  for (const Parameter& parameter : what.parameters()) files.insert(what.file(parameter.name));
  return files;
}

std::int64_t parameter_count(const Trainable& what) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : what.parameters()) sum += parameter.elements();
  return sum;
}

}  // namespace pardec
