#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace pardec::serve {

/// A first-in, first-out queue that passes jobs from the server's thread to the engine's thread. A
/// job waits in the queue until the engine has room for it. `Job` is any movable type.
template <typename Job>
class JobQueue {
 public:
  /// The limits of the queue.
  struct Bounds {
    std::size_t live = 1;     ///< maximum number of jobs in the engine at a time
    std::size_t waiting = 0;  ///< maximum number of jobs that wait until the engine has room
    /// Maximum number of rows of the KV cache that all waiting jobs together may need; 0: no limit.
    /// This limit does not apply to submit() while the queue is empty.
    std::int64_t waiting_rows = 0;
  };
  /// A job in the queue.
  struct Entry {
    std::uint64_t number;  ///< identifies the job; the first job has number 1
    Job job;
    std::int64_t rows;  ///< maximum number of cache rows that the job needs
  };
  /// How many jobs are in the engine, and how many wait in the queue.
  struct Load {
    std::size_t running = 0, waiting = 0;
  };

  explicit JobQueue(const Bounds& bounds) : bounds_(bounds) {}

  // The next five functions may be called on any thread:

  /// Adds the jobs of a request, and returns their numbers (Entry::number) in the order of `jobs`.
  /// `jobs`: each job with the maximum number of cache rows that the job needs. If there is no room
  /// for all jobs (Bounds), adds no job, and returns an empty list.
  std::vector<std::uint64_t> submit(std::vector<std::pair<Job, std::int64_t>> jobs) {
    std::vector<std::uint64_t> numbers;
    {
      const std::lock_guard lock(mutex_);
      std::int64_t rows = 0;
      for (const auto& [job, needed] : jobs) rows += needed;
      if (!has_room(jobs.size(), rows)) return {};
      for (auto& [job, needed] : jobs) {
        numbers.push_back(next_number_);
        waiting_rows_ += needed;
        queue_.push_back({next_number_++, std::move(job), needed});
      }
    }
    wake_.notify_one();
    return numbers;
  }

  /// Whether submit() would now add one job that needs no cache rows.
  bool has_room() const {
    const std::lock_guard lock(mutex_);
    return has_room(1, 0);
  }

  /// Requests the cancellation of the jobs with these numbers. The next take() removes the jobs
  /// that still wait in the queue, and returns all `numbers` in Turn::cancelled.
  void cancel(const std::vector<std::uint64_t>& numbers) {
    {
      const std::lock_guard lock(mutex_);
      cancelled_.insert(cancelled_.end(), numbers.begin(), numbers.end());
    }
    wake_.notify_one();
  }

  /// Requests that the engine's thread stops (Turn::stopping).
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
  }

  Load load() const {
    const std::lock_guard lock(mutex_);
    return {running_, queue_.size()};
  }

  // The next two functions must be called on the engine's thread:

  /// To be called after jobs have left the engine. `live`: number of jobs that are still in the
  /// engine.
  void left(std::size_t live) {
    const std::lock_guard lock(mutex_);
    running_ = live;
  }

  /// What the engine's thread must do before the next pass.
  struct Turn {
    std::vector<Entry> joining;  ///< jobs to start; empty if `stopping`
    /// Numbers of jobs to cancel. Some of these jobs may have ended, or may never have started.
    std::vector<std::uint64_t> cancelled;
    bool stopping = false;  ///< whether stop() was called; if so, the engine's thread must end
  };
  /// Takes jobs from the queue for the next pass, until Bounds::live jobs are in the engine or the
  /// queue is empty. `live`: number of jobs that are in the engine now. If `live` is 0, the call
  /// waits for a job, a cancellation or stop().
  Turn take(std::size_t live) {
    std::unique_lock lock(mutex_);
    running_ = live;
    wake_.wait(lock,
               [&] { return stopping_ || live > 0 || !queue_.empty() || !cancelled_.empty(); });
    Turn turn{.cancelled = std::exchange(cancelled_, {}), .stopping = stopping_};
    std::erase_if(queue_, [&](const Entry& one) {
      const bool gone = std::find(turn.cancelled.begin(), turn.cancelled.end(), one.number) !=
                        turn.cancelled.end();
      if (gone) waiting_rows_ -= one.rows;
      return gone;
    });
    while (!stopping_ && !queue_.empty() && live + turn.joining.size() < bounds_.live) {
      waiting_rows_ -= queue_.front().rows;
      turn.joining.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    running_ = live + turn.joining.size();
    return turn;
  }

 private:
  bool has_room(std::size_t jobs, std::int64_t rows) const {
    const std::size_t free = bounds_.live - std::min(bounds_.live, running_);
    if (queue_.size() + jobs > bounds_.waiting + free) return false;
    return queue_.empty() || bounds_.waiting_rows == 0 ||
           waiting_rows_ + rows <= bounds_.waiting_rows;
  }

  const Bounds bounds_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;
  std::vector<std::uint64_t> cancelled_;
  std::uint64_t next_number_ = 1;
  std::size_t running_ = 0;
  std::int64_t waiting_rows_ = 0;
  bool stopping_ = false;
};

}  // namespace pardec::serve
