#pragma once
#include <cstdint>

#include "src/support/clock.hpp"

namespace pardec {

/// Where the time of forward passes went, in nanoseconds, summed over passes. What is in none of
/// them is the engine's and the decoder's.
struct Profile {
  std::int64_t linear_ns = 0;     ///< products with weights, the head's too
  std::int64_t attention_ns = 0;  ///< of queries to keys and values
  std::int64_t rows_ns = 0;       ///< embedding, norms, rotation, filling the cache
  std::int64_t logits_ns = 0;     ///< reduction of logits to what is wanted of them
  std::int64_t sum() const { return linear_ns + attention_ns + rows_ns + logits_ns; }
};

/// Deals the time since the last call out to parts of a profile; null: no clock is read.
class Laps {
 public:
  explicit Laps(Profile* profile) : profile_(profile) { skip(); }
  void add_to(std::int64_t Profile::*part) {
    if (!profile_) return;
    const std::int64_t now = SteadyClock().now_ns();
    profile_->*part += now - last_;
    last_ = now;
  }
  /// That time is in no part.
  void skip() {
    if (profile_) last_ = SteadyClock().now_ns();
  }

 private:
  Profile* profile_;
  std::int64_t last_ = 0;
};

}  // namespace pardec
