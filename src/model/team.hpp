#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

namespace pardec {

/// Threads of one parallel loop that go through phases together. The loop has `shares` iterations,
/// all of which must run at once; a thread that has got several takes their work together. (One
/// loop for a whole forward pass: waking threads costs more than most of its products.)
class Team {
 public:
  explicit Team(int shares) : shares_(shares) {}

  /// A thread's place in it: iterations [begin, end) of the loop.
  class Member {
   public:
    Member(Team& team, std::int64_t begin, std::int64_t end)
        : team_(team), begin_(begin), end_(end) {}

    std::int64_t index() const { return begin_; }  ///< below the number of shares
    /// This member's part of `count` items: [first, last).
    std::pair<std::int64_t, std::int64_t> part(std::int64_t count) const {
      return {count * begin_ / team_.shares_, count * end_ / team_.shares_};
    }
    /// Returns when all members have come here; what they wrote before is seen.
    void wait() { team_.wait(static_cast<int>(end_ - begin_)); }

   private:
    Team& team_;
    const std::int64_t begin_, end_;
  };

 private:
  static constexpr int kSpins = 4000;  // some ten microseconds: longer than a phase's imbalance

  void wait(int shares) {
    const std::uint32_t phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(shares, std::memory_order_acq_rel) + shares == shares_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
      phase_.notify_all();
      return;
    }
    for (int i = 0; i < kSpins; ++i) {
      if (phase_.load(std::memory_order_acquire) != phase) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    phase_.wait(phase, std::memory_order_acquire);
  }

  const int shares_;
  alignas(64) std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<std::uint32_t> phase_ = 0;
};

}  // namespace pardec
