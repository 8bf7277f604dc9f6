#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/support/counters.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// The speed of generating some answers, in common measures. NaN: not known.
struct GenerationSpeed {
  std::int64_t tokens = 0;  ///< generated tokens
  double seconds;           ///< of wall time
  /// generated tokens per second of wall time, over all concurrent requests
  double tokens_per_second;
  std::int64_t prompt_tokens = 0;  ///< computed prompt tokens
  /// computed prompt tokens divided by the time until
  /// the end of the first pass; NaN if several requests were concurrent
  double prompt_tokens_per_second;
  double first_token;  ///< time to the first token in seconds, median over answers
};

/// For answers that took `wall_ns` in total, with up to `in_flight` concurrent requests.
GenerationSpeed generation_speed(const std::vector<Counters>& answers, std::int64_t wall_ns,
                                 int in_flight);

/// "96 tokens in 1.26 s, 76.2 tokens/s; prompt 35 tokens, 812.3 tokens/s; first token 43 ms"
std::string text_of(const GenerationSpeed& speed);
/// As an object, with the names that `compare` uses in json; null: not known.
OrderedJson json_of(const GenerationSpeed& speed);

}  // namespace pardec
