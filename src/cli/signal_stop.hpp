#pragma once
#include <atomic>
#include <stop_token>
#include <thread>

namespace pardec {

/// During its lifetime, SIGINT and SIGTERM request a stop instead of ending the program. The second
/// signal ends it immediately, with exit code 128 plus its number. REQUIRES: created before all
/// computing threads, so that these do not receive the signals.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// The signal that requested a stop; 0: none.
  int signal() const { return signal_; }

 private:
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  std::jthread waiter_;
};

}  // namespace pardec
