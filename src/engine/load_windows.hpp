#pragma once
#include <cstdint>
#include <vector>

namespace pardec {

/// The use of the cache and the tokens in one window of time.
struct LoadSums {
  std::int64_t ns = 0;          ///< length; shorter than LoadWindows::kWindowNs in the last window
  std::int64_t row_ns = 0;      ///< nanoseconds that a row was in the cache, summed over rows
  std::int64_t waiting_ns = 0;  ///< time in which jobs waited to start, or for room in the cache
  std::int64_t tokens = 0;      ///< number of tokens generated

  bool operator==(const LoadSums&) const = default;
};

/// Records the use of the cache and the tokens of a run, in consecutive windows of time.
class LoadWindows {
 public:
  static constexpr std::int64_t kWindowNs = 500'000'000;

  /// Begins a new record. `now`: a time in nanoseconds.
  void begin(std::int64_t now) {
    windows_.clear();
    last_ = now;
  }
  /// Adds the period from the previous call until `now`, a time in nanoseconds. In this period, the
  /// cache had `rows` rows. `waiting`: whether jobs waited. `tokens`: the number of tokens that
  /// were generated in the period; they count in the window in which the period ends. REQUIRES:
  /// begin() was called; `now` is not less than in the previous call.
  void add(std::int64_t now, std::int64_t rows, bool waiting, std::int64_t tokens);

  /// The windows so far; only the last one may be shorter than kWindowNs.
  const std::vector<LoadSums>& windows() const { return windows_; }

 private:
  std::vector<LoadSums> windows_;
  std::int64_t last_ = 0;
};

}  // namespace pardec
