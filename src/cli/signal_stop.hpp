#pragma once
#include <atomic>
#include <stop_token>
#include <thread>

namespace pardec {

/// While this object exists, a first SIGINT or SIGTERM requests a stop and does not end the
/// program. A second signal ends the program immediately, with exit code 128 plus the signal's
/// number. REQUIRES: the object is created before all computing threads, so that these threads do
/// not receive the signals.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  /// Reports the requested stop. The first signal requests the stop.
  std::stop_token token() const { return stop_.get_token(); }
  /// The signal that requested a stop; 0: none.
  int signal() const { return signal_; }

 private:
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  std::jthread waiter_;
};

}  // namespace pardec
