#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// `still`: angles of 0, so that nothing is rotated; no name in config.json.
enum class RopeType { standard, linear, dynamic, yarn, longrope, llama3, still };
/// Names in config.json: "default", "linear", ...
std::string_view name(RopeType type);

/// The parameters of a network's rotary embedding: base and scaling, as in transformers'
/// `modeling_rope_utils`.
struct Rope {
  RopeType type = RopeType::standard;
  int dims = 0;  ///< only the first `dims` dimensions of a head are rotated (Phi-3: fewer than all)
  double theta = 10000.0;  ///< the base
  double factor = 1.0;
  int original_max_position = 0;  ///< llama3, yarn, longrope: context length of pretraining
  double attention_factor = 1.0;  ///< yarn, longrope: factor of cosines and sines
  /// yarn: frequencies that turn more often than this within the original length stay unchanged
  double beta_fast = 32.0;
  double beta_slow = 1.0;  ///< yarn: frequencies that turn less often are divided by `factor`
  bool truncate = true;    ///< yarn: the ramp starts and ends at whole dimensions
  /// llama3: frequencies that turn less often within the original length are divided by `factor`
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;     ///< llama3: frequencies that turn more often stay unchanged
  std::vector<double> short_factor;  ///< longrope: one divisor per frequency
};

/// What a family's rotary embedding has unless config.json says otherwise.
struct RopeDefaults {
  /// Older names of longrope are accepted, and the original length is written outside of the
  /// options.
  bool phi3 = false;
  double theta = 10000;
  /// The share of a head's dimensions that is rotated (`partial_rotary_factor`); 0: all, and no
  /// other share is supported.
  double rotated = 0;
};

/// Reads `rope_theta` with `rope_scaling` (before transformers 5) or `rope_parameters` (5). If both
/// are present, `rope_scaling` wins, as in transformers. ModelError, which names the key: an
/// unknown type or option, or an impossible number.
Rope read_rope(JsonReader& config, const std::string& where, int head_dim, int max_position,
               const RopeDefaults& family = {});

/// The rotary embeddings of layers without (`full`) and with a sliding window (`sliding`).
struct LayerRopes {
  Rope full, sliding;
};
/// Reads both embeddings as transformers does for Gemma 3. Before transformers 5, the keys are
/// `rope_theta` with `rope_scaling`, and `rope_local_base_freq`. Since transformers 5, the key is
/// `rope_parameters` with `full_attention` and `sliding_attention`. Only the types default and
/// linear are supported. ModelError: see `read_rope`.
LayerRopes read_layer_ropes(JsonReader& config, const std::string& where, int head_dim);

}  // namespace pardec
