#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/support/counters.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// How fast some answers came, in the words that people know. NaN: not known.
struct GenerationSpeed {
  std::int64_t tokens = 0;          ///< chosen ids
  double seconds;                   ///< of wall time
  double tokens_per_second;         ///< chosen ids by wall time, all in flight together
  std::int64_t prompt_tokens = 0;   ///< that were fed
  double prompt_tokens_per_second;  ///< until the first pass ends; NaN where several were in flight
  double first_token;               ///< seconds, median over answers
};

/// Of answers that took `wall_ns`, up to `in_flight` of them at once.
GenerationSpeed generation_speed(const std::vector<Counters>& answers, std::int64_t wall_ns,
                                 int in_flight);

/// "96 tokens in 1.26 s, 76.2 tokens/s; prompt 35 tokens, 812.3 tokens/s; first token 43 ms"
std::string text_of(const GenerationSpeed& speed);
/// The same under the names that `compare` has in json; null: not known.
OrderedJson json_of(const GenerationSpeed& speed);

}  // namespace pardec
