#pragma once
#include <atomic>
#include <stop_token>
#include <thread>

namespace pardec {

/// While it lives, SIGINT and SIGTERM ask for a stop instead of ending the program; the second one
/// ends it at once, with 128 and its number. REQUIRES: made before any thread that computes, so
/// that none of them takes the signals.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// The signal that asked for a stop; 0: none did.
  int signal() const { return signal_; }

 private:
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  std::jthread waiter_;
};

}  // namespace pardec
