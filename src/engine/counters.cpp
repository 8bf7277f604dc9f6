#include "src/engine/counters.hpp"

#include <algorithm>

namespace pardec {

Counters& Counters::operator+=(const Counters& other) {
  prompt += other.prompt;
  chosen += other.chosen;
  forced += other.forced;
  fed += other.fed;
  text += other.text;
  forwards += other.forwards;
  prefill_ns = std::max(prefill_ns, other.prefill_ns);
  decode_ns = std::max(decode_ns, other.decode_ns);
  total_ns = std::max(total_ns, other.total_ns);
  cached_peak += other.cached_peak;
  cached_sum += other.cached_sum;
  attended += other.attended;
  scratch += other.scratch;
  branch_lengths.insert(branch_lengths.end(), other.branch_lengths.begin(),
                        other.branch_lengths.end());
  for (const auto& [tokens, count] : other.emitted) emitted[tokens] += count;
  return *this;
}

OrderedJson to_json(const Counters& c) {
  OrderedJson emitted = OrderedJson::object();
  for (const auto& [tokens, count] : c.emitted) emitted[std::to_string(tokens)] = count;
  return {{"prompt", c.prompt},
          {"chosen", c.chosen},
          {"forced", c.forced},
          {"fed", c.fed},
          {"text", c.text},
          {"forwards", c.forwards},
          {"prefill_ns", c.prefill_ns},
          {"decode_ns", c.decode_ns},
          {"total_ns", c.total_ns},
          {"cached_peak", c.cached_peak},
          {"cached_sum", c.cached_sum},
          {"attended", c.attended},
          {"scratch", c.scratch},
          {"branches", c.branch_lengths.size()},
          {"branch_lengths", c.branch_lengths},
          {"parallel_ratio", c.parallel_ratio()},
          {"emitted", emitted}};
}

}  // namespace pardec
