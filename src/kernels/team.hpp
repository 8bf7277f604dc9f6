#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace pardec {

/// Decides how many members of a team take part in loops while other programs compete for the
/// cores. A member that has a piece of work but no core delays all others. After such a delay, all
/// members stay if they have taken part long enough for the gain to exceed the delay. Otherwise one
/// member is left out for twice the time of the delay. If another delay follows soon after the
/// member returns, a member is left out again, for four times as long as before (at most a second).
/// Thus delays cost little time on a machine that is always busy, and after a single disturbance
/// the member soon returns.
class Attendance {
 public:
  explicit Attendance(int members) : members_(members), active_(members) {}

  int active() const { return active_; }
  /// The number of members that may take part at this time. A member whose time is over returns.
  int at(std::int64_t now_ns);
  /// Reports that a caller, which had computed for `worked_ns`, waited for the others for
  /// `waited_ns` until `now_ns`.
  void waited(std::int64_t now_ns, std::int64_t worked_ns, std::int64_t waited_ns);
  /// Time that members were left out, summed over members.
  std::int64_t out_ns(std::int64_t now_ns) const;

 private:
  void become(int active, std::int64_t now_ns);

  int members_, active_;
  std::int64_t since_ns_ = 0, out_ns_ = 0;  // time of the last change; sum until then
  std::int64_t back_ns_ = 0;  // when a member will return or did, or last caused a delay and stayed
  std::int64_t rest_ns_ = 0;  // how long it was left out; 0: it stayed
};

/// Threads that share the pieces of loops: the caller, and helpers that start at the first loop.
/// Each member begins with its own share of the pieces, then takes pieces of others. A member
/// without a core therefore delays at most the piece that it has begun; a sleeping or late member
/// delays nothing. Idle members spin for a while, then sleep.
class Team {
 public:
  explicit Team(int members) { resize(members); }
  ~Team() { resize(1); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int members() const { return members_; }
  /// REQUIRES: members >= 1, and no loop is running. Ends the previous helpers.
  void resize(int members);

  /// Reserves the team for the current thread while it lives: loops of other threads then run on
  /// their callers alone. Without it, each loop must first wait until its caller's previous writes
  /// are visible to all threads. Has no effect if the team was taken already.
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

  /// Calls work(member, first, last) for pieces [first, last) that make up [0, count). Each piece
  /// is called once and has at least `grain` items (the last one may have fewer). `member` is from
  /// 0 (the caller) to members() - 1, and runs one piece at a time. Returns when all pieces are
  /// done and their writes are visible. If a piece throws, no further pieces begin, and the
  /// exception is thrown here after all begun pieces have ended. The caller computes everything
  /// itself, as member 0, if there is only one piece, in a nested loop, or while another thread's
  /// loop runs.
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

  /// Time that helpers were left out because other programs used their cores (Attendance), summed
  /// over helpers.
  std::int64_t left_out_ns() const;
  /// Time that callers slept while they waited for helpers; per loop, at most the caller's own
  /// working time.
  std::int64_t slept_ns() const { return slept_ns_.load(std::memory_order_relaxed); }
  /// Number of helpers that sleep instead of spinning.
  int sleeping() const;

 private:
  struct Loop {
    void (*call)(const void* context, int member, std::int64_t first, std::int64_t last);
    const void* context;
    std::int64_t count, pieces;
  };
  /// A member's own memory: pieces [next, end) of a loop, which any member may take. A waiting
  /// helper watches a single cache line, which a call writes; a cache line takes some 50 ns from
  /// core to core.
  struct alignas(64) Place {
    // number of the loop (32 bits), next and end (16 bits each)
    std::atomic<std::uint64_t> pieces = 0;
    Loop loop{};                                      // the loop of these pieces
    alignas(64) std::atomic<std::uint32_t> bell = 0;  // wakes a sleeping helper
    std::atomic<bool> asleep = false;
  };

  /// Takes the team for one loop; false: another loop is running, or another thread holds the team.
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
  void start();
  /// The main function of a helper. It waits for loops after number `seen`.
  void help(int member, std::uint32_t seen);
  /// Computes pieces of a place until none is left; returns their number.
  int take_all(Place& place, int member);
  int take_piece(Place& place);
  void do_piece(const Loop& loop, int piece, int member);
  void wait_for_others(int pieces, std::int64_t begin_ns);
  void call(Place& place, const Loop& loop, std::int64_t begin, std::int64_t end);
  void wake(Place& place);

  int members_ = 1;
  std::vector<Place> places_;         // per member
  std::vector<std::thread> helpers_;  // members 1, 2, ...
  std::atomic<bool> taken_ = false;   // a loop is running, or a thread holds the team
  std::atomic<std::thread::id> holder_{};
  bool runs_ = false;  // whether a loop of the holder runs; only the holder accesses this
  std::atomic<bool> ends_ = false;
  std::uint32_t number_ = 0;                         // number of the loop
  alignas(64) std::atomic<std::uint32_t> done_ = 0;  // pieces that helpers have finished
  std::atomic<bool> failed_ = false;
  std::exception_ptr failure_;
  std::unique_ptr<Attendance> attendance_;
  std::atomic<std::int64_t> slept_ns_ = 0;
};

}  // namespace pardec
