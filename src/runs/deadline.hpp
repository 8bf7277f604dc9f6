#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace pardec {

/// Requests a stop when a stop is requested through another token, or after a time limit.
class Deadline {
 public:
  /// `other`: the token that is forwarded. `seconds`: the time limit, which begins now; 0 or less:
  /// stops at once; none: there is no limit.
  Deadline(const std::stop_token& other, std::optional<double> seconds)
      : forward_(other, [this] { source_.request_stop(); }) {
    if (seconds)
      timer_ = std::jthread(
          [this, until = std::chrono::steady_clock::now() +
                         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                             std::chrono::duration<double>(std::clamp(*seconds, 0.0, kLongest)))](
              const std::stop_token& ended) {
            std::unique_lock lock(mutex_);
            if (!changed_.wait_until(lock, ended, until, [] { return false; }) &&
                !ended.stop_requested())
              source_.request_stop();
          });
  }
  /// The token through which this object requests the stop.
  std::stop_token token() const { return source_.get_token(); }

 private:
  static constexpr double kLongest = 1e9;  // seconds; a clock's time of 64 bits has room for it
  std::stop_source source_;
  std::stop_callback<std::function<void()>> forward_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread timer_;
};

}  // namespace pardec
