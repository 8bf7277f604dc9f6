#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

enum class RopeType { standard, linear, dynamic, yarn, longrope, llama3 };
/// As config.json writes them: "default", "linear", ...
std::string_view name(RopeType type);

/// How a network's rotary embedding turns positions into angles: base and scaling, as
/// transformers' `modeling_rope_utils` reads them.
struct Rope {
  RopeType type = RopeType::standard;
  int dims = 0;            ///< of a head turn, from its first on; the others stay (Phi-3)
  double theta = 10000.0;  ///< the base
  double factor = 1.0;
  int original_max_position = 0;  ///< llama3, yarn, longrope: the length of pretraining
  double attention_factor = 1.0;  ///< yarn, longrope: cosines and sines are multiplied by it
  double beta_fast = 32.0;       ///< yarn: turns in the original length above which nothing changes
  double beta_slow = 1.0;        ///< yarn: turns below which positions are interpolated
  bool truncate = true;          ///< yarn: the ramp's ends are whole dimensions
  double low_freq_factor = 1.0;  ///< llama3: turns below which frequencies are divided
  double high_freq_factor = 4.0;     ///< llama3: turns above which nothing changes
  std::vector<double> short_factor;  ///< longrope: a divisor for each frequency
};

/// Reads `rope_theta` with `rope_scaling` (before transformers 5) or `rope_parameters` (5); where
/// both stand, `rope_scaling` counts, as there. An unknown type, option or impossible number is a
/// ModelError that names it. `head_dim` and `max_position` are the network's. `phi3`: of that
/// family, whose heads may turn in part (`partial_rotary_factor`), whose older names of longrope
/// are known, and whose original length stands outside of the options.
Rope read_rope(JsonReader& config, const std::string& where, int head_dim, int max_position,
               bool phi3 = false);

}  // namespace pardec
