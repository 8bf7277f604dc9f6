#include "src/cli/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string job_name(const JobKey& key) {
  return key.size() == 1 && !key[0].starts_with('[') ? key[0] : dump(Json(key));
}

std::uint64_t job_seed(std::uint64_t seed, const JobKey& key) {
  return derive_seed(seed, join(key, "+"));
}

std::vector<BlockPlan> plan_blocks(const std::vector<Example>& examples,
                                   const std::vector<int>& stacks, int block_examples) {
  std::vector<std::string> categories;  // in order of first appearance
  std::map<std::string, std::vector<int>> of_category;
  for (size_t i = 0; i < examples.size(); ++i) {
    auto& members = of_category[examples[i].category];
    if (members.empty()) categories.push_back(examples[i].category);
    members.push_back(static_cast<int>(i));
  }
  size_t common = 1;  // where borders of all arms' jobs meet inside a category
  for (const int stack : stacks)
    if (common < examples.size()) common = std::lcm(common, static_cast<size_t>(stack));

  std::vector<BlockPlan> blocks;
  const auto full = [&] {
    return blocks.empty() || static_cast<int>(blocks.back().examples.size()) >= block_examples;
  };
  for (const auto& category : categories) {
    const auto& members = of_category[category];
    for (size_t begin = 0; begin < members.size(); begin += common) {
      const size_t end = std::min(begin + common, members.size());
      if (full()) blocks.push_back({{}, std::vector<std::vector<JobPlan>>(stacks.size())});
      BlockPlan& block = blocks.back();
      block.examples.insert(block.examples.end(), members.begin() + static_cast<long>(begin),
                            members.begin() + static_cast<long>(end));
      for (size_t arm = 0; arm < stacks.size(); ++arm) {
        const auto stack = static_cast<size_t>(stacks[arm]);
        for (size_t first = begin; first < end; first += stack) {
          JobPlan job;
          for (size_t i = first; i < std::min(first + stack, end); ++i) {
            job.key.push_back(examples[static_cast<size_t>(members[i])].id);
            job.examples.push_back(members[i]);
          }
          block.jobs[arm].push_back(std::move(job));
        }
      }
    }
  }
  return blocks;
}

int default_block_examples(int examples, const std::vector<int>& stacks,
                           const std::vector<int>& batch_sizes) {
  std::int64_t in_flight = 1;
  for (size_t i = 0; i < stacks.size(); ++i)
    in_flight = std::max(in_flight, std::int64_t{stacks[i]} * batch_sizes[i]);
  return static_cast<int>(
      std::max<std::int64_t>(1, std::min<std::int64_t>(2 * in_flight, examples / 8)));
}

}  // namespace pardec
