#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/regular_expression.hpp"

namespace pardec {

/// A set of modules, given as a list of names or a regular expression, with peft's meaning.
class ModuleNames {
 public:
  /// Null: no modules. ConfigError, which starts with `where`: neither a list of names nor a
  /// string.
  static ModuleNames read(const OrderedJson& json, const std::string& where);

  bool given() const { return expression_ || !names_.empty(); }
  /// Whether the list contains the module's full name ("model.layers.0.mlp.up_proj").
  bool names(const std::string& module) const;
  /// Whether the list contains the full name or its last parts ("up_proj", "mlp.up_proj"), or the
  /// expression matches. RunError.
  bool has(const std::string& module) const;

 private:
  std::vector<std::string> names_;
  std::optional<RegularExpression> expression_;
};

/// adapter_config.json of a low-rank adapter, with the meaning of peft 0.21. Module names come
/// without "base_model.model.".
class AdapterConfig {
 public:
  /// ModelError, which names the key: a value of the wrong type or range; an unknown key, or a
  /// value that is not supported, unless the value has no effect.
  explicit AdapterConfig(const std::filesystem::path& folder);

  /// The part of a matrix W that was subtracted when the adapter was initialised. Merging subtracts
  /// it again before it adds the adapter (arXiv:2404.02948, arXiv:2406.01775).
  enum class Taken {
    nothing,
    principal,   ///< PiSSA: the best approximation of W with the adapter's rank
    orthogonal,  ///< OLoRA: scale * Q R, of the first columns and rows of W = Q R
  };

  /// Whether the module has low-rank factors. `stored`: the file contains some for it. ModelError:
  /// evaluating a regular expression takes too long.
  bool targets(const std::string& module, bool stored) const;
  int rank(const std::string& module) const;
  /// alpha / rank, or alpha / sqrt(rank) with use_rslora.
  double scale(const std::string& module) const;
  /// Whether the adapter stores the module's weights as a whole.
  bool saves(const std::string& module) const;
  Taken taken() const { return taken_; }
  bool dora() const { return dora_; }                    ///< rows have trained lengths
  bool low_rank_bias() const { return low_rank_bias_; }  ///< B has a bias
  /// Whether the adapter gives a network with a tied head two separate matrices. ModelError: the
  /// config asks for a single matrix and also adapts it.
  bool parts_tied(const Family& family) const;
  const Json& token_indices() const { return token_indices_; }  ///< trainable_token_indices
  const std::string& where() const { return where_; }
  /// The keys that go beyond one plain adapter over all layers.
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
  ModuleNames targets_, excluded_;  ///< no targets: the modules that the file has tensors for
  bool all_linear_ = false;         ///< the targets are all matrices of layers
  std::vector<std::string> saved_;
  std::vector<RegularExpression> inside_saved_;
  std::vector<int> layers_;  ///< the only layers with targets; empty: all
  std::vector<RegularExpression> layer_patterns_;
  Json token_indices_;
  std::vector<std::string> beyond_plain_;
};

}  // namespace pardec
