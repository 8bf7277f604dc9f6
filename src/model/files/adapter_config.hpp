#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/regular_expression.hpp"

namespace pardec {

struct Family;

/// A set of modules, given as a list of names or as a regular expression, and matched as in peft.
class ModuleNames {
 public:
  /// `json`: a list of names, a string with a regular expression, or null or an empty string for no
  /// modules. ConfigError, which starts with `where`: any other value, or an invalid expression.
  static ModuleNames read(const OrderedJson& json, const std::string& where);

  /// Whether the set has a list or an expression. False: no modules.
  bool given() const { return expression_ || !names_.empty(); }
  /// Whether the list contains the module's full name ("model.layers.0.mlp.up_proj"). False for an
  /// expression.
  bool names(const std::string& module) const;
  /// Whether the list contains the full name or its last parts ("up_proj", "mlp.up_proj"), or the
  /// expression matches. RunError: evaluating the expression takes too long.
  bool has(const std::string& module) const;

 private:
  std::vector<std::string> names_;
  std::optional<RegularExpression> expression_;
};

/// adapter_config.json of a low-rank adapter, interpreted as peft 0.21 does. Module names are given
/// without the prefix "base_model.model.".
class AdapterConfig {
 public:
  /// Reads adapter_config.json in `folder`. ModelError: the file is missing or is not a JSON
  /// object. ModelError, which names the key: `peft_type` is not LORA, a value has the wrong type,
  /// is out of range or is an invalid regular expression, a key occurs twice, or a key is unknown
  /// or not supported. (An unknown or unsupported key is accepted if its value is null, false or
  /// empty.)
  explicit AdapterConfig(const std::filesystem::path& folder);

  /// The part of a matrix W that was subtracted when the adapter was initialised. Merging subtracts
  /// this part again before it adds the adapter (arXiv:2404.02948, arXiv:2406.01775).
  enum class Taken {
    nothing,
    principal,  ///< PiSSA: the best approximation of W by a matrix of the adapter's rank
    /// OLoRA: scale * Q' R'. Here W = Q R is the QR decomposition, Q' is the first r columns of Q,
    /// R' is the first r rows of R, and r is the adapter's rank
    orthogonal,
  };

  /// Whether the module has low-rank factors. `stored`: whether the adapter's file contains factors
  /// for the module. Modules that the config excludes or saves whole have none. If the config does
  /// not name target modules, the result for the other modules is `stored`. ModelError: evaluating
  /// a regular expression takes too long.
  bool targets(const std::string& module, bool stored) const;
  /// The rank of the module's factors. Errors: see `targets`.
  int rank(const std::string& module) const;
  /// The factor of B A for the module: alpha / rank, or alpha / sqrt(rank) with use_rslora. Errors:
  /// see `targets`.
  double scale(const std::string& module) const;
  /// Whether the adapter replaces all weights of the module (peft's modules_to_save).
  bool saves(const std::string& module) const;
  Taken taken() const { return taken_; }
  bool dora() const { return dora_; }                    ///< whether norms of W's rows are trained
  bool low_rank_bias() const { return low_rank_bias_; }  ///< whether B has a bias
  /// Whether the adapter gives a network with a tied head two separate matrices, one for the
  /// embedding and one for the head. ModelError: the config asks for a single matrix
  /// (ensure_weight_tying) and also adapts this matrix; or see `targets`.
  bool splits_tied(const Family& family) const;
  /// The value of trainable_token_indices, not yet checked; null: the config has none.
  const Json& token_indices() const { return token_indices_; }
  /// The path of the file, for errors.
  const std::string& where() const { return where_; }
  /// The keys for features that AdapterShape cannot express (Adapter::beyond_plain).
  const std::vector<std::string>& beyond_plain() const { return beyond_plain_; }

 private:
  /// A value for the modules whose names match an expression.
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
  ModuleNames targets_, excluded_;  ///< if targets_ is empty: the modules with tensors in the file
  bool all_linear_ = false;         ///< all matrices of the layers are targets
  std::vector<std::string> saved_;
  std::vector<RegularExpression> inside_saved_;
  std::vector<int> layers_;  ///< the only layers with targets; empty: all
  std::vector<RegularExpression> layer_patterns_;
  Json token_indices_;
  std::vector<std::string> beyond_plain_;
};

}  // namespace pardec
