#include <bit>
#include <cmath>
#include <cstring>

#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/model/model.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The upper half of a float32, rounded to nearest even.
std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// Approximately standard normal: the sum of twelve 16-bit uniforms (three draws). Uses only
/// integers, so that every machine gets the same bits.
double almost_normal(Rng& rng) {
  std::uint32_t sum = 0;
  for (int draw = 0; draw < 3; ++draw) {
    const std::uint64_t bits = rng.next();
    sum += static_cast<std::uint32_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) +
                                      (bits >> 32 & 0xFFFF) + (bits >> 48));
  }
  return (static_cast<double>(sum) - 6.0 * 65535) / 65536;
}

/// Standard deviation of a matrix: larger for queries and keys, 1 for embeddings after they are
/// scaled, otherwise variance-preserving.
double deviation(const Parameter& parameter, const BlockSpec& block) {
  const Role role = parameter.role;
  if (role == Role::embedding || role == Role::positions) return 1.0 / block.embedding_scale;
  const double gain = role == Role::q || role == Role::k || role == Role::qkv ? 3.0 : 1.0;
  return gain / std::sqrt(static_cast<double>(parameter.shape.back()));
}

void fill(const Parameter& parameter, const BlockSpec& block, std::uint64_t seed,
          std::span<std::byte> bytes) {
  const bool matrix = parameter.matrix();
  const double scale = matrix ? deviation(parameter, block) : 0.0;
  const std::uint16_t constant = to_bf16(parameter.bias || block.norm_adds_one ? 0.0f : 1.0f);
  Rng rng(derive_seed(seed, parameter.name));
  for (size_t at = 0; at < bytes.size(); at += 2) {
    const std::uint16_t value =
        matrix ? to_bf16(static_cast<float>(almost_normal(rng) * scale)) : constant;
    std::memcpy(bytes.data() + at, &value, 2);
  }
}

void write_random(const std::vector<Parameter>& parameters, const BlockSpec& block,
                  std::uint64_t seed, const std::filesystem::path& file) {
  std::vector<TensorToWrite> tensors;
  for (const Parameter& parameter : parameters)
    tensors.push_back(
        {parameter.name, StoredType::bf16, parameter.stored_shape(),
         [&, seed](std::span<std::byte> bytes) { fill(parameter, block, seed, bytes); }});
  write_safetensors(file, with_stacks(std::move(tensors), parameters));
}

}  // namespace

void synthesise_checkpoint(const Json& config_json, std::uint64_t seed,
                           const std::filesystem::path& folder) {
  const ModelConfig config = parse_model_config(config_json, "config");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw RunError(str(folder.string(), ": cannot be made: ", error.message()));

  write_random(parameters(config), config.block, seed, folder / "model.safetensors");
  write_model_config(config_json, folder);
}

void synthesise_extra_heads(const ExtraHeadShape& shape, std::uint64_t seed,
                            const std::filesystem::path& folder) {
  const ModelConfig config = read_model_config(folder);
  write_random(extra_head_parameters(config, shape), config.block, seed, folder / kExtraHeadsFile);
}

void write_model_config(const Json& config_json, const std::filesystem::path& folder) {
  const ModelConfig config = parse_model_config(config_json, "config");
  Json written = config_json;
  written["architectures"] = {config.family->architecture};
  written["model_type"] = config.family->model_type;
  written["dtype"] = "bfloat16";
  written.erase("torch_dtype");  // older name of dtype
  write_file(folder / "config.json", written.dump(2) + "\n");
  Json generation = Json::object();
  if (config.bos) generation["bos_token_id"] = *config.bos;
  if (config.eos.size() == 1) generation["eos_token_id"] = config.eos.front();
  if (config.eos.size() > 1) generation["eos_token_id"] = config.eos;
  write_file(folder / "generation_config.json", generation.dump(2) + "\n");
}

}  // namespace pardec
