#include "src/model/files/gguf_weights.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "src/kernels/bf16.hpp"
#include "src/kernels/ggml_scales.hpp"
#include "src/model/files/gguf_config.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

template <typename T>
T loaded(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The float16 at an address.
float half(const std::uint8_t* at) { return widen_half(loaded<std::uint16_t>(at)); }

// One function for each type: the numbers of one block. The layouts are those of ggml-common.h.
// Products and sums are written apart, because a fused multiply-add would round once less.

constexpr int kHalfBlock = 16;

void block_f32(const std::uint8_t* at, float* out) { *out = loaded<float>(at); }
void block_f16(const std::uint8_t* at, float* out) { *out = half(at); }
void block_bf16(const std::uint8_t* at, float* out) { *out = widen(loaded<std::uint16_t>(at)); }

void block_q8_0(const std::uint8_t* at, float* out) {
  const float scale = half(at);
  for (int i = 0; i < 2 * kHalfBlock; ++i)
    out[i] = static_cast<float>(static_cast<std::int8_t>(at[2 + i])) * scale;
}

void block_q4_0(const std::uint8_t* at, float* out) {
  const float scale = half(at);
  for (int i = 0; i < kHalfBlock; ++i) {
    out[i] = scale * static_cast<float>((at[2 + i] & 0xF) - 8);
    out[i + kHalfBlock] = scale * static_cast<float>((at[2 + i] >> 4) - 8);
  }
}

void block_q4_1(const std::uint8_t* at, float* out) {
  const float scale = half(at), least = half(at + 2);
  for (int i = 0; i < kHalfBlock; ++i) {
    const float low = scale * static_cast<float>(at[4 + i] & 0xF);
    const float high = scale * static_cast<float>(at[4 + i] >> 4);
    out[i] = low + least;
    out[i + kHalfBlock] = high + least;
  }
}

// Of the types with K, a block has 256 numbers in groups that have their own scales.
constexpr int kGroups = 8, kGroup = 32;

/// Q4_K, and Q5_K if `fifth` points to the fifth bits.
void block_k(const std::uint8_t* at, const std::uint8_t* fifth, const std::uint8_t* nibbles,
             float* out) {
  const float scale = half(at), least = half(at + 2);
  for (int group = 0; group < kGroups; ++group) {
    const auto [of_scale, of_least] = scale_and_least(at + 4, group);
    const float factor = scale * static_cast<float>(of_scale);
    const float less = least * static_cast<float>(of_least);
    for (int i = 0; i < kGroup; ++i) {
      const int byte = nibbles[group / 2 * kGroup + i];
      const int low = group % 2 == 0 ? byte & 0xF : byte >> 4;
      const int high = fifth ? (fifth[i] >> group & 1) << 4 : 0;
      const float product = factor * static_cast<float>(low | high);
      out[group * kGroup + i] = product - less;
    }
  }
}
void block_q4_k(const std::uint8_t* at, float* out) { block_k(at, nullptr, at + 16, out); }
void block_q5_k(const std::uint8_t* at, float* out) { block_k(at, at + 16, at + 48, out); }

void block_q6_k(const std::uint8_t* at, float* out) {
  const std::uint8_t *low = at, *high = at + 128, *scales = at + 192;
  const float scale = half(at + 208);
  for (int i = 0; i < 256; ++i) {
    // Halves of 128 numbers; in each, four groups of 32 share bytes.
    const int part = i / 128, group = i % 128 / 32, column = i % 32;
    const int four = low[part * 64 + (group % 2) * 32 + column] >> (group / 2 * 4) & 0xF;
    const int two = high[part * 32 + column] >> (group * 2) & 3;
    const float factor = scale * static_cast<float>(static_cast<std::int8_t>(scales[i / 16]));
    out[i] = factor * static_cast<float>((four | two << 4) - 32);
  }
}

void block_mxfp4(const std::uint8_t* at, float* out) {
  // Twice the values of FP4 (E2M1), and half the scale, whose exponent is the byte.
  constexpr std::array<float, 16> kValues{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const std::uint32_t bits = at[0] < 2 ? 0x00200000u << at[0] : (std::uint32_t{at[0]} - 1) << 23;
  const auto scale = std::bit_cast<float>(bits);
  for (int i = 0; i < kHalfBlock; ++i) {
    out[i] = scale * kValues[at[1 + i] & 0xF];
    out[i + kHalfBlock] = scale * kValues[at[1 + i] >> 4];
  }
}

using BlockReader = void (*)(const std::uint8_t* at, float* out);
struct ReadType {
  std::string_view name;
  BlockReader read;
};
constexpr std::array kReadTypes{ReadType{"F32", block_f32},   ReadType{"F16", block_f16},
                                ReadType{"BF16", block_bf16}, ReadType{"Q8_0", block_q8_0},
                                ReadType{"Q4_0", block_q4_0}, ReadType{"Q4_1", block_q4_1},
                                ReadType{"Q4_K", block_q4_k}, ReadType{"Q5_K", block_q5_k},
                                ReadType{"Q6_K", block_q6_k}, ReadType{"MXFP4", block_mxfp4}};

BlockReader reader_of(const GgmlType& type) {
  for (const ReadType& one : kReadTypes)
    if (one.name == type.name) return one.read;
  return nullptr;
}

/// The row of the file that is row `row` of `rows` in transformers' order.
std::int64_t row_in_file(std::int64_t row, std::int64_t rows, int heads) {
  if (heads == 0) return row;
  const std::int64_t of_head = rows / heads, half_head = of_head / 2;
  const std::int64_t head = row / of_head, within = row % of_head;
  return head * of_head + 2 * (within % half_head) + within / half_head;
}

}  // namespace

bool is_read(const GgmlType& type) { return reader_of(type) != nullptr; }

std::string read_ggml_types() {
  std::vector<std::string> names;
  for (const ReadType& one : kReadTypes) names.emplace_back(one.name);
  return join(names, ", ");
}

void dequantise(const GgmlType& type, std::span<const std::byte> blocks, std::span<float> out) {
  const BlockReader read = reader_of(type);
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(blocks.data());
  const auto size = static_cast<size_t>(type.bytes), block = static_cast<size_t>(type.block);
  const size_t count = blocks.size() / size;
  for (size_t i = 0; i < count; ++i) read(begin + i * size, out.data() + i * block);
}

std::optional<WeightType> packed_type(const GgmlType& type) {
  constexpr std::array<std::pair<std::string_view, WeightType>, 4> kPacked{
      {{"Q4_0", WeightType::q4_0},
       {"Q4_1", WeightType::q4_1},
       {"Q4_K", WeightType::q4_k},
       {"Q8_0", WeightType::q8_0}}};
  for (const auto& [name, packed] : kPacked)
    if (name == type.name) return packed;
  return std::nullopt;
}

std::optional<WeightType> packed_type(const Parameter& parameter, const ModelConfig& config) {
  if (!parameter.matrix() || parameter.role == Role::router ||
      parameter.role == Role::shared_router)
    return std::nullopt;
  const auto type_of = [&](const std::string& name) -> std::optional<WeightType> {
    const auto found = config.blocks.find(name);
    return found == config.blocks.end() ? std::nullopt : packed_type(*found->second);
  };
  const auto type = type_of(parameter.name);
  constexpr std::array<std::pair<Role, Role>, 6> kTogether{{{Role::gate, Role::up},
                                                            {Role::up, Role::gate},
                                                            {Role::expert_gate, Role::expert_up},
                                                            {Role::expert_up, Role::expert_gate},
                                                            {Role::shared_gate, Role::shared_up},
                                                            {Role::shared_up, Role::shared_gate}}};
  for (const auto& [role, other] : kTogether)
    if (role == parameter.role && config.block.gated &&
        type_of(parameter_name(*config.family, other, parameter.layer, false, parameter.expert)) !=
            type)
      return std::nullopt;
  return type;
}

std::int64_t row_count(const StoredTensor& tensor) {
  std::int64_t rows = tensor.form.heads > 0 ? tensor.shape.front() : 1;
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i)
    rows = i == 0 ? tensor.shape[i] : rows * tensor.shape[i];
  return rows;
}
std::int64_t row_width(const StoredTensor& tensor) {
  if (tensor.shape.size() > 1) return tensor.shape.back();
  return tensor.form.heads > 0 ? 1 : tensor.shape.front();
}

std::span<std::byte> row_bytes(const StoredTensor& tensor, std::int64_t row) {
  const GgmlType& type = *tensor.form.type;
  const auto bytes = static_cast<size_t>(row_width(tensor) / type.block * type.bytes);
  const std::int64_t there = row_in_file(row, row_count(tensor), tensor.form.heads);
  return tensor.data.subspan(static_cast<size_t>(there) * bytes, bytes);
}

void read_rows(const StoredTensor& tensor, std::int64_t first, std::int64_t count,
               std::span<float> out) {
  const auto width = static_cast<size_t>(row_width(tensor));
  for (std::int64_t i = 0; tensor.read_row && i < count; ++i)
    tensor.read_row(first + i, out.subspan(static_cast<size_t>(i) * width, width));
  if (tensor.read_row) return;
  for (std::int64_t i = 0; i < count; ++i)
    dequantise(*tensor.form.type, row_bytes(tensor, first + i),
               out.subspan(static_cast<size_t>(i) * width, width));
  if (tensor.form.less_one)
    for (float& value : out) value -= 1.0f;
}

// ---- names ----

namespace {

/// The name of a weight in the file; empty: the file never has it.
std::string gguf_name(const Parameter& parameter, const GgufFamily& family) {
  const auto part = [&]() -> const char* {
    switch (parameter.role) {
      case Role::embedding:
        return "token_embd";
      case Role::positions:
        return "position_embd";
      case Role::input_norm:
        return "attn_norm";
      case Role::qkv:
        return "attn_qkv";
      case Role::q:
        return "attn_q";
      case Role::k:
        return "attn_k";
      case Role::v:
        return "attn_v";
      case Role::o:
        return "attn_output";
      case Role::sinks:
        return "attn_sinks";
      case Role::q_norm:
        return "attn_q_norm";
      case Role::k_norm:
        return "attn_k_norm";
      case Role::after_attention_norm:
        return "post_attention_norm";
      case Role::mlp_norm:
        return family.mlp_norm;
      case Role::gate_up:
      case Role::up:
        return "ffn_up";
      case Role::gate:
        return "ffn_gate";
      case Role::down:
        return "ffn_down";
      case Role::router:
        return "ffn_gate_inp";
      case Role::expert_gate:
        return "ffn_gate_exps";
      case Role::expert_up:
        return "ffn_up_exps";
      case Role::expert_down:
        return "ffn_down_exps";
      case Role::shared_router:
        return "ffn_gate_inp_shexp";
      case Role::shared_gate:
        return "ffn_gate_shexp";
      case Role::shared_up:
        return "ffn_up_shexp";
      case Role::shared_down:
        return "ffn_down_shexp";
      case Role::after_mlp_norm:
        return "post_ffw_norm";
      case Role::final_norm:
        return "output_norm";
      case Role::head:
        return "output";
      case Role::extra_block:
      case Role::extra_out:
        break;
    }
    throw std::logic_error("a GGUF file has no extra heads");
  };
  return str(parameter.layer < 0 ? std::string() : str("blk.", parameter.layer, "."), part(),
             parameter.bias ? ".bias" : ".weight");
}

bool is_norm(Role role) {
  switch (role) {
    case Role::input_norm:
    case Role::q_norm:
    case Role::k_norm:
    case Role::after_attention_norm:
    case Role::mlp_norm:
    case Role::after_mlp_norm:
    case Role::final_norm:
      return true;
    default:
      return false;
  }
}

/// The type of a tensor whose numbers are in order; `rows` if they are not.
StoredType stored_type(const GgufForm& form) {
  const std::string_view name = form.type->name;
  if (!is_read(*form.type)) return name == "F64" ? StoredType::f64 : StoredType::other;
  if (form.heads > 0 || form.less_one) return StoredType::rows;
  return name == "F32"    ? StoredType::f32
         : name == "F16"  ? StoredType::f16
         : name == "BF16" ? StoredType::bf16
                          : StoredType::rows;
}

StoredTensor stored(const GgufTensor& tensor, GgufForm form) {
  form.type = tensor.type;
  return {stored_type(form), tensor.shape, tensor.data, tensor.type->name, form};
}

}  // namespace

std::vector<NamedTensor> named_tensors(const Gguf& gguf, const ModelConfig& config) {
  const GgufFamily& family = gguf_family(gguf);
  std::map<std::string, std::vector<Parameter>, std::less<>> weights;
  for (const Parameter& parameter : parameters(config))
    weights[gguf_name(parameter, family)].push_back(parameter);
  std::vector<NamedTensor> all;
  for (const auto& [name, tensor] : gguf.tensors()) {
    const auto found = weights.find(name);
    if (found == weights.end()) {
      all.push_back({name, stored(tensor, {})});
      continue;
    }
    const Parameter& first = found->second.front();
    GgufForm form;
    if (family.rotates_neighbours && (first.role == Role::q || first.role == Role::k))
      form.heads = first.role == Role::q ? config.heads : config.kv_heads;
    form.less_one = config.block.norm_adds_one && is_norm(first.role);
    // Reordering needs the shape that the config asks for.
    if (form.heads > 0 && tensor.shape != first.shape)
      throw ModelError(gguf.where(),
                       str("tensor '", name, "' has shape ", shape_text(tensor.shape),
                           ", expected ", shape_text(first.shape), " from the metadata"));
    if (first.expert < 0) {
      all.push_back({first.name, stored(tensor, form)});
      continue;
    }
    if (tensor.shape.size() != first.shape.size() + 1 ||
        tensor.shape.front() != config.experts.count)
      throw ModelError(gguf.where(),
                       str("tensor '", name, "' has shape ", shape_text(tensor.shape),
                           ", expected ", config.experts.count,
                           first.bias ? " vectors" : " matrices", ", one for each expert"));
    const size_t bytes = tensor.data.size() / static_cast<size_t>(config.experts.count);
    for (const Parameter& expert : found->second) {
      StoredTensor one = stored(tensor, form);
      one.shape.erase(one.shape.begin());
      one.data = one.data.subspan(static_cast<size_t>(expert.expert) * bytes, bytes);
      all.push_back({expert.name, std::move(one)});
    }
  }
  return all;
}

}  // namespace pardec
