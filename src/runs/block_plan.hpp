#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/runs/run_spec.hpp"
#include "src/store/rows.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

/// Examples that one arm takes into one job, by index into the selected examples.
struct JobPlan {
  JobKey key;  ///< the same in every process
  std::vector<int> examples;
};

/// A job's name in traces and messages, unlike every other job's: the id of its one example; of
/// several, or where the id begins with '[', all ids as a JSON array.
std::string job_name(const JobKey& key);

/// The seed of a job's random numbers under that of the run.
std::uint64_t job_seed(std::uint64_t seed, const JobKey& key);

/// An ordered list of examples that all arms do, one arm after the other; no job of any arm crosses
/// its border. An arm begins a block with no job in flight and ends it with none.
struct BlockPlan {
  std::vector<int> examples;
  std::vector<std::vector<JobPlan>> jobs;  ///< [arm]
};

/// Forms every arm's jobs, as `stackings` say, independently of the other arms: examples category
/// by category, each in file order, the last job of a category (of all) shorter; a job's examples
/// have one system message. Then cuts the
/// examples into equal blocks of about `block_examples`, none shorter than half of it, where the
/// borders of all arms' jobs meet, if possible between clusters (examples of one text); one block
/// where there are not enough examples for two.
std::vector<BlockPlan> plan_blocks(const std::vector<Example>& examples,
                                   const std::vector<Stacking>& stackings, int block_examples);

/// One block of one dataset.
struct BlockTurn {
  size_t dataset, position;
  size_t number;  ///< of its dataset's blocks of the shard in the order in which they are done
};

/// The order in which a shard's blocks of several datasets, of which `blocks` says how many each
/// has in all, are done: datasets in proportion and positions far apart (bit-reversal), so that
/// whatever is done at a stop is spread over datasets and categories.
std::vector<BlockTurn> block_turns(const std::vector<size_t>& blocks, const Shard& shard);

/// Over fewer different blocks a speedup has no interval.
inline constexpr int kLeastBlocks = 6;

/// So long that each arm's batch is full during three quarters of its jobs, up to four times as
/// long while that leaves twenty blocks, and all examples where they are too few.
int filling_block_examples(int examples, const std::vector<Stacking>& stackings,
                           const std::vector<int>& batch_sizes);

/// Block length by default: filling_block_examples, but no longer than leaves kLeastBlocks blocks,
/// where there can be as many.
int default_block_examples(const std::vector<Example>& examples,
                           const std::vector<Stacking>& stackings,
                           const std::vector<int>& batch_sizes);

/// Share of an arm's jobs during which `batch_size` are in flight: a block's batch is full until so
/// few are left that no further one can be taken in. 0 without jobs.
double full_share(const std::vector<BlockPlan>& blocks, size_t arm, int batch_size);

}  // namespace pardec
