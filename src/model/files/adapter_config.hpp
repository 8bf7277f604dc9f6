#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/regular_expression.hpp"

namespace pardec {

/// A list of names, or a regular expression, that says which modules are meant, as peft reads it.
class ModuleNames {
 public:
  /// Null: none. ConfigError, which starts with `where`, for what is neither.
  static ModuleNames read(const OrderedJson& json, const std::string& where);

  bool given() const { return expression_ || !names_.empty(); }
  /// Whether a name is the module's whole one ("model.layers.0.mlp.up_proj").
  bool names(const std::string& module) const;
  /// That, or its last parts ("up_proj", "mlp.up_proj"), or the expression matches it. RunError.
  bool has(const std::string& module) const;

 private:
  std::vector<std::string> names_;
  std::optional<RegularExpression> expression_;
};

/// adapter_config.json of a low-rank adapter as peft reads it (0.21). Modules go by their names
/// without "base_model.model.".
class AdapterConfig {
 public:
  /// ModelError, which names the key: what is not a value of it; a key that is not understood, or a
  /// value that is not, unless it is the one that changes nothing.
  explicit AdapterConfig(const std::filesystem::path& folder);

  /// What was taken from the network's matrices when the adapter began, so that it is taken from
  /// them before the adapter is added (arXiv:2404.02948, arXiv:2406.01775).
  enum class Taken {
    nothing,
    principal,   ///< PiSSA: W's best approximation of the adapter's rank
    orthogonal,  ///< OLoRA: scale * Q R, of the first columns and rows of W = Q R
  };

  /// Whether matrices are learned beside the module's; `stored`: the file has some. ModelError: a
  /// regular expression that does not end.
  bool targets(const std::string& module, bool stored) const;
  int rank(const std::string& module) const;
  /// alpha / rank, or alpha / sqrt(rank) with use_rslora.
  double scale(const std::string& module) const;
  /// Whether it has weights of its own, whole.
  bool saves(const std::string& module) const;
  Taken taken() const { return taken_; }
  bool dora() const { return dora_; }                    ///< rows have lengths of their own
  bool low_rank_bias() const { return low_rank_bias_; }  ///< B has a bias
  /// Whether a network whose head is the embedding has two matrices with it. ModelError: where it
  /// would have one, and an adapter over it.
  bool parts_tied() const;
  const Json& token_indices() const { return token_indices_; }  ///< trainable_token_indices
  const std::string& where() const { return where_; }
  /// The keys that make it more than one plain adapter over all layers.
  const std::vector<std::string>& beyond_plain() const { return beyond_plain_; }

 private:
  struct Pattern {
    RegularExpression modules;
    double value;
  };
  std::vector<Pattern> patterns(const OrderedJson& json, const char* key) const;
  double by_pattern(const std::vector<Pattern>& patterns, const std::string& module,
                    double otherwise) const;
  void read_targets(const OrderedJson& json);
  void read_scales(const OrderedJson& json);
  void read_start(const OrderedJson& json);

  std::string where_;
  int rank_ = 0;
  double alpha_ = 0;
  bool root_ = false, dora_ = false, low_rank_bias_ = false, keeps_tied_ = false;
  Taken taken_ = Taken::nothing;
  std::vector<Pattern> ranks_, alphas_;
  ModuleNames targets_, excluded_;  ///< no targets: those that the file has
  bool all_linear_ = false;         ///< targets are all matrices of layers
  std::vector<std::string> saved_;
  std::vector<RegularExpression> inside_saved_;
  std::vector<int> layers_;  ///< that alone have targets; empty: all
  std::vector<RegularExpression> layer_patterns_;
  Json token_indices_;
  std::vector<std::string> beyond_plain_;
};

}  // namespace pardec
