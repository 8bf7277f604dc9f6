#include "src/model/derived_weights.hpp"

#include <cstring>
#include <map>

#include "src/model/files/checkpoint_files.hpp"
#include "src/model/network.hpp"
#include "src/support/rng.hpp"

namespace pardec {

namespace {

/// Standard deviation of an untrained row.
constexpr double kDeviation = 0.02;

}  // namespace

void write_derived_weights(const std::filesystem::path& base, const ModelConfig& config,
                           const DrawnRows& drawn, const std::filesystem::path& file) {
  std::map<std::string, Parameter> there;
  const ModelConfig from = read_model_config(base);
  for (const Parameter& parameter : parameters(from)) there.emplace(parameter.name, parameter);
  const CheckpointFiles checkpoint(base);
  std::vector<TensorToWrite> tensors;
  for (const Parameter& parameter : parameters(config)) {
    const StoredTensor stored = checkpoint.find(there.at(parameter.name), from).tensor;
    const bool rows = parameter.role == Role::embedding || parameter.role == Role::head;
    const DrawnRows draw = rows ? drawn : DrawnRows{.count = 0};
    tensors.push_back({parameter.name, stored.type, parameter.stored_shape(),
                       [stored, parameter, draw](std::span<std::byte> bytes) {
                         const at::Tensor numbers = read_tensor(stored);
                         std::memcpy(bytes.data(), numbers.const_data_ptr(), numbers.nbytes());
                         if (draw.count == 0) return;
                         const bool bias = parameter.shape.size() == 1;  // of new tokens: 0
                         const std::int64_t width = bias ? 1 : parameter.shape[1];
                         at::Tensor fresh = at::zeros({draw.count, width}, at::kFloat);
                         Rng rng(derive_seed(draw.seed, parameter.name));
                         for (float& value : std::span(fresh.data_ptr<float>(),
                                                       static_cast<size_t>(fresh.numel())))
                           if (!bias) value = static_cast<float>(rng.normal() * kDeviation);
                         fresh = fresh.to(scalar_type(stored.type)).contiguous();
                         const auto row = static_cast<size_t>(width * size_of(stored.type));
                         std::memcpy(bytes.data() + static_cast<size_t>(draw.first) * row,
                                     fresh.const_data_ptr(), static_cast<size_t>(draw.count) * row);
                       }});
  }
  write_safetensors(file, with_stacks(std::move(tensors), parameters(config)));
}

}  // namespace pardec
