#pragma once
#include <chrono>
#include <cstdint>

namespace pardec {

/// A monotonic clock. Code whose times are tested takes a Clock as a parameter, so that tests can
/// set the time.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Nanoseconds since a fixed but arbitrary point in time.
  virtual std::int64_t now_ns() const = 0;
};

/// The clock of the system (std::chrono::steady_clock).
class SteadyClock final : public Clock {
 public:
  std::int64_t now_ns() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace pardec
