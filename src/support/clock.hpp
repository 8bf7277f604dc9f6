#pragma once
#include <chrono>
#include <cstdint>

namespace pardec {

/// Monotonic time. Passed as a parameter wherever time is measured, so that tests can set it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now_ns() const = 0;
};

class SteadyClock final : public Clock {
 public:
  std::int64_t now_ns() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace pardec
