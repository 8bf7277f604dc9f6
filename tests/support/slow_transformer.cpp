#include "tests/support/slow_transformer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec::test {

namespace {

double widen_bf16(const std::byte* at) {
  std::uint16_t half = 0;
  std::memcpy(&half, at, 2);
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) {
  const double root = std::sqrt(2 / std::acos(-1.0));
  return 0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
}
double capped(double x, double cap) { return cap > 0 ? cap * std::tanh(x / cap) : x; }

}  // namespace

SlowTransformer::SlowTransformer(const std::filesystem::path& checkpoint) {
  const Json config = read_json(checkpoint / "config.json");
  layers_ = config.at("num_hidden_layers").get<size_t>();
  heads_ = config.at("num_attention_heads").get<size_t>();
  kv_heads_ = config.at("num_key_value_heads").get<size_t>();
  head_dim_ = config.at("head_dim").get<size_t>();
  eps_ = config.value("rms_norm_eps", 1e-6);
  theta_ = config.value("rope_theta", 10000.0);
  tied_ = config.value("tie_word_embeddings", false);
  query_scalar_ = static_cast<double>(head_dim_);
  window_theta_ = theta_;
  windowed_.resize(layers_);
  const auto family = config.at("model_type").get<std::string>();
  gemma_ = family.starts_with("gemma");
  if (gemma_) {
    query_scalar_ = config.value("query_pre_attn_scalar", 256.0);
    window_ = config.value("sliding_window", 4096);
    const bool third = family == "gemma3_text";
    if (third) {
      theta_ = config.value("rope_theta", 1e6);
      window_theta_ = config.value("rope_local_base_freq", 1e4);
    } else {
      score_cap_ = config.value("attn_logit_softcapping", 50.0);
      logit_cap_ = config.value("final_logit_softcapping", 30.0);
    }
    const size_t pattern = third ? config.value("sliding_window_pattern", size_t{6}) : 2;
    for (size_t layer = 0; layer < layers_; ++layer) windowed_[layer] = (layer + 1) % pattern != 0;
  }
  used_experts_ = config.value("num_experts_per_tok", size_t{8});
  shares_of_sum_ = config.value("norm_topk_prob", false);
  const auto add = [&](const std::string& name, const StoredTensor& tensor) {
    if (tensor.type != StoredType::bf16) throw std::logic_error("SlowTransformer reads bf16 alone");
    Matrix& matrix = weights_[name];
    matrix.columns = static_cast<size_t>(tensor.shape.back());
    for (size_t at = 0; at < tensor.data.size(); at += 2)
      matrix.values.push_back(widen_bf16(tensor.data.data() + at));
  };
  const CheckpointFiles files(checkpoint);
  for (const auto& [name, entry] : files.tensors()) add(name, entry.tensor);
  const std::filesystem::path heads = checkpoint / "medusa_heads.safetensors";
  if (!std::filesystem::exists(heads)) return;
  const MappedFile mapped(heads);
  for (const auto& [name, tensor] : parse_safetensors(mapped.bytes(), heads.string()))
    add(name, tensor);
}

std::vector<double> SlowTransformer::norm(const std::vector<double>& x,
                                          const std::string& name) const {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + eps_);
  const Matrix& w = weight(name);
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = (w.values[i] + (gemma_ ? 1 : 0)) * x[i] * scale;
  return out;
}

std::vector<double> SlowTransformer::times(const std::string& name,
                                           const std::vector<double>& x) const {
  const Matrix& w = weight(name);
  std::vector<double> out(w.values.size() / w.columns);
  for (size_t row = 0; row < out.size(); ++row)
    for (size_t column = 0; column < w.columns; ++column)
      out[row] += w.values[row * w.columns + column] * x[column];
  return out;
}

std::vector<double> SlowTransformer::mlp(const std::string& prefix,
                                         const std::vector<double>& x) const {
  std::vector<double> gate = times(prefix + "gate_proj.weight", x);
  const std::vector<double> up = times(prefix + "up_proj.weight", x);
  for (size_t i = 0; i < gate.size(); ++i)
    gate[i] = (gemma_ ? gelu(gate[i]) : silu(gate[i])) * up[i];
  return times(prefix + "down_proj.weight", gate);
}

std::vector<double> SlowTransformer::mixture(const std::string& prefix,
                                             const std::vector<double>& x) const {
  std::vector<double> shares = times(prefix + "gate.weight", x);
  double all = 0;
  for (double& share : shares) all += share = std::exp(share);
  std::vector<size_t> order(shares.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return shares[a] > shares[b]; });
  order.resize(used_experts_);
  double used = 0;
  for (const size_t expert : order) used += shares[expert];
  std::vector<double> sum(x.size());
  for (const size_t expert : order) {
    const std::vector<double> part = mlp(str(prefix, "experts.", expert, "."), x);
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += shares[expert] / (shares_of_sum_ ? used : all) * part[i];
  }
  return sum;
}

void SlowTransformer::rotate(std::vector<double>& x, int position, double theta) const {
  const size_t half = head_dim_ / 2;
  for (size_t i = 0; i < half; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(head_dim_);
    const float frequency =
        1.0f / static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
    const float angle = static_cast<float>(position) * frequency;
    const double cos = std::cos(angle), sin = std::sin(angle);  // float32
    const double a = x[i], b = x[i + half];
    x[i] = a * cos - b * sin;
    x[i + half] = b * cos + a * sin;
  }
}

std::vector<std::vector<double>> SlowTransformer::last_layer(
    const Tokens& tokens, const std::vector<int>& positions,
    const std::vector<std::vector<int>>& visible) const {
  const size_t n = tokens.size();
  std::vector<std::vector<double>> x(n);
  const Matrix& embedding = weight("model.embed_tokens.weight");
  for (size_t row = 0; row < n; ++row) {
    const auto first =
        embedding.values.begin() +
        static_cast<std::ptrdiff_t>(tokens[row]) * static_cast<std::ptrdiff_t>(embedding.columns);
    x[row].assign(first, first + static_cast<std::ptrdiff_t>(embedding.columns));
    if (gemma_)
      for (double& value : x[row]) value *= std::sqrt(static_cast<double>(embedding.columns));
  }
  for (size_t layer = 0; layer < layers_; ++layer) {
    const std::string prefix = str("model.layers.", layer, ".");
    // [row][head][head_dim]
    std::vector<std::vector<std::vector<double>>> q(n), k(n), v(n);
    for (size_t row = 0; row < n; ++row) {
      const std::vector<double> h = norm(x[row], prefix + "input_layernorm.weight");
      const auto project = [&](const char* name, size_t heads, const std::string& head_norm,
                               bool turn) {
        const std::vector<double> flat = times(prefix + "self_attn." + name + ".weight", h);
        std::vector<std::vector<double>> split;
        for (size_t head = 0; head < heads; ++head) {
          std::vector<double> part(
              flat.begin() + static_cast<std::ptrdiff_t>(head * head_dim_),
              flat.begin() + static_cast<std::ptrdiff_t>((head + 1) * head_dim_));
          if (weights_.contains(prefix + head_norm)) part = norm(part, prefix + head_norm);
          if (turn) rotate(part, positions[row], windowed_[layer] ? window_theta_ : theta_);
          split.push_back(std::move(part));
        }
        return split;
      };
      q[row] = project("q_proj", heads_, "self_attn.q_norm.weight", true);
      k[row] = project("k_proj", kv_heads_, "self_attn.k_norm.weight", true);
      v[row] = project("v_proj", kv_heads_, "none", false);
    }
    for (size_t row = 0; row < n; ++row) {
      std::vector<double> mixed;
      for (size_t head = 0; head < heads_; ++head) {
        const size_t shared = head / (heads_ / kv_heads_);
        std::vector<double> scores;
        std::vector<size_t> seen;
        for (const int key : visible[row])
          if (!windowed_[layer] || positions[row] - positions[static_cast<size_t>(key)] < window_)
            seen.push_back(static_cast<size_t>(key));
        double largest = -INFINITY, sum = 0;
        for (const size_t key : seen) {
          double score = 0;
          for (size_t i = 0; i < head_dim_; ++i) score += q[row][head][i] * k[key][shared][i];
          scores.push_back(capped(score / std::sqrt(query_scalar_), score_cap_));
          largest = std::max(largest, scores.back());
        }
        for (double& score : scores) sum += score = std::exp(score - largest);
        std::vector<double> out(head_dim_);
        for (size_t s = 0; s < scores.size(); ++s)
          for (size_t i = 0; i < head_dim_; ++i) out[i] += scores[s] / sum * v[seen[s]][shared][i];
        mixed.insert(mixed.end(), out.begin(), out.end());
      }
      std::vector<double> attended = times(prefix + "self_attn.o_proj.weight", mixed);
      if (gemma_) attended = norm(attended, prefix + "post_attention_layernorm.weight");
      for (size_t i = 0; i < attended.size(); ++i) x[row][i] += attended[i];
      const std::vector<double> g =
          norm(x[row], prefix + (gemma_ ? "pre_feedforward_layernorm.weight"
                                        : "post_attention_layernorm.weight"));
      std::vector<double> down = weights_.contains(prefix + "mlp.gate.weight")
                                     ? mixture(prefix + "mlp.", g)
                                     : mlp(prefix + "mlp.", g);
      if (gemma_) down = norm(down, prefix + "post_feedforward_layernorm.weight");
      for (size_t i = 0; i < down.size(); ++i) x[row][i] += down[i];
    }
  }
  for (auto& row : x) row = norm(row, "model.norm.weight");
  return x;
}

std::vector<std::vector<double>> SlowTransformer::logits(
    const Tokens& tokens, const std::vector<int>& positions,
    const std::vector<std::vector<int>>& visible) const {
  std::vector<std::vector<double>> out;
  for (const auto& z : last_layer(tokens, positions, visible)) {
    out.push_back(times(own_head(), z));
    for (double& logit : out.back()) logit = capped(logit, logit_cap_);
  }
  return out;
}

namespace {

struct Causal {
  std::vector<int> positions;
  std::vector<std::vector<int>> visible;
  explicit Causal(const Tokens& tokens) {
    for (int row = 0; row < static_cast<int>(tokens.size()); ++row) {
      positions.push_back(row);
      auto& seen = visible.emplace_back();
      for (int key = 0; key <= row; ++key) seen.push_back(key);
    }
  }
};

}  // namespace

std::vector<std::vector<double>> SlowTransformer::logits(const Tokens& tokens) const {
  const Causal causal(tokens);
  return logits(tokens, causal.positions, causal.visible);
}

std::vector<double> SlowTransformer::head_logits(const Tokens& text, int head) const {
  const Causal causal(text);
  std::vector<double> z = last_layer(text, causal.positions, causal.visible).back();
  int block = 0;
  for (;; ++block) {
    const std::string name = str(head - 1, ".", block, ".linear.");
    if (!weights_.contains(name + "weight")) break;
    const std::vector<double> turned = times(name + "weight", z);
    for (size_t i = 0; i < z.size(); ++i) z[i] += silu(turned[i] + weight(name + "bias").values[i]);
  }
  const std::string out = str(head - 1, ".", block, ".weight");
  std::vector<double> logits = times(weights_.contains(out) ? out : own_head(), z);
  for (double& logit : logits) logit = capped(logit, logit_cap_);
  return logits;
}

Token SlowTransformer::next(const Tokens& text) const { return top_two(logits(text).back()).best; }

TopTwo top_two(const std::vector<double>& logits) {
  TopTwo top;
  top.best_logit = top.second_logit = -INFINITY;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] > top.best_logit) {
      top.second = top.best, top.second_logit = top.best_logit;
      top.best = static_cast<Token>(id), top.best_logit = logits[id];
    } else if (logits[id] > top.second_logit) {
      top.second = static_cast<Token>(id), top.second_logit = logits[id];
    }
  }
  return top;
}

}  // namespace pardec::test
