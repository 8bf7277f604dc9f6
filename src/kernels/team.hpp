#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace pardec {

/// Decides how many members of a Team take part in loops while other programs compete for the
/// cores. If a member has begun a piece of work but has no core, all other members wait for it. A
/// wait is a delay if it takes at least 1 ms and at least twice as long as the caller's own work in
/// the loop.
///
/// After a delay, one member is left out of the following loops, for twice the length of the delay.
/// After each further delay, one more member is left out, for four times as long as the previous
/// member, but at most for one second.
///
/// There is one exception. If all members took part without a delay for a long time, nobody is left
/// out after the next delay, and the delay after that counts as a first delay again. A long time is
/// more than 4 (members + 1) times the length of the delay: in this time, the late member did more
/// work than the wait for it costs.
class Attendance {
 public:
  /// `members`: number of members of the team, at least 1.
  explicit Attendance(int members) : members_(members), active_(members) {}

  /// The number of members that take part in loops, as the last call of `at` or `waited` decided.
  int active() const { return active_; }
  /// Call this before a loop. Returns the number of members that may take part at time `now_ns`. A
  /// member that was left out takes part again when its time is over. All times are in nanoseconds
  /// of one monotonic clock.
  int at(std::int64_t now_ns);
  /// Reports a loop that ended at `now_ns`. The thread that called the loop computed for
  /// `worked_ns`, and then waited for `waited_ns` until the other members were ready.
  void waited(std::int64_t now_ns, std::int64_t worked_ns, std::int64_t waited_ns);
  /// Total time until `now_ns` for which members were left out. If several members are left out at
  /// the same time, the time of each counts.
  std::int64_t out_ns(std::int64_t now_ns) const;

 private:
  void become(int active, std::int64_t now_ns);

  int members_, active_;
  std::int64_t since_ns_ = 0, out_ns_ = 0;  // time of the last change; out_ns() at that time
  // The time at which the next left-out member returns. If none is left out: the time of the last
  // return, or of the last delay after which all members stayed.
  std::int64_t back_ns_ = 0;
  std::int64_t rest_ns_ = 0;  // how long the last member was left out; 0: all stayed
};

/// A thread pool for parallel loops. Its members are the thread that calls run(), and helper
/// threads, which are started by the first loop. A loop is divided into pieces. Each member begins
/// with its own share of the pieces, and then takes pieces from other members. Therefore a member
/// without a core delays at most the piece that it has begun, and a member that still sleeps delays
/// nothing. Idle helpers spin for about 0.1 ms, then sleep. More than one thread may call run() at
/// the same time.
class Team {
 public:
  /// REQUIRES: members >= 1; otherwise std::logic_error. One member means no helpers.
  explicit Team(int members) { resize(members); }
  ~Team() { resize(1); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int members() const { return members_; }
  /// Ends all helpers, and sets the number of members. REQUIRES: no loop is running; members >= 1,
  /// otherwise std::logic_error.
  void resize(int members);

  /// Reserves the team for the current thread while this object exists. Meanwhile, a loop of any
  /// other thread runs on that other thread alone. A Hold makes many short loops cheaper: without a
  /// Hold, each loop reserves the team, and waits until the caller's previous writes are visible to
  /// all threads. Has no effect if the team is already reserved, or while a loop is running.
  /// REQUIRES: the thread that made this object also destroys it.
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

  /// Divides [0, count) into pieces, and calls work(member, first, last) once for each piece
  /// [first, last). A piece has at least `grain` items, unless `count` is smaller. `member` is the
  /// number of the member that computes the piece: 0 for the caller, otherwise less than members().
  /// A member computes one piece at a time. Returns when all pieces are done and their writes are
  /// visible. If `count` is 0, `work` is not called.
  ///
  /// The caller computes everything in one call, as member 0, if there is only one piece or one
  /// member, if the loop is nested in another loop, while a loop or Hold of another thread has the
  /// team, or if all helpers are left out (Attendance).
  ///
  /// If a piece throws, no more pieces are begun. The exception is rethrown here when all begun
  /// pieces have ended. If several pieces throw, this is the first exception. std::system_error:
  /// the system cannot start the helpers; `work` was not called.
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

  /// Total time in nanoseconds, since the last `resize`, for which helpers were left out because
  /// other programs used their cores (Attendance), summed over helpers. REQUIRES: no loop is
  /// running.
  std::int64_t left_out_ns() const;
  /// Total time in nanoseconds that callers waited for helpers, in those loops in which the caller
  /// went to sleep. Counts from the construction of the team. For each loop, at most the caller's
  /// own working time counts.
  std::int64_t slept_ns() const { return slept_ns_.load(std::memory_order_relaxed); }
  /// Number of helpers that are asleep, i.e. neither computing nor spinning.
  int sleeping() const;

 private:
  struct Loop {
    void (*call)(const void* context, int member, std::int64_t first, std::int64_t last);
    const void* context;
    std::int64_t count, pieces;
  };
  /// The memory of one member: the pieces [next, end) of the member's share of a loop. Any member
  /// may take these pieces. An idle helper watches this cache line only. call() writes the line to
  /// start a loop. (It takes about 50 ns to move a cache line from core to core.)
  struct alignas(64) Place {
    // number of the loop (32 bits), next and end (16 bits each)
    std::atomic<std::uint64_t> pieces = 0;
    Loop loop{};                                      // the loop of these pieces
    alignas(64) std::atomic<std::uint32_t> bell = 0;  // wakes a sleeping helper
    std::atomic<bool> asleep = false;
  };

  /// Takes the team for one loop. Returns false if another loop is running, or another thread holds
  /// the team.
  bool take() {
    if (holder_.load(std::memory_order_relaxed) != std::this_thread::get_id())
      return !taken_.exchange(true, std::memory_order_acquire);
    return !std::exchange(runs_, true);
  }
  void release() {
    if (std::exchange(runs_, false)) return;  // the team stays with the holder
    taken_.store(false, std::memory_order_release);
  }
  std::int64_t pieces_of(std::int64_t count, std::int64_t grain) const;
  void share_out(const Loop& loop);
  /// Starts all helpers, or none.
  void start();
  void end_helpers();
  /// The main function of a helper. It waits for the loop after loop number `seen`.
  void help(int member, std::uint32_t seen);
  /// Computes pieces of a place until none is left. Returns the number of computed pieces.
  int take_all(Place& place, int member);
  /// Returns the number of the piece that was taken, or -1 if none is left.
  int take_piece(Place& place);
  void do_piece(const Loop& loop, int piece, int member);
  void wait_for_others(int pieces, std::int64_t begin_ns);
  void call(Place& place, const Loop& loop, std::int64_t begin, std::int64_t end);
  void wake(Place& place);

  int members_ = 1;
  std::vector<Place> places_;         // one for each member
  std::vector<std::thread> helpers_;  // members 1, 2, ...
  std::atomic<bool> taken_ = false;   // a loop is running, or a thread holds the team
  std::atomic<std::thread::id> holder_{};
  bool runs_ = false;  // whether a loop of the holder is running; used by the holder only
  std::atomic<bool> ends_ = false;
  std::uint32_t number_ = 0;                         // number of the loop
  alignas(64) std::atomic<std::uint32_t> done_ = 0;  // pieces that helpers have finished
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
  std::unique_ptr<Attendance> attendance_;
  std::atomic<std::int64_t> slept_ns_ = 0;
};

}  // namespace pardec
