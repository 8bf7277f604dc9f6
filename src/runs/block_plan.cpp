#include "src/runs/block_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string job_name(const JobKey& key) {
  return key.size() == 1 && !key[0].starts_with('[') ? key[0] : dump(Json(key));
}

std::uint64_t job_seed(std::uint64_t seed, const JobKey& key) {
  return derive_seed(seed, join(key, "+"));
}

namespace {

/// What the examples of one job have in common: category and system message.
using CategoryKey = std::pair<std::string, std::optional<std::string>>;

CategoryKey group_of(const Example& example) { return {example.category, example.system}; }

/// Indices of the examples by category (and system message), in the order of first appearance.
std::vector<int> by_category(const std::vector<Example>& examples) {
  std::vector<CategoryKey> categories;
  std::map<CategoryKey, std::vector<int>> of_category;
  for (size_t i = 0; i < examples.size(); ++i) {
    auto& members = of_category[group_of(examples[i])];
    if (members.empty()) categories.push_back(group_of(examples[i]));
    members.push_back(static_cast<int>(i));
  }
  std::vector<int> order;
  for (const auto& category : categories)
    order.insert(order.end(), of_category[category].begin(), of_category[category].end());
  return order;
}

/// Where an arm's jobs end: the indices in `order` after their last examples.
std::vector<size_t> job_ends(const std::vector<Example>& examples, const std::vector<int>& order,
                             const Stacking& stacking) {
  const auto example = [&](size_t place) -> const Example& {
    return examples[static_cast<size_t>(order[place])];
  };
  const auto apart = [&](const Example& one, const Example& other) {
    return one.system != other.system ||
           (!stacking.across_categories && one.category != other.category);
  };
  std::vector<size_t> ends;
  size_t begin = 0;
  for (size_t end = 1; end <= order.size(); ++end) {
    const bool full = end - begin == static_cast<size_t>(stacking.examples);
    const bool over = end == order.size() || apart(example(end), example(end - 1));
    if (!full && !over) continue;
    ends.push_back(end);
    begin = end;
  }
  return ends;
}

/// Places where a block may end.
struct Borders {
  std::vector<std::vector<size_t>> jobs;  ///< [arm]: where its jobs end
  std::vector<size_t> all;                ///< where a job of every arm ends
  std::vector<size_t> whole;              ///< elements of `all` that are not within a cluster
};

Borders borders_of(const std::vector<Example>& examples, const std::vector<int>& order,
                   const std::vector<Stacking>& stackings) {
  Borders borders;
  for (size_t place = 1; place <= order.size(); ++place) borders.all.push_back(place);
  for (const Stacking& stacking : stackings) {
    const auto& ends = borders.jobs.emplace_back(job_ends(examples, order, stacking));
    std::vector<size_t> both;
    std::set_intersection(borders.all.begin(), borders.all.end(), ends.begin(), ends.end(),
                          std::back_inserter(both));
    borders.all = std::move(both);
  }
  const auto cluster = [&](size_t place) -> const std::string& {
    return examples[static_cast<size_t>(order[place])].cluster;
  };
  for (const size_t place : borders.all)
    if (place == order.size() || cluster(place) != cluster(place - 1))
      borders.whole.push_back(place);
  return borders;
}

/// The place nearest to `target`, which must not exceed the last place.
size_t nearest(const std::vector<size_t>& places, size_t target) {
  const auto after = std::lower_bound(places.begin(), places.end(), target);
  if (after != places.begin() && target - *std::prev(after) < *after - target)
    return *std::prev(after);
  return *after;
}

/// The borders at which blocks of about `length` examples end. The last border is the end of the
/// examples.
std::vector<size_t> block_ends(const Borders& borders, int length) {
  if (borders.all.empty()) return {};
  const size_t all = borders.all.back(), wanted = static_cast<size_t>(std::max(length, 1)),
               count = std::max<size_t>(1, all / wanted), half = (wanted + 1) / 2;
  std::vector<size_t> ends;
  for (size_t i = 1; i < count; ++i) {
    const size_t target = i * all / count, begin = ends.empty() ? 0 : ends.back();
    size_t end = nearest(borders.whole, target);
    if (end > target + wanted / 2 || end + wanted / 2 < target) end = nearest(borders.all, target);
    if (end >= begin + half && end + half <= all) ends.push_back(end);
  }
  ends.push_back(all);
  return ends;
}

}  // namespace

std::vector<BlockPlan> plan_blocks(const std::vector<Example>& examples,
                                   const std::vector<Stacking>& stackings, int block_examples) {
  const std::vector<int> order = by_category(examples);
  const Borders borders = borders_of(examples, order, stackings);
  const auto& ends = borders.jobs;
  std::vector<BlockPlan> blocks;
  std::vector<size_t> next(stackings.size(), 0);  // [arm]: index of the next job
  size_t begin = 0;
  for (const size_t end : block_ends(borders, block_examples)) {
    BlockPlan& block = blocks.emplace_back();
    block.examples.assign(order.begin() + static_cast<long>(begin),
                          order.begin() + static_cast<long>(end));
    block.jobs.resize(stackings.size());
    for (size_t arm = 0; arm < stackings.size(); ++arm)
      for (size_t first = begin; first < end; first = ends[arm][next[arm]++]) {
        JobPlan& job = block.jobs[arm].emplace_back();
        for (size_t place = first; place < ends[arm][next[arm]]; ++place) {
          const int example = order[place];
          job.key.push_back(examples[static_cast<size_t>(example)].id);
          job.examples.push_back(example);
        }
      }
    begin = end;
  }
  return blocks;
}

std::vector<BlockTurn> block_turns(const std::vector<size_t>& blocks, const Shard& shard) {
  std::vector<std::pair<double, BlockTurn>> turns;  // by the completed share of the dataset
  for (size_t dataset = 0; dataset < blocks.size(); ++dataset) {
    const size_t count = blocks[dataset], slots = std::bit_ceil(count);
    for (size_t i = 0, done = 0; i < slots; ++i) {
      size_t position = 0;
      for (size_t bit = 1; bit < slots; bit *= 2) position = 2 * position + ((i & bit) != 0);
      if (position >= count || !shard.has(position)) continue;
      const BlockTurn turn{dataset, position, done++};
      turns.emplace_back(static_cast<double>(done) / static_cast<double>(count), turn);
    }
  }
  std::stable_sort(turns.begin(), turns.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<BlockTurn> order;
  for (const auto& [share, turn] : turns) order.push_back(turn);
  return order;
}

int filling_block_examples(int examples, const std::vector<Stacking>& stackings,
                           const std::vector<int>& batch_sizes) {
  // A batch of b is full for three quarters of its jobs if there are at least 4 (b - 1).
  std::int64_t least = 1;
  for (size_t arm = 0; arm < stackings.size(); ++arm)
    least =
        std::max(least, stackings[arm].examples *
                            std::max<std::int64_t>(1, 4 * (std::int64_t{batch_sizes[arm]} - 1)));
  constexpr int kLonger = 4, kBlocks = 20;
  const std::int64_t length = std::clamp<std::int64_t>(examples / kBlocks, least, kLonger * least);
  return static_cast<int>(std::min<std::int64_t>(length, std::max(examples, 1)));
}

int default_block_examples(const std::vector<Example>& examples,
                           const std::vector<Stacking>& stackings,
                           const std::vector<int>& batch_sizes) {
  const auto all = static_cast<int>(examples.size());
  const int filling = filling_block_examples(all, stackings, batch_sizes);
  const Borders borders = borders_of(examples, by_category(examples), stackings);
  for (int length = filling; length >= 1; length = std::min(length - 1, all / kLeastBlocks))
    if (std::ssize(block_ends(borders, length)) >= kLeastBlocks) return length;
  return filling;
}

double full_share(const std::vector<BlockPlan>& blocks, size_t arm, int batch_size) {
  std::int64_t full = 0, all = 0;
  for (const BlockPlan& block : blocks) {
    const auto jobs = std::ssize(block.jobs[arm]);
    full += std::max<std::int64_t>(0, jobs - batch_size + 1);
    all += jobs;
  }
  return all ? static_cast<double>(full) / static_cast<double>(all) : 0;
}

}  // namespace pardec
