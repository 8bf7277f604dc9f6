#include "src/model/packed/packed_backend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "src/group/group.hpp"
#include "src/kernels/bf16.hpp"
#include "src/kernels/team.hpp"
#include "src/model/device.hpp"
#include "src/model/network.hpp"
#include "src/model/packed/bfloat16_bits.hpp"
#include "src/model/packed/panel_attention.hpp"
#include "src/model/packed/stored_blocks.hpp"
#include "src/model/profile.hpp"

namespace pardec {

namespace {

at::Tensor rounded(const at::Tensor& tensor) { return tensor.to(at::kBFloat16); }

/// The values rounded to bf16; empty if undefined.
std::vector<float> floats(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const at::Tensor wide = rounded(tensor).to(at::kFloat).contiguous();
  return {wide.const_data_ptr<float>(), wide.const_data_ptr<float>() + wide.numel()};
}

/// Layer norm of `x` [count]: mean subtracted, divided by the deviation, times the factors, plus
/// the bias if there is one. Sums are in an order of their own, in 16 parts, so that the compiler
/// uses vectors.
void layer_norm(const float* x, std::int64_t count, const float* factors, const float* bias,
                float eps, float* out) {
  const auto total = [&](auto value) {
    std::array<float, 16> parts{};
    std::int64_t i = 0;
    for (; i + 16 <= count; i += 16)
      for (std::int64_t j = 0; j < 16; ++j) parts[static_cast<size_t>(j)] += value(x[i + j]);
    for (; i < count; ++i) parts[0] += value(x[i]);
    return std::accumulate(parts.begin(), parts.end(), 0.0f);
  };
  const auto n = static_cast<float>(count);
  const float mean = total([](float v) { return v; }) / n;
  const float variance = total([mean](float v) { return (v - mean) * (v - mean); }) / n;
  const float scale = 1 / std::sqrt(variance + eps);
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = (x[i] - mean) * scale * factors[i] + (bias ? bias[i] : 0.0f);
}

const float* data_or_null(const std::vector<float>& values) {
  return values.empty() ? nullptr : values.data();
}

// Minimum work per piece of a shared loop. Two pieces take as long as the overhead of sharing, 0.5
// to 1 us (experiments/README.md describes the measurement, and why a process does not measure it
// itself).
constexpr std::int64_t kRowsOfAPiece = 4;                 // normed, rotated or embedded
constexpr std::int64_t kWeightBytesOfAPiece = 16 * 1024;  // read by a product of few rows

/// Panels per piece of a product.
std::int64_t panel_grain(const PackedMatrix& weights) {
  return std::max<std::int64_t>(1, kWeightBytesOfAPiece / weights.panel_bytes());
}

float activated(float x, Activation activation) {
  if (activation == Activation::silu) return x / (1 + std::exp(-x));
  if (activation == Activation::gelu) return 0.5f * x * (1 + std::erf(x * 0.7071067812f));
  return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}

/// Calls work(i) for each row.
template <typename Work>
void each_row(std::int64_t rows, const Work& work) {
  team().run(rows, kRowsOfAPiece, [&](int, std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) work(row);
  });
}

void multiply_panels(const Kernels& kernels, Product product) {
  std::vector<float> sums;
  if (has_least(product.weights.type)) {
    const std::int64_t inputs = product.weights.inputs, blocks = inputs / kSharedInputs;
    sums.resize(static_cast<size_t>(product.rows * blocks));
    each_row(product.rows, [&](std::int64_t row) {
      kernels.sum_blocks(product.x + row * product.x_stride, inputs, sums.data() + row * blocks);
    });
    product.x_sums = sums.data();
  }
  team().run(product.weights.panel_count(), panel_grain(product.weights),
             // Captured by value, so that a helper's first reads touch few cache lines.
             [product, multiply = kernels.multiply](int, std::int64_t first, std::int64_t last) {
               multiply(product, first, last);
             });
}

}  // namespace

WeightType weight_type(Dtype dtype) {
  return dtype == Dtype::int8  ? WeightType::int8
         : dtype == Dtype::nf4 ? WeightType::nf4
                               : WeightType::bf16;
}

// ---- packing ----

class PackedBackend::Packer {
 public:
  /// `memory` null: the packer only counts.
  Packer(const Kernels& kernels, WeightMemory* memory) : kernels_(kernels), memory_(memory) {}

  bool counts() const { return !memory_; }
  /// Bytes of all packed matrices so far.
  std::int64_t bytes() const { return bytes_; }

  /// Stacks maps vertically. `type` is the packed type of matrices that are not in blocks.
  /// REQUIRES: all of them are in blocks of one type, or none of them is in blocks.
  Map stacked(std::span<Linear* const> maps, WeightType type) {
    std::vector<Row> rows;
    std::vector<float> bias;
    for (Linear* map : maps) {
      prepare(*map);
      for (std::int64_t i = 0; i < map->weight.size(0); ++i) rows.push_back({&map->weight, i});
      const std::vector<float> values = floats(map->bias);
      bias.insert(bias.end(), values.begin(), values.end());
    }
    bias.resize((bias.size() + kPanel - 1) / kPanel * kPanel);
    const PackedMatrix matrix = pack(rows, std::ssize(rows), type);
    if (memory_)
      for (Linear* map : maps) *map = {};
    return {matrix, std::move(bias)};
  }
  Map stacked(Linear& map, WeightType type) {
    Linear* const one = &map;
    return stacked({&one, 1}, type);
  }
  /// A map with its rows in another order. REQUIRES: the matrix is not in blocks.
  Map reordered(Linear& map, const std::vector<std::int64_t>& order, WeightType type) {
    prepare(map);
    const std::vector<float> values = floats(map.bias);
    std::vector<Row> rows;
    std::vector<float> bias;
    if (!values.empty()) bias.resize(static_cast<size_t>(divided_up(std::ssize(order)) * kPanel));
    for (size_t i = 0; i < order.size(); ++i) {
      rows.push_back({&map.weight, order[i]});
      if (!values.empty()) bias[i] = values[static_cast<size_t>(order[i])];
    }
    const PackedMatrix matrix = pack(rows, std::ssize(rows), type);
    if (memory_) map = {};
    return {matrix, std::move(bias)};
  }
  /// The same for neighbours of the same type, one map after another.
  std::vector<Map> stacked_by_type(std::initializer_list<Linear*> maps, WeightType type) {
    std::vector<Map> all;
    for (auto first = maps.begin(); first != maps.end();) {
      const auto last = std::find_if(first, maps.end(), [&](const Linear* map) {
        return form_of(map->weight) != form_of((*first)->weight);
      });
      all.push_back(stacked({first, last}, type));
      first = last;
    }
    return all;
  }
  /// Each panel gets 16 rows of `a` and the same 16 rows of `b`, as Product::gated needs
  /// them. REQUIRES: both are in blocks of one type, or none of them is in blocks.
  Map interleaved(Linear& a, Linear& b, WeightType type) {
    std::vector<Row> rows;
    std::vector<float> bias;
    prepare(a), prepare(b);
    const std::int64_t count = a.weight.size(0);
    for (std::int64_t i = 0; i < count; i += kPanel / 2)
      for (const Linear* map : {&a, &b}) {
        const std::vector<float> values = floats(map->bias);
        for (std::int64_t j = i; j < i + kPanel / 2; ++j) {
          rows.push_back({j < count ? &map->weight : nullptr, j});
          if (!values.empty()) bias.push_back(j < count ? values[static_cast<size_t>(j)] : 0.0f);
        }
      }
    const PackedMatrix matrix = pack(rows, 2 * count, type);
    if (memory_) a = b = {};
    return {matrix, std::move(bias)};
  }

 private:
  /// A row of a matrix; null: a row of zeros.
  struct Row {
    const at::Tensor* matrix;
    std::int64_t index;
    template <typename Number>
    const Number* at() const {
      return matrix
                 ? static_cast<const Number*>(matrix->const_data_ptr()) + index * matrix->stride(0)
                 : nullptr;
    }
  };
  /// The type of the blocks; nothing: the matrix is not in blocks.
  static std::optional<WeightType> form_of(const at::Tensor& matrix) {
    return is_blocks(matrix) ? std::optional(blocks_type(matrix)) : std::nullopt;
  }
  void prepare(Linear& map) const {
    if (memory_ && !is_blocks(map.weight)) map.weight = rounded(map.weight);
  }

  /// Packs rows in the panels' order. The first row is one of a matrix.
  PackedMatrix pack(std::vector<Row> rows, std::int64_t outputs, WeightType usual) {
    const at::Tensor& first = *rows.front().matrix;
    const WeightType type = form_of(first).value_or(usual);
    const std::int64_t inputs = inputs_of(first),
                       size = packed_bytes(std::ssize(rows), inputs, type);
    bytes_ += WeightMemory::taken(size);
    if (!memory_) return {nullptr, outputs, inputs, type};
    std::byte* panels = memory_->take(size);
    const PackedMatrix matrix{panels, outputs, inputs, type};
    rows.resize(static_cast<size_t>(divided_up(std::ssize(rows)) * kPanel), {nullptr, 0});
    team().run(std::ssize(rows) / kPanel, 1, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        const Row* from = rows.data() + p * kPanel;
        std::byte* to = panels + p * matrix.panel_bytes();
        if (in_blocks(type))
          pack_blocks(type, pointers<std::byte>(from).data(), inputs, to);
        else
          kernels_.pack_panel(type, pointers<std::uint16_t>(from).data(), inputs, to);
      }
    });
    return matrix;
  }
  template <typename Number>
  static std::array<const Number*, kPanel> pointers(const Row* rows) {
    std::array<const Number*, kPanel> all{};
    std::transform(rows, rows + kPanel, all.begin(),
                   [](const Row& row) { return row.at<Number>(); });
    return all;
  }
  static std::int64_t divided_up(std::int64_t rows) { return (rows + kPanel - 1) / kPanel; }

  const Kernels& kernels_;
  WeightMemory* memory_;
  std::int64_t bytes_ = 0;
};

namespace {

/// The rows of q, then of k, then of v in a matrix that has them in the order of `block.qkv`.
std::vector<std::int64_t> rows_of_qkv(const ModelConfig& config) {
  const std::int64_t dim = config.head_dim, group = config.heads / config.kv_heads;
  const std::int64_t of_key_head = (group + 2) * dim;
  const bool stacked = config.block.qkv == Qkv::stacked;
  std::vector<std::int64_t> rows;
  const auto add = [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t head = 0; head < config.kv_heads; ++head)
      for (std::int64_t i = 0; i < count; ++i)
        rows.push_back(stacked ? std::ssize(rows) : head * of_key_head + first + i);
  };
  add(0, group * dim);
  add(group * dim, dim);
  add((group + 1) * dim, dim);
  return rows;
}

}  // namespace

bool PackedBackend::fits(const Model::Network& network) {
  const ModelConfig& config = network.config;
  const BlockSpec& block = config.block;
  const bool common =
      block.norms == Norms::before && block.residual_scale == 1 && !block.parallel && block.gated;
  const bool layer_norms = block.norms == Norms::before && block.qk_norm == QkNorm::none;
  const bool exact_gate = block.gated && block.activation == Activation::gelu;  // no kernel has it
  return network.type == at::kBFloat16 && network.device.is_cpu() &&
         (config.experts.count == 0 || common) && (!block.layer_norm || layer_norms) && !exact_gate;
}

std::shared_ptr<PackedBackend> PackedBackend::take(Model::Network& network) {
  const InstructionSet set = network.options.instruction_set.value_or(widest_instruction_set());
  PackedBackend counted(set);
  Packer count(counted.kernels_, nullptr);
  counted.pack(network, count);
  std::shared_ptr<PackedBackend> packed(new PackedBackend(set));
  packed->memory_ = WeightMemory(count.bytes());
  Packer packer(packed->kernels_, &packed->memory_);
  packed->pack(network, packer);
  return packed;
}

void PackedBackend::pack(Model::Network& network, Packer& packer) {
  const ModelConfig& config = network.config;
  const WeightType type = weight_type(network.options.dtype);
  constexpr WeightType kHead = WeightType::bf16;
  // The largest matrix comes first, as long as little else is in memory.
  final_norm_ = norm_of(network.final_norm, config);
  embedding_scale_ = at::scalar_tensor(config.block.embedding_scale, at::kBFloat16).item<float>();
  if (config.tied_head) {
    if (!packer.counts()) network.embedding = at::Tensor();
  } else if (is_blocks(network.embedding)) {
    Linear embedding;
    embedding.weight = network.embedding;
    if (!packer.counts()) network.embedding = at::Tensor();
    embedding_ = packer.stacked(embedding, kHead);
  } else if (!packer.counts()) {
    network.embedding = rounded(network.embedding);
  }
  if (!packer.counts() && network.position_rows.defined())
    network.position_rows = rounded(network.position_rows);
  head_ = packer.stacked(network.head, kHead);
  for (pardec::Layer& from : network.layers) {
    Layer& layer = layers_.emplace_back();
    layer.input_norm = norm_of(from.input_norm, config);
    layer.post_norm = norm_of(from.post_norm, config);
    layer.q_norm = norm_of(from.q_norm, config);
    layer.k_norm = norm_of(from.k_norm, config);
    layer.sinks = floats(from.sinks);
    layer.after_attention = norm_of(from.after_attention, config);
    layer.after_mlp = norm_of(from.after_mlp, config);
    from.gate_up.reset();  // otherwise it would keep the parts' memory alive
    if (config.block.qkv == Qkv::apart)
      layer.qkv = packer.stacked_by_type({&from.q, &from.k, &from.v}, type);
    else
      layer.qkv.push_back(packer.reordered(from.qkv, rows_of_qkv(config), type));
    layer.o = packer.stacked(from.o, type);
    if (from.gate.weight.defined())
      layer.gate_up = packer.interleaved(from.gate, from.up, type);
    else if (from.up.weight.defined())
      layer.gate_up = packer.stacked(from.up, type);
    if (from.down.weight.defined()) layer.down = packer.stacked(from.down, type);
    if (from.experts.empty()) continue;
    layer.router = packer.stacked(from.router, kHead);
    if (config.experts.shared_inner > 0)
      layer.shared_router = packer.stacked(from.shared_router, kHead);
    for (pardec::Expert& expert : from.experts)
      layer.experts.push_back(
          {packer.interleaved(expert.gate, expert.up, type), packer.stacked(expert.down, type)});
  }
  for (pardec::ExtraHead& from : network.extra_heads) {
    ExtraHead& head = extra_heads_.emplace_back();
    for (Linear& block : from.blocks) head.blocks.push_back(packer.stacked(block, kHead));
    if (!from.shares_head) head.out = packer.stacked(from.out, kHead);
  }
}

// ---- one pass ----

namespace {

/// The new rows of one sequence, as a range of all rows of the pass.
struct Part {
  KvCache::Storage* cache;
  std::int64_t begin, count;
};

}  // namespace

/// One forward pass: buffers for all rows, filled phase by phase by the team.
class PackedBackend::Pass {
 public:
  Pass(const PackedBackend& packed, const Model::Network& network,
       std::span<const NewRows> sequences, const SkippedSublayers& skipped)
      : packed_(packed),
        k_(packed.kernels_),
        network_(network),
        config_(network.config),
        skipped_(skipped),
        queries_(std::int64_t{config_.heads} * config_.head_dim),
        keys_(std::int64_t{config_.kv_heads} * config_.head_dim),
        ropes_(config_.ropes()),
        laps_(network.profile),
        attention_(network, packed.kernels_, sequences) {
    for (const NewRows& sequence : sequences) add(sequence);
    const auto options = at::TensorOptions().dtype(at::kFloat);
    const auto half = options.dtype(at::kBFloat16);
    const std::int64_t hidden = config_.hidden_size;
    x_ = at::empty({rows_, hidden}, options);
    normed_ = at::empty({rows_, hidden}, half);
    qkv_ = at::empty({rows_, queries_ + 2 * keys_}, options);
    mixed_ = at::empty({rows_, queries_}, half);
    const Experts& experts = config_.experts;
    gated_ = at::empty(
        {rows_, std::max({config_.intermediate_size, experts.inner, experts.shared_inner})}, half);
    if (experts.count > 0) {
      router_ = at::empty({rows_, experts.count}, options);
      shared_router_ = at::empty({rows_}, options);
      gathered_ = at::empty({rows_, hidden}, half);
      if (split()) expert_sums_ = at::empty({rows_, hidden}, options);
    }
    if (!config_.block.gated) inner_ = at::empty({rows_, config_.intermediate_size}, options);
    turn_ = at::empty({std::ssize(ropes_), rows_, config_.rope.dims}, options);
    if (config_.block.norms != Norms::before || experts.count > 0 ||
        config_.block.residual_scale != 1 || split())
      branch_ = at::empty({rows_, hidden}, options);
  }

  at::Tensor run() {
    laps_.skip();
    prepare();
    laps_.add_to(&Profile::rows_ns);
    attention_.prepare();
    laps_.skip();
    for (size_t i = 0; i < packed_.layers_.size(); ++i) {
      const bool attends = !skipped_.skips_attention(i);
      if (attends) attend(i);
      if (!skipped_.skips_mlp(i)) mlp(packed_.layers_[i], config_.block.parallel && attends);
    }
    return x_;
  }
  /// Number of experts that the pass has read, summed over layers.
  std::int64_t experts_read() const { return experts_read_; }

 private:
  void add(const NewRows& sequence) {
    Part& part = parts_.emplace_back();
    part.cache = sequence.cache;
    part.begin = rows_;
    part.count = std::ssize(sequence.tokens);
    ids_.insert(ids_.end(), sequence.tokens.begin(), sequence.tokens.end());
    for (const RowLabel& label : sequence.labels) positions_.push_back(label.position);
    rows_ += part.count;
  }

  float* x(std::int64_t row) { return x_.mutable_data_ptr<float>() + row * config_.hidden_size; }

  /// Computes the embeddings, and the cosines and sines of the positions: [rope.dims / 2] each.
  void prepare() {
    const ItemRange own =
        split() ? split()->share.vocab : ItemRange{0, std::int64_t{config_.vocab_size}};
    each_row(rows_, [&](std::int64_t row) {
      const std::int64_t place = ids_[static_cast<size_t>(row)] - own.first;
      if (place >= 0 && place < own.count)
        packed_.embed(network_, static_cast<Token>(place), positions_[static_cast<size_t>(row)],
                      x(row));
      else
        std::fill_n(x(row), config_.hidden_size, 0.0f);
      for (size_t kind = 0; kind < ropes_.size(); ++kind) turn(kind, row);
    });
    if (split()) sum(x_);
  }

  const NetworkSplit* split() const { return network_.split.get(); }
  /// Sums float32 numbers over the processes that compute the network.
  void sum(at::Tensor& numbers) {
    split()->group.sum(
        std::span(numbers.mutable_data_ptr<float>(), static_cast<size_t>(numbers.numel())));
    laps_.add_to(&Profile::exchange_ns);
  }

  void turn(size_t kind, std::int64_t row) {
    const float* frequency = network_.inverse_frequencies[kind].const_data_ptr<float>();
    const std::int64_t half = config_.rope.dims / 2;
    const auto turned = static_cast<float>(ropes_[kind].attention_factor);
    float* cos = turn_.mutable_data_ptr<float>() + place_of_turn(kind, row);
    const auto position = static_cast<float>(positions_[static_cast<size_t>(row)]);
    for (std::int64_t i = 0; i < half; ++i) {
      const float angle = position * frequency[i];
      cos[i] = std::cos(angle) * turned;
      cos[half + i] = std::sin(angle) * turned;
    }
  }
  std::int64_t place_of_turn(size_t kind, std::int64_t row) const {
    return (static_cast<std::int64_t>(kind) * rows_ + row) * config_.rope.dims;
  }

  /// Computes the input of a sublayer: x, normed if the sublayer has a norm before it.
  void norm(const Norm& norm) {
    const std::int64_t hidden = config_.hidden_size;
    each_row(rows_, [&](std::int64_t row) {
      packed_.norm_row(norm, config_, x(row), mutable_bits(normed_) + row * hidden);
    });
    laps_.add_to(&Profile::rows_ns);
  }

  void multiply(const Product& product) {
    multiply_panels(k_, product);
    laps_.add_to(&Profile::linear_ns);
  }

  /// Ends a sublayer: multiplies, applies the norm after the sublayer and the factor if there are
  /// any, and adds the result to x.
  void multiply_add(const Map& map, const Norm& norm_after, const at::Tensor& input) {
    const auto scale = static_cast<float>(config_.block.residual_scale);
    const bool direct = norm_after.factors.empty() && scale == 1 && !split();
    multiply({.weights = map.weights,
              .x = bits(input),
              .rows = rows_,
              .x_stride = input.size(1),
              .bias = data_or_null(map.bias),
              .finish = direct ? Product::Finish::add : Product::Finish::store,
              .out = direct ? x(0) : branch_.mutable_data_ptr<float>(),
              .out_stride = config_.hidden_size});
    if (direct) return;
    if (split()) sum(branch_);
    const std::int64_t hidden = config_.hidden_size;
    each_row(rows_, [&](std::int64_t row) {
      float* branch = branch_.mutable_data_ptr<float>() + row * hidden;
      if (!norm_after.factors.empty())
        k_.rms_norm_wide(branch, norm_after.factors.data(), hidden, eps(), branch);
      float* sum = x(row);
      for (std::int64_t i = 0; i < hidden; ++i) sum[i] += scale * branch[i];
    });
    laps_.add_to(&Profile::rows_ns);
  }

  void attend(size_t index) {
    const Layer& layer = packed_.layers_[index];
    norm(layer.input_norm);
    float* columns = qkv_.mutable_data_ptr<float>();
    for (const Map& map : layer.qkv) {
      multiply({.weights = map.weights,
                .x = bits(normed_),
                .rows = rows_,
                .x_stride = config_.hidden_size,
                .bias = data_or_null(map.bias),
                .out = columns,
                .out_stride = qkv_.size(1)});
      columns += map.weights.outputs;
    }
    // x is still the layer's input, which the MLP reads too.
    if (config_.block.parallel && config_.block.two_norms) norm(layer.post_norm);
    if (norms_split_heads()) norm_split_heads(layer);
    for (const Part& part : parts_)
      each_row(part.count, [&](std::int64_t i) { turn_and_cache(layer, index, part, i); });
    laps_.add_to(&Profile::rows_ns);
    for (size_t phase = 0; phase < attention_.phases(); ++phase) {
      attention_.attend(index, phase, data_or_null(layer.sinks), mutable_bits(mixed_));
      laps_.add_to(&Profile::attention_ns);
    }
    multiply_add(layer.o, layer.after_attention, mixed_);
  }

  /// Row i of the part: norms and rotates queries and keys, and writes keys and values to the
  /// cache.
  void turn_and_cache(const Layer& layer, size_t index, const Part& part, std::int64_t i) {
    const std::int64_t row = part.begin + i, dim = config_.head_dim;
    const std::int64_t slot = part.cache->own() + i;
    float* from = qkv_.mutable_data_ptr<float>() + row * qkv_.size(1);
    const std::int64_t half = config_.rope.dims / 2;
    const float* cos = turn_.const_data_ptr<float>() + place_of_turn(config_.rope_kind(index), row);
    const float* sin = cos + half;
    const auto norm = [&](float* first, std::int64_t count, const Norm& of) {
      const std::int64_t size = std::ssize(of.factors);  // of one head, or of all heads together
      for (std::int64_t at = 0; size > 0 && at < count; at += size)
        k_.rms_norm_wide(first + at, of.factors.data(), size, eps(), first + at);
    };
    if (!norms_split_heads()) {
      norm(from, queries_, layer.q_norm);
      norm(from + queries_, keys_, layer.k_norm);
    }
    if (config_.block.neighbours_turn) in_turning_order(from, half);
    std::uint16_t* q = mutable_bits(mixed_) + row * queries_;
    for (std::int64_t head = 0; head < config_.heads; ++head)
      k_.rotate(from + head * dim, cos, sin, half, dim, q + head * dim);
    at::Tensor &keys = part.cache->keys[index], &values = part.cache->values[index];
    for (std::int64_t head = 0; head < config_.kv_heads; ++head) {
      std::uint16_t* panel =
          mutable_bits(keys) + head * keys.stride(0) + slot / kPanel * kPanel * dim;
      k_.rotate_key(from + queries_ + head * dim, cos, sin, half, dim, panel + 2 * (slot % kPanel));
      k_.narrow(from + queries_ + keys_ + head * dim, dim,
                mutable_bits(values) + head * values.stride(0) + slot * dim);
    }
  }

  /// Whether queries and keys are normed over all heads, which several processes have.
  bool norms_split_heads() const { return split() && config_.block.qk_norm == QkNorm::whole; }
  /// Applies this norm to all rows.
  void norm_split_heads(const Layer& layer) {
    const struct {
      std::int64_t first, count;
      double columns;  // of all processes
      bool counts;
      const Norm& norm;
    } kinds[] = {
        {0, queries_, double{1} * split()->whole.heads * config_.head_dim, true, layer.q_norm},
        {queries_, keys_, double{1} * split()->whole.kv_heads * config_.head_dim,
         split()->share.counts_keys, layer.k_norm}};
    at::Tensor squares = at::zeros({rows_, 2}, x_.options());
    for (size_t kind = 0; kind < 2; ++kind)
      for (std::int64_t row = 0; row < rows_ && kinds[kind].counts; ++row) {
        const float* from = qkv_.const_data_ptr<float>() + row * qkv_.size(1) + kinds[kind].first;
        squares.mutable_data_ptr<float>()[2 * row + static_cast<std::int64_t>(kind)] =
            std::inner_product(from, from + kinds[kind].count, from, 0.0f);
      }
    laps_.add_to(&Profile::rows_ns);
    sum(squares);
    each_row(rows_, [&](std::int64_t row) {
      for (size_t kind = 0; kind < 2; ++kind) {
        const float square =
            squares.const_data_ptr<float>()[2 * row + static_cast<std::int64_t>(kind)];
        const auto columns = static_cast<float>(kinds[kind].columns);
        const float scale = 1 / std::sqrt(square / columns + eps());
        float* numbers = qkv_.mutable_data_ptr<float>() + row * qkv_.size(1) + kinds[kind].first;
        for (std::int64_t i = 0; i < kinds[kind].count; ++i)
          numbers[i] = numbers[i] * scale * kinds[kind].norm.factors[static_cast<size_t>(i)];
      }
    });
  }

  /// Reorders the rotated dimensions of a row's queries and keys: those that turn together are then
  /// `half` apart. Products of queries and keys stay the same.
  void in_turning_order(float* row, std::int64_t half) const {
    std::vector<float> odd(static_cast<size_t>(half));
    for (float* head = row; head < row + queries_ + keys_; head += config_.head_dim) {
      for (std::int64_t i = 0; i < half; ++i) odd[static_cast<size_t>(i)] = head[2 * i + 1];
      for (std::int64_t i = 0; i < half; ++i) head[i] = head[2 * i];
      std::copy(odd.begin(), odd.end(), head + half);
    }
  }

  /// `normed`: normed_ is the MLP's input already.
  void mlp(const Layer& layer, bool normed) {
    if (!normed) norm(layer.post_norm);
    if (!layer.experts.empty()) return mix_experts(layer);
    if (config_.block.gated)
      gate(layer.gate_up, normed_, rows_);
    else
      activate(layer.gate_up);
    multiply_add(layer.down, layer.after_mlp, gated_);
  }

  /// Writes the gated products of the first `rows` rows of `input` to gated_.
  void gate(const Map& map, const at::Tensor& input, std::int64_t rows) {
    const BlockSpec& block = config_.block;
    multiply({.weights = map.weights,
              .x = bits(input),
              .rows = rows,
              .x_stride = config_.hidden_size,
              .bias = data_or_null(map.bias),
              .finish = block.swiglu_limit > 0                 ? Product::Finish::clamped
                        : block.activation == Activation::silu ? Product::Finish::swiglu
                                                               : Product::Finish::geglu,
              .limit = static_cast<float>(block.swiglu_limit),
              .slope = static_cast<float>(block.swiglu_slope),
              .gated = mutable_bits(gated_),
              .out_stride = gated_.size(1)});
  }

  /// Writes act(up x) of all rows to gated_.
  void activate(const Map& up) {
    const std::int64_t inner = up.weights.outputs;
    multiply({.weights = up.weights,
              .x = bits(normed_),
              .rows = rows_,
              .x_stride = config_.hidden_size,
              .bias = data_or_null(up.bias),
              .out = inner_.mutable_data_ptr<float>(),
              .out_stride = inner});
    each_row(rows_, [&](std::int64_t row) {
      float* from = inner_.mutable_data_ptr<float>() + row * inner;
      for (std::int64_t i = 0; i < inner; ++i)
        from[i] = activated(from[i], config_.block.activation);
      k_.narrow(from, inner, mutable_bits(gated_) + row * gated_.size(1));
    });
    laps_.add_to(&Profile::rows_ns);
  }

  /// A row that an expert computes, and the expert's probability.
  struct Member {
    std::int64_t row;
    float share;
  };
  /// The rows of each expert.
  std::vector<std::vector<Member>> choose_experts() const {
    const Experts& experts = config_.experts;
    std::vector<std::vector<Member>> members(static_cast<size_t>(experts.count));
    std::vector<int> order(static_cast<size_t>(experts.count));
    for (std::int64_t row = 0; row < rows_; ++row) {
      const float* logits = router_.const_data_ptr<float>() + row * experts.count;
      std::iota(order.begin(), order.end(), 0);
      const auto end = order.begin() + experts.used;
      std::partial_sort(order.begin(), end, order.end(), [&](int a, int b) {
        return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
      });
      const float largest = logits[order.front()];
      const auto last = experts.normalised ? end : order.end();
      float sum = 0;
      for (auto at = order.begin(); at != last; ++at) sum += std::exp(logits[*at] - largest);
      for (auto at = order.begin(); at != end; ++at)
        members[static_cast<size_t>(*at)].push_back({row, std::exp(logits[*at] - largest) / sum});
    }
    return members;
  }

  /// Adds the experts' outputs to x, expert by expert, so that a row does not depend on others.
  void mix_experts(const Layer& layer) {
    const std::int64_t hidden = config_.hidden_size;
    multiply({.weights = layer.router.weights,
              .x = bits(normed_),
              .rows = rows_,
              .x_stride = hidden,
              .bias = data_or_null(layer.router.bias),
              .out = router_.mutable_data_ptr<float>(),
              .out_stride = config_.experts.count});
    const auto members = choose_experts();
    if (split()) expert_sums_.zero_();
    for (size_t i = 0; i < members.size(); ++i) {
      const std::vector<Member>& rows = members[i];
      if (rows.empty()) continue;
      ++experts_read_;
      const Layer::Expert& expert = layer.experts[i];
      each_row(std::ssize(rows), [&](std::int64_t at) {
        const std::uint16_t* from = bits(normed_) + rows[static_cast<size_t>(at)].row * hidden;
        std::copy(from, from + hidden, mutable_bits(gathered_) + at * hidden);
      });
      gate(expert.gate_up, gathered_, std::ssize(rows));
      add_shares(expert.down, rows);
    }
    if (config_.experts.shared_inner > 0) add_shared_expert(layer);
    if (!split()) return;
    sum(expert_sums_);
    each_row(rows_, [&](std::int64_t row) {
      const float* from = expert_sums_.const_data_ptr<float>() + row * hidden;
      for (std::int64_t i = 0; i < hidden; ++i) x(row)[i] += from[i];
    });
    laps_.add_to(&Profile::rows_ns);
  }

  void add_shared_expert(const Layer& layer) {
    multiply({.weights = layer.shared_router.weights,
              .x = bits(normed_),
              .rows = rows_,
              .x_stride = config_.hidden_size,
              .out = shared_router_.mutable_data_ptr<float>(),
              .out_stride = 1});
    std::vector<Member> all;
    for (std::int64_t row = 0; row < rows_; ++row)
      all.push_back({row, 1 / (1 + std::exp(-shared_router_.const_data_ptr<float>()[row]))});
    gate(layer.gate_up, normed_, rows_);
    add_shares(layer.down, all);
  }

  /// Adds the products of `down` with the first rows of gated_, each times its share, to the
  /// members' rows of x (of expert_sums_, if several processes have parts of the experts).
  void add_shares(const Map& down, const std::vector<Member>& members) {
    const std::int64_t hidden = config_.hidden_size, count = std::ssize(members);
    multiply({.weights = down.weights,
              .x = bits(gated_),
              .rows = count,
              .x_stride = gated_.size(1),
              .bias = data_or_null(down.bias),
              .out = branch_.mutable_data_ptr<float>(),
              .out_stride = hidden});
    each_row(count, [&](std::int64_t at) {
      const Member& member = members[static_cast<size_t>(at)];
      const float* branch = branch_.const_data_ptr<float>() + at * hidden;
      float* sum =
          split() ? expert_sums_.mutable_data_ptr<float>() + member.row * hidden : x(member.row);
      for (std::int64_t j = 0; j < hidden; ++j) sum[j] += member.share * branch[j];
    });
    laps_.add_to(&Profile::rows_ns);
  }

  float eps() const { return static_cast<float>(config_.norm_eps); }

  const PackedBackend& packed_;
  const Kernels& k_;
  const Model::Network& network_;
  const ModelConfig& config_;
  const SkippedSublayers& skipped_;
  const std::int64_t queries_, keys_;  // columns of q; of k and of v
  const std::vector<Rope> ropes_;

  std::vector<Part> parts_;
  std::vector<Token> ids_;
  std::vector<int> positions_;
  std::int64_t rows_ = 0, experts_read_ = 0;
  Laps laps_;
  PanelAttention attention_;

  at::Tensor x_;       // [rows, hidden] float32
  at::Tensor normed_;  // [rows, hidden] bf16
  at::Tensor qkv_;     // [rows, q, k and v columns] float32
  at::Tensor mixed_;   // [rows, q columns] bf16: queries, replaced by the outputs of attention
  at::Tensor gated_;   // [rows, inner of an MLP or of an expert, the larger] bf16
  at::Tensor turn_;    // [ropes, rows, rope.dims] float32: cosines, sines
  at::Tensor branch_;  // [rows, hidden] float32: input of a norm after a sublayer, or of an expert
  at::Tensor inner_;   // [rows, inner] float32, of an MLP without a gate
  at::Tensor router_;  // [rows, experts] float32
  at::Tensor shared_router_;  // [rows] float32
  at::Tensor gathered_;       // [rows, hidden] bf16: rows of normed_ for one expert
  at::Tensor expert_sums_;    // [rows, hidden] float32: this process's part of the experts' outputs
};

void PackedBackend::embed(const Model::Network& network, Token token, int position,
                          float* row) const {
  const std::int64_t hidden = network.config.hidden_size;
  if (network.embedding.defined()) {
    const std::uint16_t* from = bits(network.embedding) + token * hidden;
    for (std::int64_t i = 0; i < hidden; ++i) row[i] = widen(from[i]);
  } else {
    unpack_row((embedding_.weights.panels ? embedding_ : head_).weights, token, row);
  }
  if (embedding_scale_ != 1)
    for (std::int64_t i = 0; i < hidden; ++i) row[i] *= embedding_scale_;
  if (!network.position_rows.defined()) return;
  const std::uint16_t* added = bits(network.position_rows) + position * hidden;
  for (std::int64_t i = 0; i < hidden; ++i) row[i] += widen(added[i]);
}

at::Tensor PackedBackend::layers(const Model::Network& network, std::span<const NewRows> sequences,
                                 const SkippedSublayers& skipped) {
  const Team::Hold all_of_it(team());
  Pass pass(*this, network, sequences, skipped);
  const at::Tensor x = pass.run();
  experts_read_ += pass.experts_read();
  return x;
}

PackedBackend::Norm PackedBackend::norm_of(const pardec::Norm& norm, const ModelConfig& config) {
  Norm packed{floats(norm.weight), floats(norm.bias)};
  if (config.block.norm_adds_one)
    for (float& factor : packed.factors) factor += 1.0f;
  return packed;
}

void PackedBackend::norm_row(const Norm& norm, const ModelConfig& config, const float* x,
                             std::uint16_t* out) const {
  const std::int64_t hidden = config.hidden_size;
  const auto eps = static_cast<float>(config.norm_eps);
  if (norm.factors.empty()) return kernels_.narrow(x, hidden, out);
  if (!config.block.layer_norm) return kernels_.rms_norm(x, norm.factors.data(), hidden, eps, out);
  std::vector<float> normed(static_cast<size_t>(hidden));
  layer_norm(x, hidden, norm.factors.data(), data_or_null(norm.bias), eps, normed.data());
  kernels_.narrow(normed.data(), hidden, out);
}

at::Tensor PackedBackend::final_norm(const Model::Network& network, const at::Tensor& rows) const {
  Laps laps(network.profile);
  const at::Tensor from = rows.contiguous();
  at::Tensor result = at::empty(from.sizes(), from.options().dtype(at::kBFloat16));
  const std::int64_t hidden = from.size(1);
  for (std::int64_t row = 0; row < from.size(0); ++row)
    norm_row(final_norm_, network.config, from.const_data_ptr<float>() + row * hidden,
             mutable_bits(result) + row * hidden);
  laps.add_to(&Profile::rows_ns);
  return result;
}

at::Tensor PackedBackend::residual(const Model::Network& network, const at::Tensor& normed,
                                   int head) const {
  if (head == 0) return normed;
  Laps laps(network.profile);
  at::Tensor z = normed.to(at::kFloat);
  for (const Map& block : extra_heads_.at(static_cast<size_t>(head) - 1).blocks)
    z = z + at::silu(multiply(block, z.to(at::kBFloat16)));
  laps.add_to(&Profile::linear_ns);
  return z.to(at::kBFloat16);
}

at::Tensor PackedBackend::logits(const Model::Network& network, const at::Tensor& rows,
                                 int head) const {
  Laps laps(network.profile);
  const at::Tensor logits =
      multiply(head == 0 ? head_ : extra_heads_.at(static_cast<size_t>(head) - 1).out, rows);
  laps.add_to(&Profile::linear_ns);
  return logits;
}

at::Tensor PackedBackend::multiply(const Map& map, const at::Tensor& rows) const {
  const at::Tensor from = rows.contiguous();
  const PackedMatrix& weights = map.weights;
  at::Tensor out = at::empty({from.size(0), weights.outputs}, from.options().dtype(at::kFloat));
  const Product product{.weights = weights,
                        .x = bits(from),
                        .rows = from.size(0),
                        .x_stride = from.size(1),
                        .bias = data_or_null(map.bias),
                        .out = out.mutable_data_ptr<float>(),
                        .out_stride = weights.outputs};
  multiply_panels(kernels_, product);
  return out;
}

}  // namespace pardec
