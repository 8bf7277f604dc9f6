#pragma once
#include <cstdint>

#include "src/support/clock.hpp"

namespace pardec {

/// Time spent in the parts of forward passes, in nanoseconds, summed over passes. The rest of a
/// run's time is spent in the engine and in decoders.
struct Profile {
  std::int64_t linear_ns = 0;     ///< matrix products with weights, including the head
  std::int64_t attention_ns = 0;  ///< products of queries with keys, and with values
  std::int64_t rows_ns = 0;       ///< embedding, norms, rotary embedding, writing the cache
  std::int64_t logits_ns = 0;     ///< reduction of logits to the requested outputs
  std::int64_t exchange_ns = 0;   ///< sums over the processes of a split network, with the waiting
  std::int64_t sum() const { return linear_ns + attention_ns + rows_ns + logits_ns + exchange_ns; }
};

/// A stopwatch: each call adds the time since the previous call to a part of a profile. If the
/// profile is null, the clock is not read.
class Laps {
 public:
  /// `profile` must outlive this object; null: nothing is measured. The first period begins now.
  explicit Laps(Profile* profile) : profile_(profile) { skip(); }
  /// Adds the time since the previous call to `part`, e.g. &Profile::rows_ns.
  void add_to(std::int64_t Profile::*part) {
    if (!profile_) return;
    const std::int64_t now = SteadyClock().now_ns();
    profile_->*part += now - last_;
    last_ = now;
  }
  /// Discards the time since the previous call.
  void skip() {
    if (profile_) last_ = SteadyClock().now_ns();
  }

 private:
  Profile* profile_;
  std::int64_t last_ = 0;
};

}  // namespace pardec
