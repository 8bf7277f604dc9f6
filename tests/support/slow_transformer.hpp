#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "src/support/types.hpp"

namespace pardec::test {

/// A slow reference of Llama, Qwen3, Qwen3-MoE, Gemma 2 and Gemma 3 networks: naive loops over
/// doubles, without cache, batch, packing or visibility rule. The caller passes the rows that each
/// row sees. The class has its own reader of config.json. Written from Hugging Face's definition:
/// RMS norm, rotary embedding that pairs dimension i with i + head_dim / 2 (angles in float32),
/// grouped-query attention, SwiGLU; for Gemma also norms after sublayers, factors 1 + w, GELU,
/// caps, scaled embedding, and layers with sliding windows.
class SlowTransformer {
 public:
  /// `checkpoint`: a checkpoint folder in bf16, with extra heads if it has any.
  explicit SlowTransformer(const std::filesystem::path& checkpoint);

  /// Logits [rows][vocab]. Row i sees exactly the rows in `visible[i]`.
  std::vector<std::vector<double>> logits(const Tokens& tokens, const std::vector<int>& positions,
                                          const std::vector<std::vector<int>>& visible) const;
  /// Logits [rows][vocab] for causal text: row i has position i, and sees rows 0 to i.
  std::vector<std::vector<double>> logits(const Tokens& tokens) const;
  /// The greedy next token after a text. Computes the whole text.
  Token next(const Tokens& text) const;
  /// The logits of extra head `head` (from 1) for the last row of a text (arXiv:2401.10774, section
  /// 2.1.1): residual blocks of a linear layer and SiLU, then the extra head's matrix, or, if it
  /// has none, the matrix of the network's head.
  std::vector<double> head_logits(const Tokens& text, int head) const;

 private:
  /// The inputs of the heads, [rows][hidden].
  std::vector<std::vector<double>> last_layer(const Tokens& tokens,
                                              const std::vector<int>& positions,
                                              const std::vector<std::vector<int>>& visible) const;
  struct Matrix {
    std::vector<double> values;  // row-major, [out, in]
    size_t columns = 0;
  };
  const Matrix& weight(const std::string& name) const { return weights_.at(name); }
  std::string own_head() const { return tied_ ? "model.embed_tokens.weight" : "lm_head.weight"; }
  std::vector<double> norm(const std::vector<double>& x, const std::string& name) const;
  std::vector<double> times(const std::string& name, const std::vector<double>& x) const;
  void rotate(std::vector<double>& x, int position, double theta) const;
  /// down(activation(gate x) * up x), with the matrices whose names begin with `prefix`.
  std::vector<double> mlp(const std::string& prefix, const std::vector<double>& x) const;
  /// The sum over the most probable experts of x: probability times output.
  std::vector<double> mixture(const std::string& prefix, const std::vector<double>& x) const;

  std::map<std::string, Matrix> weights_;
  size_t layers_, heads_, kv_heads_, head_dim_;
  double eps_, theta_;
  bool tied_, gemma_;
  double query_scalar_, score_cap_ = 0, logit_cap_ = 0;
  int window_ = 0;
  size_t used_experts_ = 0;
  bool shares_of_sum_ = false;  // the used experts' probabilities are divided by their sum
  double window_theta_;         // rotary base of layers with a window
  std::vector<bool> windowed_;  // by layer
};

/// The two largest logits of one row, and their ids.
struct TopTwo {
  Token best = 0, second = 0;
  double best_logit = 0, second_logit = 0;
  double gap() const { return best_logit - second_logit; }
};
TopTwo top_two(const std::vector<double>& logits);

}  // namespace pardec::test
