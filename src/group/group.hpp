#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace pardec {

/// Name and version of the MPI library. Empty: the program was built without MPI.
std::string mpi_library();

/// The processes that mpirun (or srun) started together. All processes must make the same calls in
/// the same order, except for two pairs of calls: send() with receive(), and tell() with hear().
/// The sender makes the first call of a pair, and each receiver makes the second call. RunError,
/// from any call: another process did not answer in time (the message names it), or MPI reports an
/// error. If a process fails or is killed, MPI's launcher ends all others. Not thread-safe: all
/// calls must come from the thread that created the group.
class Group {
 public:
  /// Joins the processes that were started together with this process. Null: this process was
  /// started alone. `timeout_seconds`: how long rank 0 waits for another process. Other ranks wait
  /// twice as long for rank 0, because rank 0 may be waiting too. ConfigError: several processes
  /// were started, but the program was built without MPI. RunError: MPI cannot start, or does not
  /// support threads. REQUIRES: a process calls this at most once (a rule of MPI).
  static std::unique_ptr<Group> join(double timeout_seconds);
  /// Waits until all processes have destroyed their group. Does not wait if the group is destroyed
  /// because of an exception.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Whether this process has the lowest rank of the group's processes on this machine.
  bool first_on_machine() const { return first_on_machine_; }
  int rank() const { return rank_; }  ///< from 0
  int size() const { return size_; }  ///< number of processes

  /// Replaces numbers[i], for each i, by the sum of the numbers[i] of all processes. The numbers
  /// are added in the order of ranks. So the sums have the same bits in all processes, and a sum
  /// does not depend on the other numbers of the call. REQUIRES: equal lengths in all processes.
  void sum(std::span<float> numbers);
  void sum(std::span<double> numbers);
  /// Replaces the bytes by the bytes of rank 0. REQUIRES: equal lengths in all processes.
  void broadcast(std::span<std::byte> bytes);
  /// Returns rank 0's text. The texts of the other ranks are ignored.
  std::string broadcast(const std::string& text);
  /// Sends a text to rank 0, which must call receive() for this text. REQUIRES: not called in rank
  /// 0.
  void send(const std::string& text);
  /// Waits for the next text that the process of rank `rank` sends, and returns this text.
  /// REQUIRES: called in rank 0, and `rank` is not 0.
  std::string receive(int rank);
  /// In rank 0, returns the texts of all processes, in the order of ranks. In the other ranks,
  /// returns an empty list.
  std::vector<std::string> gather(const std::string& text);
  /// Sends a text to all other ranks, each of which must call hear() for this text. RunError also
  /// if the text has more than 2^28 bytes. REQUIRES: called in rank 0.
  void tell(const std::string& text);
  /// Waits for the next text that rank 0 sends with tell(), and returns this text. There is no time
  /// limit. A long wait uses almost no CPU time. REQUIRES: not called in rank 0.
  std::string hear();
  /// Returns when all processes have called barrier().
  void barrier() { broadcast(std::string()); }

 private:
  explicit Group(double timeout_seconds);
  /// Rank 0 waits until all other ranks have begun the same call.
  void meet();

  template <typename Number>
  void sum_numbers(std::span<Number> numbers);
  /// How long this process waits for another one.
  double patience() const { return (rank_ == 0 ? 1 : 2) * timeout_seconds_; }

  double timeout_seconds_;
  int rank_ = 0, size_ = 1;
  bool first_on_machine_ = true;
};

/// Gives the numbers 0, 1, 2 ... to the processes of a group, each number to the process that asks
/// next. In rank 0, a thread answers the other ranks, so they do not wait until rank 0 has done its
/// own work. REQUIRES: all processes create a dealer, and make no other calls of the group while it
/// exists.
class Dealer {
 public:
  explicit Dealer(Group& group);
  /// In ranks above 0: tells rank 0 that this process takes no more numbers. In rank 0: gives out
  /// no more numbers, and waits, without a time limit, until all other processes have destroyed
  /// their dealers. Does neither if the dealer is destroyed because of an exception.
  ~Dealer();
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;

  /// The next number that no process has taken yet. After rank 0 has begun to destroy its dealer,
  /// the result in the other ranks is at least 2^62. Callers must treat such a number as the end of
  /// the work. RunError: rank 0 does not answer within 600 seconds.
  std::int64_t next();

 private:
  void answer(const std::stop_token& stop);

  Group& group_;
  std::atomic<std::int64_t> next_ = 0;
  std::jthread thread_;  ///< only in rank 0: runs answer()
};

}  // namespace pardec
