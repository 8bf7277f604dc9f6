#pragma once
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace pardec {

/// Examples that one arm takes into one job, by index into the selected examples.
struct JobPlan {
  std::string key;  ///< keys of its examples, joined: the same in every process
  std::vector<int> examples;
};

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
