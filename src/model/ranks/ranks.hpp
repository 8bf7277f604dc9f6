#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "src/model/model.hpp"
#include "src/model/ranks/bytes.hpp"

namespace at {
class Tensor;
}

namespace pardec {

class Group;
class RankCopy;

/// The processes that compute networks together (tensor parallel): each has a part of the weights
/// and of the caches (share.hpp). Rank 0 runs the program. The other ranks call follow(): they load
/// the networks that rank 0 loads with Model::Options::ranks, repeat its changes of caches, and
/// compute their part of its passes. A Ranks object must outlive all networks that were loaded with
/// it, and their caches. Like Group, it is not thread-safe.
class Ranks {
 public:
  /// Joins this process to the others that mpirun started. Returns null if this process was started
  /// alone. Errors: see Group::join.
  static std::unique_ptr<Ranks> join();
  /// In rank 0: ends follow() in the other ranks, unless this object is destroyed because of an
  /// exception, or after a pass or a load that failed. In these cases, the launcher must end the
  /// other ranks.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  Group& group() { return *group_; }
  bool leads() const;  ///< whether this is rank 0
  int size() const;

  // What rank 0 tells the other ranks. Models and caches are identified by numbers (RankCopy). The
  // functions for caches send nothing themselves, and cannot fail: the next call of begin_load,
  // begin_pass or begin_heads sends what they recorded. REQUIRES: called in rank 0, except
  // begin_load and end_load, which all ranks call.

  /// In rank 0: makes the other ranks begin to load a network, and returns the copies of the
  /// network in these ranks. In ranks above 0: does nothing, and returns null. The caller must call
  /// end_load() when the load ends. RunError: a rank does not answer; or an earlier load or pass
  /// failed in one of the processes, so that the processes no longer work together.
  std::shared_ptr<const RankCopy> begin_load(const std::filesystem::path& folder,
                                             const Model::Options& options);
  /// All ranks call this at the end of loading. `error`: the message of this rank's own error,
  /// which the caller must throw afterwards; empty: this rank succeeded. RunError: a rank does not
  /// answer; or, in rank 0 and only if `error` is empty, another rank has an error. The message
  /// contains that rank's error.
  void end_load(const std::string& error);
  /// Makes the other ranks create an empty cache of `model`. Returns these copies of the cache.
  std::shared_ptr<const RankCopy> open_cache(const RankCopy& model);
  /// Makes the other ranks copy their part of `cache`, and returns the new caches. `shares`: true
  /// for KvCache::share, false for KvCache::fork.
  std::shared_ptr<const RankCopy> fork_cache(const RankCopy& cache, bool shares);
  // These make the other ranks call the KvCache function of the same name.
  void drop(const RankCopy& cache, std::span<const int> rows);
  void retract(const RankCopy& cache, int first);
  void relabel(const RankCopy& cache, int row, const RowLabel& label);
  void evict(const RankCopy& cache);
  /// Makes the other ranks begin a pass. The caller must call end_pass() after its own computation
  /// of the pass has succeeded. Errors: see begin_load. REQUIRES: the steps' caches are of `model`.
  void begin_pass(const RankCopy& model, std::span<const SequenceStep> steps,
                  const SkippedSublayers& skipped);
  /// Makes the other ranks compute the heads for more rows (Model::further). `rows`: [m, hidden];
  /// `heads` and `requests` have one entry per row. The caller must call end_pass() after its own
  /// computation of these rows has succeeded. Errors: see begin_load.
  void begin_heads(const RankCopy& model, const at::Tensor& rows, const std::vector<int>& heads,
                   std::span<const OutputRequest* const> requests);
  /// Ends a pass that succeeded, and also the computation after begin_heads. Without this call, the
  /// next call of begin_load, begin_pass or begin_heads throws RunError.
  void end_pass() { in_pass_ = false; }

 private:
  friend class RankCopy;
  explicit Ranks(std::unique_ptr<Group> group);
  std::shared_ptr<const RankCopy> next_copy();
  void begin();
  void forget(int number);

  std::unique_ptr<Group> group_;
  ByteWriter unsaid_;            // sent by the next call of begin_...
  std::map<int, int> segments_;  // per cache: number of segments that the other ranks know
  int next_ = 0;                 // number of the next model or cache
  bool in_pass_ = false;
};

/// The copies in the other ranks of a model or cache of rank 0. They are removed with this object.
class RankCopy {
 public:
  /// `its_number`: the number of the model or cache in messages. `of` must outlive this object.
  RankCopy(Ranks& of, int its_number) : ranks(of), number(its_number) {}
  ~RankCopy() { ranks.forget(number); }
  RankCopy(const RankCopy&) = delete;
  RankCopy& operator=(const RankCopy&) = delete;

  Ranks& ranks;
  const int number;
};

/// Loads the networks, changes the caches and computes the passes that rank 0 asks for. Returns
/// when rank 0 destroys its Ranks. If this rank cannot load a network, the error is reported to
/// rank 0, and not thrown here. Errors in a pass: see Model::forward and Model::further. REQUIRES:
/// not called in rank 0.
void follow(Ranks& ranks);

}  // namespace pardec
