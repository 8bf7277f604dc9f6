#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "src/support/types.hpp"

namespace pardec::test {

/// A Llama, Qwen3, Qwen3-MoE, Gemma 2 or Gemma 3 network as naive loops over doubles, without
/// cache, batch, packing or a mask rule: each row is told which rows it sees. It reads config.json
/// by itself, and weights as stored. Written from Hugging Face's definition: RMS norm, rotary
/// embedding over half heads (angles in float32, as there), grouped-query attention, SwiGLU;
/// Gemma's norms after sublayers and factors 1 + w, GELU, caps, scaled embedding, and layers with
/// windows.
class SlowTransformer {
 public:
  explicit SlowTransformer(const std::filesystem::path& checkpoint);

  /// [rows][vocab]; row i sees exactly the rows of `visible[i]`.
  std::vector<std::vector<double>> logits(const Tokens& tokens, const std::vector<int>& positions,
                                          const std::vector<std::vector<int>>& visible) const;
  /// The causal case: row i at position i sees rows 0 to i.
  std::vector<std::vector<double>> logits(const Tokens& tokens) const;
  /// The next token, with the whole text computed again.
  Token next(const Tokens& text) const;
  /// The output of extra head `head` (1 ...) on a text's last row: residual blocks of one linear
  /// layer and SiLU, then a matrix (arXiv:2401.10774, section 2.1.1), or the network's own head if
  /// it has none.
  std::vector<double> head_logits(const Tokens& text, int head) const;

 private:
  /// [rows][hidden]: what the heads read.
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
  /// down(activation(gate x) * up x), of the matrices whose names begin with `prefix`.
  std::vector<double> mlp(const std::string& prefix, const std::vector<double>& x) const;
  /// The most probable experts of x, each times its probability.
  std::vector<double> mixture(const std::string& prefix, const std::vector<double>& x) const;

  std::map<std::string, Matrix> weights_;
  size_t layers_, heads_, kv_heads_, head_dim_;
  double eps_, theta_;
  bool tied_, gemma_;
  double query_scalar_, score_cap_ = 0, logit_cap_ = 0;
  int window_ = 0;
  size_t used_experts_ = 0;
  bool shares_of_sum_ = false;  // the used experts' probabilities are divided by their sum
  double window_theta_;         // rotary base of layers with the window
  std::vector<bool> windowed_;  // by layer
};

/// Best and second best of one row.
struct TopTwo {
  Token best = 0, second = 0;
  double best_logit = 0, second_logit = 0;
  double gap() const { return best_logit - second_logit; }
};
TopTwo top_two(const std::vector<double>& logits);

}  // namespace pardec::test
