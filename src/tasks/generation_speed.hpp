#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/support/counters.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// Common measures of the speed of some answers. NaN: not known.
struct GenerationSpeed {
  std::int64_t tokens = 0;  ///< number of generated tokens
  double seconds;           ///< wall time for all answers together
  /// generated tokens per second of wall time, over all concurrent requests
  double tokens_per_second;
  std::int64_t prompt_tokens = 0;  ///< number of computed prompt tokens
  /// prompt tokens divided by the time until the end of the first pass; NaN with concurrent
  /// requests
  double prompt_tokens_per_second;
  double first_token;  ///< seconds until the first token, median over answers
};

/// Computes the measures from the counters of all answers, one entry per answer. `wall_ns`: wall
/// time for all answers together, in nanoseconds. `in_flight`: maximum number of concurrent
/// requests.
GenerationSpeed generation_speed(const std::vector<Counters>& answers, std::int64_t wall_ns,
                                 int in_flight);

/// For example "96 tokens in 1.26 s, 76.2 tokens/s; prompt 35 tokens, 812.3 tokens/s; first token
/// 43 ms".
std::string text_of(const GenerationSpeed& speed);
/// The measures as a JSON object. A measure that `compare --format json` also shows has the same
/// key there. Null: not known.
OrderedJson json_of(const GenerationSpeed& speed);

}  // namespace pardec
