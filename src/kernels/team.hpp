#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace pardec {

/// How many members of a team take part, while others want their cores. A member that has a piece
/// of work and no core holds up all. Where all were present for long before that, they gained more
/// by it than the waiting costs, and all stay. Otherwise one member less takes part, for twice as
/// long as was waited; where that happens again when the member is back, for four times as long, up
/// to a second: a busy machine costs little, and what disturbs now and then no more than itself.
class Attendance {
 public:
  explicit Attendance(int members) : members_(members), active_(members) {}

  int active() const { return active_; }
  /// Those that may take part at that time; one that was out comes back.
  int at(std::int64_t now_ns);
  /// A caller that had computed for `worked_ns` waited for `waited_ns` until then for the others.
  void waited(std::int64_t now_ns, std::int64_t worked_ns, std::int64_t waited_ns);
  /// Time that members were out, summed over them.
  std::int64_t out_ns(std::int64_t now_ns) const;

 private:
  void become(int active, std::int64_t now_ns);

  int members_, active_;
  std::int64_t since_ns_ = 0, out_ns_ = 0;  // of the last change; summed before it
  std::int64_t back_ns_ = 0;  // when one comes back, came, or was waited for and stayed
  std::int64_t rest_ns_ = 0;  // how long it was out; 0: it stayed
};

/// Threads that share out the pieces of loops: the caller, and helpers that it started at its first
/// loop. Each begins with a part of its own and then takes pieces of others': a member without a
/// core holds up at most the piece that it has begun, and one that sleeps or is late none. Who has
/// nothing to do spins for some tens of microseconds, then sleeps.
class Team {
 public:
  explicit Team(int members) { resize(members); }
  ~Team() { resize(1); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int members() const { return members_; }
  /// REQUIRES: at least 1, and no loop runs. Helpers that there were end.
  void resize(int members);

  /// While it lives, all loops of its thread are the team's and those of other threads are theirs
  /// alone: each loop that takes the team by itself first waits until what its caller wrote before
  /// is seen by all. Where the team was taken, it does nothing.
  class Hold {
   public:
    explicit Hold(Team& team) : team_(team), holds_(!team.taken_.exchange(true)) {
      if (holds_) team_.holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~Hold() {
      if (!holds_) return;
      team_.holder_.store(std::thread::id(), std::memory_order_relaxed);
      team_.taken_.store(false, std::memory_order_release);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Team& team_;
    const bool holds_;
  };

  /// Calls work(member, first, last) on pieces [first, last) that make up [0, count), each once, of
  /// `grain` items at least (the last one of all: any number); `member` is from 0, the caller, to
  /// members() - 1, and runs one piece at a time. Returns when all are done, and what they wrote is
  /// seen. What a piece throws is thrown here once all that were begun have ended; no other begins
  /// then. Where one piece is all there is, in a loop within a loop, or while another thread's loop
  /// runs, the caller does everything, as member 0.
  template <typename Work>
  void run(std::int64_t count, std::int64_t grain, const Work& work) {
    const std::int64_t pieces = count <= grain ? 1 : pieces_of(count, grain);
    if (pieces <= 1 || members_ <= 1 || !take()) {
      if (count > 0) work(0, std::int64_t{0}, count);
      return;
    }
    share_out({.call =
                   [](const void* context, int member, std::int64_t first, std::int64_t last) {
                     (*static_cast<const Work*>(context))(member, first, last);
                   },
               .context = &work,
               .count = count,
               .pieces = pieces});
  }

  /// Time that helpers were left out since others had their cores (Attendance), summed over them.
  std::int64_t left_out_ns() const;
  /// Time that callers slept until helpers had done pieces that are as large as their own.
  std::int64_t slept_ns() const { return slept_ns_.load(std::memory_order_relaxed); }
  /// Helpers that sleep, and do not spin.
  int sleeping() const;

 private:
  struct Loop {
    void (*call)(const void* context, int member, std::int64_t first, std::int64_t last);
    const void* context;
    std::int64_t count, pieces;
  };
  /// A member's own memory: pieces [next, end) of a loop are there to be taken, by anyone. What a
  /// helper looks at until it is called is in one line of the cache, which a call writes: a line
  /// takes some 50 ns from core to core.
  struct alignas(64) Place {
    std::atomic<std::uint64_t> pieces = 0;  // number of the loop (32 bits), next and end (16 each)
    Loop loop{};                            // that they are of
    alignas(64) std::atomic<std::uint32_t> bell = 0;  // wakes a helper that sleeps
    std::atomic<bool> asleep = false;
  };

  /// The team for one loop; false: another one runs, or another thread holds it.
  bool take() {
    if (holder_.load(std::memory_order_relaxed) != std::this_thread::get_id())
      return !taken_.exchange(true, std::memory_order_acquire);
    return !std::exchange(runs_, true);
  }
  void release() {
    if (std::exchange(runs_, false)) return;  // it stays the holder's
    taken_.store(false, std::memory_order_release);
  }
  std::int64_t pieces_of(std::int64_t count, std::int64_t grain) const;
  void share_out(const Loop& loop);
  void start();
  /// A helper, called to loops after number `seen`.
  void help(int member, std::uint32_t seen);
  /// Does pieces of a place until none is left to begin; returns how many.
  int take_all(Place& place, int member);
  int take_piece(Place& place);
  void do_piece(const Loop& loop, int piece, int member);
  void wait_for_others(int pieces, std::int64_t begin_ns);
  void call(Place& place, const Loop& loop, std::int64_t begin, std::int64_t end);
  void wake(Place& place);

  int members_ = 1;
  std::vector<Place> places_;         // by member
  std::vector<std::thread> helpers_;  // of members 1, 2, ...
  std::atomic<bool> taken_ = false;   // a loop runs, or somebody holds it
  std::atomic<std::thread::id> holder_{};
  bool runs_ = false;  // a loop of the holder, which alone looks here
  std::atomic<bool> ends_ = false;
  std::uint32_t number_ = 0;                         // of the loop
  alignas(64) std::atomic<std::uint32_t> done_ = 0;  // pieces that helpers have done
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
  std::unique_ptr<Attendance> attendance_;
  std::atomic<std::int64_t> slept_ns_ = 0;
};

}  // namespace pardec
