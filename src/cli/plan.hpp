#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/store/rows.hpp"

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
/// its border.
struct BlockPlan {
  std::vector<int> examples;
  std::vector<std::vector<JobPlan>> jobs;  ///< [arm]
};

/// Forms every arm's jobs (stacks[arm] examples of one category in file order, a category's rest
/// shorter), independently of the other arms, and cuts the examples into blocks of about
/// `block_examples` where the borders of all arms' jobs meet.
std::vector<BlockPlan> plan_blocks(const std::vector<Example>& examples,
                                   const std::vector<int>& stacks, int block_examples);

/// Block length by default: enough to fill every arm's batch twice, but at least eight blocks where
/// the examples allow.
int default_block_examples(int examples, const std::vector<int>& stacks,
                           const std::vector<int>& batch_sizes);

}  // namespace pardec
