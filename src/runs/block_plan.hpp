#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/runs/run_spec.hpp"
#include "src/store/rows.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

/// The examples of one job of an arm, as indices into the selected examples.
struct JobPlan {
  JobKey key;  ///< equal in every process
  std::vector<int> examples;
};

/// A job's name in traces and messages, which is unique: the id of its only example; for several
/// examples, or if the id begins with '[', all ids as a JSON array.
std::string job_name(const JobKey& key);

/// The seed of a job's random numbers, derived from the run's seed.
std::uint64_t job_seed(std::uint64_t seed, const JobKey& key);

/// An ordered list of examples that all arms run, one arm after the other. Jobs do not cross the
/// borders of blocks. An arm starts and ends a block without running jobs.
struct BlockPlan {
  std::vector<int> examples;
  std::vector<std::vector<JobPlan>> jobs;  ///< [arm]
};

/// Forms the jobs of every arm according to `stackings`, independently of other arms: examples
/// category by category, each in file order; the last job of a category (or of all) may be shorter;
/// all examples of a job have the same system message. Then divides the examples into equal blocks
/// of about `block_examples`, none shorter than half of that. Blocks end where jobs of all arms
/// end, if possible between clusters (examples of one text). There is a single block if there are
/// not enough examples for two.
std::vector<BlockPlan> plan_blocks(const std::vector<Example>& examples,
                                   const std::vector<Stacking>& stackings, int block_examples);

/// One block of one dataset.
struct BlockTurn {
  size_t dataset, position;
  size_t number;  ///< index among its dataset's blocks in this shard, in the order of running
};

/// The order in which a shard runs the blocks of several datasets. `blocks`: the total number of
/// blocks of each dataset. Datasets advance in proportion, and successive positions are far apart
/// (bit-reversal), so that a partial run covers all datasets and categories.
std::vector<BlockTurn> block_turns(const std::vector<size_t>& blocks, const Shard& shard);

/// With fewer distinct blocks, a speedup has no interval.
inline constexpr int kLeastBlocks = 6;

/// The block length at which each arm's batch is full during three quarters of its jobs. If this
/// gives many blocks, the length is increased up to four times, but at least twenty blocks remain.
/// All examples if there are too few.
int filling_block_examples(int examples, const std::vector<Stacking>& stackings,
                           const std::vector<int>& batch_sizes);

/// The default block length: filling_block_examples, reduced to leave kLeastBlocks blocks if that
/// is possible.
int default_block_examples(const std::vector<Example>& examples,
                           const std::vector<Stacking>& stackings,
                           const std::vector<int>& batch_sizes);

/// Share of an arm's jobs during which `batch_size` jobs are running: the batch is full until no
/// further job of the block is left. 0 without jobs.
double full_share(const std::vector<BlockPlan>& blocks, size_t arm, int batch_size);

}  // namespace pardec
