#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// The kinds of scaling of a rotary embedding. `still`: all angles are 0, so that nothing is
/// rotated; config.json has no name for it.
enum class RopeType { standard, linear, dynamic, yarn, longrope, llama3, still };
/// The name in config.json: "default", "linear", ... For `still`: "none".
std::string_view name(RopeType type);

/// The parameters of a network's rotary embedding: base and scaling, as in transformers'
/// `modeling_rope_utils`.
struct Rope {
  RopeType type = RopeType::standard;
  /// Only the first `dims` dimensions of a head are rotated (Phi-3: fewer than all).
  int dims = 0;
  double theta = 10000.0;         ///< the base
  double factor = 1.0;            ///< factor by which the context was extended; 1: not extended
  int original_max_position = 0;  ///< llama3, yarn, longrope: context length of pretraining
  double attention_factor = 1.0;  ///< yarn, longrope: factor of cosines and sines
  /// yarn: frequencies with more than this number of turns within the original length stay
  /// unchanged
  double beta_fast = 32.0;
  /// yarn: frequencies with less than this number of turns within the original length are divided
  /// by `factor`
  double beta_slow = 1.0;
  /// yarn: whether the transition between these two kinds of frequencies starts and ends at whole
  /// dimensions
  bool truncate = true;
  /// llama3: frequencies with less than this number of turns within the original length are divided
  /// by `factor`
  double low_freq_factor = 1.0;
  /// llama3: frequencies with more than this number of turns within the original length stay
  /// unchanged
  double high_freq_factor = 4.0;
  std::vector<double> short_factor;  ///< longrope: one divisor per frequency
};

/// The values of a family's rotary embedding that are used if config.json does not give them, and
/// the form of the keys.
struct RopeDefaults {
  /// As in Phi-3: only the types `default` and `longrope` are accepted, and `su` and `yarn` as
  /// older names of `longrope`. The key `original_max_position_embeddings` is at the top level of
  /// config.json; its default is 4096.
  bool phi3 = false;
  double theta = 10000;
  /// The share of a head's dimensions that is rotated (`partial_rotary_factor`); 0: all, and no
  /// other share is supported.
  double rotated = 0;
};

/// Reads `rope_theta` with `rope_scaling` (before transformers 5) or `rope_parameters` (since
/// transformers 5) from `config`, a config.json. If both are present, `rope_scaling` is used, as in
/// transformers. `where`: the file's name for errors. `head_dim`: dimensions of a head.
/// `max_position`: the value of max_position_embeddings. `family`: the family's defaults.
/// ModelError or ConfigError, which names the key: an unknown type or option, or an impossible
/// number.
Rope read_rope(JsonReader& config, const std::string& where, int head_dim, int max_position,
               const RopeDefaults& family = {});

/// The rotary embeddings of layers without (`full`) and with a sliding window (`sliding`).
struct LayerRopes {
  Rope full, sliding;
};
/// Reads both embeddings as transformers does for Gemma 3. Before transformers 5, the keys are
/// `rope_theta` with `rope_scaling`, and `rope_local_base_freq`. Since transformers 5, the key is
/// `rope_parameters` with `full_attention` and `sliding_attention`. Only the types default and
/// linear are supported. Parameters and errors: see `read_rope`.
LayerRopes read_layer_ropes(JsonReader& config, const std::string& where, int head_dim);

}  // namespace pardec
