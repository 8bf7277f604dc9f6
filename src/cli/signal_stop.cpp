#include "src/cli/signal_stop.hpp"

#include <csignal>
#include <cstdlib>

namespace pardec {

namespace {

sigset_t waited_for() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

SignalStop::SignalStop() {
  const sigset_t set = waited_for();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::jthread([this](std::stop_token over) {
    const sigset_t signals = waited_for();
    while (true) {
      const int got = ::sigwaitinfo(&signals, nullptr);
      if (over.stop_requested()) return;
      if (got <= 0) continue;
      // After the first signal, running jobs finish and are stored. The second one stops
      // immediately, without losing stored results.
      if (signal_ != 0) std::_Exit(128 + got);
      signal_ = got;
      stop_.request_stop();
    }
  });
}

SignalStop::~SignalStop() {
  waiter_.request_stop();
  ::pthread_kill(waiter_.native_handle(), SIGTERM);  // ends its wait; no other thread receives it
  waiter_.join();
  const sigset_t set = waited_for();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace pardec
