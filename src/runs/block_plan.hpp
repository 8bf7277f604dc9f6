#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/runs/run_spec.hpp"
#include "src/store/rows.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

/// The examples of one job of an arm.
struct JobPlan {
  JobKey key;                 ///< ids of the examples, in order; the same in every process
  std::vector<int> examples;  ///< indices in Workload::examples
};

/// The unique name of a job in traces and messages. For a job with one example, it is the example's
/// id. For several examples, or if the id begins with '[', it is a JSON array of all ids.
std::string job_name(const JobKey& key);

/// The seed of a job's random numbers, derived from the job's key and from `seed`, the seed of the
/// arm or of the run.
std::uint64_t job_seed(std::uint64_t seed, const JobKey& key);

/// A block: an ordered list of examples that all arms answer, one arm after another. All examples
/// of a job are in the same block. No job is running when an arm begins or ends a block.
struct BlockPlan {
  std::vector<int> examples;               ///< indices in Workload::examples
  std::vector<std::vector<JobPlan>> jobs;  ///< [arm]: the arm's jobs, in order
};

/// Divides the examples into jobs and blocks. First, the jobs of each arm are formed, according to
/// `stackings` (one per arm). Examples are taken category by category, in file order within a
/// category. All examples of a job have the same system message and, unless
/// Stacking::across_categories is set, the same category. A job has fewer than Stacking::examples
/// examples if the next example may not join it, or if no example is left. Then the examples are
/// divided into blocks of about `block_examples` examples. No block is shorter than half of
/// `block_examples`, unless it is the only one. At the end of a block, a job of every arm ends, and
/// if possible also a cluster (examples of one text). If there are not enough examples for two
/// blocks, there is one block. If there are no examples, there is no block.
std::vector<BlockPlan> plan_blocks(const std::vector<Example>& examples,
                                   const std::vector<Stacking>& stackings, int block_examples);

/// One block of one dataset.
struct BlockTurn {
  size_t dataset;   ///< index of the dataset (Workload) in the run
  size_t position;  ///< index in Workload::blocks
  size_t number;    ///< number of blocks of the dataset that the shard runs before this block
};

/// The order in which a shard runs the blocks of several datasets. `blocks`: the number of blocks
/// of each dataset. The datasets advance in proportion to these numbers. Positions within a dataset
/// follow a bit-reversed order, in which successive positions are far apart. Thus even a partial
/// run covers all datasets and categories.
std::vector<BlockTurn> block_turns(const std::vector<size_t>& blocks, const Shard& shard);

/// The minimum number of distinct blocks for an interval of a speedup.
inline constexpr int kLeastBlocks = 6;

/// The smallest block length, in examples, at which each arm's batch is full for at least three
/// quarters of the arm's jobs (full_share). If this length would give more than twenty blocks, it
/// is increased up to fourfold, so that at least twenty blocks remain. `examples`: the number of
/// all examples. The length is at most this number, and at least 1. `stackings`, `batch_sizes`: one
/// entry per arm.
int filling_block_examples(int examples, const std::vector<Stacking>& stackings,
                           const std::vector<int>& batch_sizes);

/// The default block length, in examples. This is filling_block_examples if that length gives at
/// least kLeastBlocks blocks. Otherwise, the default is the largest smaller length that gives that
/// many blocks, or filling_block_examples if there is no such length. `stackings`, `batch_sizes`:
/// one entry per arm.
int default_block_examples(const std::vector<Example>& examples,
                           const std::vector<Stacking>& stackings,
                           const std::vector<int>& batch_sizes);

/// The share of an arm's jobs, from 0 to 1, that end while `batch_size` jobs are running. Near the
/// end of a block, fewer jobs are running, because no job is left to refill the batch. 0 if there
/// are no jobs.
double full_share(const std::vector<BlockPlan>& blocks, size_t arm, int batch_size);

}  // namespace pardec
