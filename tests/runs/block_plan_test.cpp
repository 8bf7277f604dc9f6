#include "src/runs/block_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

std::vector<Example> examples(const std::vector<std::string>& categories) {
  std::vector<Example> out;
  for (size_t i = 0; i < categories.size(); ++i) {
    Example example;
    example.id = "e" + std::to_string(i);
    example.category = categories[i];
    out.push_back(example);
  }
  return out;
}

}  // namespace

TEST_CASE("stacks contain one category; the rest of a category is shorter") {
  const auto blocks =
      plan_blocks(examples({"a", "b", "a", "a", "a", "a", "b", "a", "a"}), {{1}, {6}}, 100);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].examples == std::vector<int>{0, 2, 3, 4, 5, 7, 8, 1, 6});
  REQUIRE(blocks[0].jobs[1].size() == 3);
  CHECK(blocks[0].jobs[1][0].key == JobKey{"e0", "e2", "e3", "e4", "e5", "e7"});
  CHECK(blocks[0].jobs[1][1].examples == std::vector<int>{8});
  CHECK(blocks[0].jobs[1][2].key == JobKey{"e1", "e6"});
  CHECK(blocks[0].jobs[0].size() == 9);
}

TEST_CASE("a job of examples that need no common category is full whatever their categories") {
  std::vector<std::string> categories;
  for (int i = 0; i < 26; ++i) categories.push_back(std::string(1, static_cast<char>('a' + i)));
  const auto all = examples(categories);
  const auto sizes = [&](const Stacking& stacking) {
    std::vector<size_t> out;
    for (const auto& block : plan_blocks(all, {{1}, stacking}, 13))
      for (const auto& job : block.jobs[1]) out.push_back(job.examples.size());
    return out;
  };
  CHECK(sizes({6, true}) == std::vector<size_t>{6, 6, 6, 6, 2});
  CHECK(sizes({6, false}) == std::vector<size_t>(26, 1));
}

TEST_CASE("ids of any characters make unique keys and names") {
  auto all = examples({"x", "x", "x", "x"});
  const auto named = [&](const std::vector<std::string>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) all[i].id = ids[i];
    return plan_blocks(all, {{2}}, 4)[0].jobs[0];
  };
  const auto left = named({"a+b", "c", "a", "b+c"});
  CHECK(left[0].key == JobKey{"a+b", "c"});
  CHECK(left[1].key == JobKey{"a", "b+c"});
  CHECK(job_name(left[0].key) == R"(["a+b","c"])");
  CHECK(job_name({"test/algebra/1.json"}) == "test/algebra/1.json");
  CHECK(job_name({"a,\n\"b\""}) == "a,\n\"b\"");
  std::set<std::string> names;
  const std::vector<JobKey> keys{{"a"},   {"a+b"},    {"a", "b"}, {"[\"a\",\"b\"]"},
                                 {"a,b"}, {"a\",\"b"}};
  for (const JobKey& key : keys) names.insert(job_name(key));
  CHECK(names.size() == keys.size());
}

TEST_CASE("sampled jobs keep their seeds") {
  CHECK(job_seed(7, {"a"}) == derive_seed(7, "a"));
  CHECK(job_seed(7, {"a", "b"}) == derive_seed(7, "a+b"));
}

TEST_CASE(
    "blocks split no job and lose no example, and an arm's jobs do not depend on the other arms") {
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> categories;
    for (std::uint64_t i = 1 + rng.below(60); i > 0; --i)
      categories.push_back(std::string(1, static_cast<char>('a' + rng.below(4))));
    const auto all = examples(categories);
    std::vector<Stacking> stacks;
    for (std::uint64_t i = 1 + rng.below(3); i > 0; --i)
      stacks.push_back({1 + static_cast<int>(rng.below(6)), rng.below(2) == 0});
    const auto blocks = plan_blocks(all, stacks, 1 + static_cast<int>(rng.below(20)));
    for (size_t arm = 0; arm < stacks.size(); ++arm) {
      std::multiset<int> seen;
      std::vector<JobKey> keys, alone;
      for (const auto& block : blocks) {
        std::vector<int> in_jobs;
        for (const auto& job : block.jobs[arm]) {
          CHECK(static_cast<int>(job.examples.size()) <= stacks[arm].examples);
          for (const int i : job.examples) {
            if (!stacks[arm].across_categories)
              CHECK(all[static_cast<size_t>(i)].category ==
                    all[static_cast<size_t>(job.examples.front())].category);
            in_jobs.push_back(i);
          }
          keys.push_back(job.key);
        }
        CHECK(in_jobs == block.examples);  // the same examples in the same order for every arm
        seen.insert(in_jobs.begin(), in_jobs.end());
      }
      CHECK(seen.size() == all.size());
      CHECK(std::set<int>(seen.begin(), seen.end()).size() == all.size());
      for (const auto& block : plan_blocks(all, {stacks[arm]}, 1000))
        for (const auto& job : block.jobs[0]) alone.push_back(job.key);
      CHECK(keys == alone);
    }
  }
}

TEST_CASE("blocks are equal, about as long as asked, and never shorter than half of that") {
  const auto lengths = [](int count, int block, const std::vector<Stacking>& stackings = {{1}}) {
    std::vector<size_t> out;
    for (const auto& plan : plan_blocks(
             examples(std::vector<std::string>(static_cast<size_t>(count), "a")), stackings, block))
      out.push_back(plan.examples.size());
    return out;
  };
  CHECK(lengths(38, 16) == std::vector<size_t>{19, 19});
  CHECK(lengths(38, 64) == std::vector<size_t>{38});
  CHECK(lengths(7, 3) == std::vector<size_t>{3, 4});
  CHECK(lengths(5, 1) == std::vector<size_t>{1, 1, 1, 1, 1});
  CHECK(lengths(38, 16, {{1}, {6}}) == std::vector<size_t>{18, 20});
  CHECK(lengths(38, 4, {{1}, {6}}) == std::vector<size_t>{6, 6, 6, 6, 6, 6, 2});
  CHECK(lengths(15, 4, {{2}, {5}}) == std::vector<size_t>{10, 5});
  CHECK(plan_blocks({}, {{1}}, 8).empty());
}

TEST_CASE(
    "every arm's batch is full for most of a block that fills it, if there are enough examples") {
  const auto plan = [](int count, const std::vector<Stacking>& stackings,
                       const std::vector<int>& batches) {
    std::vector<std::string> categories;
    for (int i = 0; i < count; ++i)
      categories.push_back(std::string(1, static_cast<char>('a' + i % 5)));
    return plan_blocks(examples(categories), stackings,
                       filling_block_examples(count, stackings, batches));
  };
  // 15 prompts, 8 at a time: in blocks of one they would be decoded one by one.
  CHECK(plan(15, {{1}, {1}}, {1, 8}).size() == 1);
  CHECK(filling_block_examples(15, {{1}, {1}}, {1, 8}) == 15);
  CHECK(filling_block_examples(100, {{1}, {1}}, {32, 1}) == 100);
  CHECK(filling_block_examples(600, {{1}, {6, true}}, {32, 4}) == 124);
  CHECK(filling_block_examples(100'000, {{1}}, {8}) == 112);
  CHECK(filling_block_examples(96, {{1}, {6, true}}, {4, 1}) == 12);
  CHECK(filling_block_examples(60, {{1}, {6}}, {1, 1}) == 6);  // batches of one are always full
  CHECK(filling_block_examples(0, {{1}}, {8}) == 1);
  CHECK(filling_block_examples(2'000'000'000, {{1}}, {2'000'000'000}) == 2'000'000'000);

  Rng rng(9);
  for (int round = 0; round < 200; ++round) {
    std::vector<Stacking> stackings;
    std::vector<int> batches;
    int widest = 1;  // examples that run at the same time
    for (std::uint64_t i = 1 + rng.below(3); i > 0; --i) {
      stackings.push_back({1 + static_cast<int>(rng.below(6)), rng.below(2) == 0});
      batches.push_back(1 + static_cast<int>(rng.below(16)));
      widest = std::max(widest, stackings.back().examples * batches.back());
    }
    const int count = 1 + static_cast<int>(rng.below(3000));
    const auto blocks = plan(count, stackings, batches);
    INFO(count << " examples, widest batch of " << widest);
    for (size_t arm = 0; arm < stackings.size(); ++arm) {
      for (const auto& block : blocks)
        CHECK((blocks.size() == 1 || std::ssize(block.jobs[arm]) >= batches[arm]));
      CHECK((count < 4 * widest || full_share(blocks, arm, batches[arm]) > 0.6));
    }
    // If borders may be anywhere, there are as many blocks as the examples allow.
    const auto alone = plan(count, {{1}}, {batches[0]});
    CHECK((count < 32 * batches[0] || alone.size() >= 8));
    CHECK((count < 4 * batches[0] || full_share(alone, 0, batches[0]) > 0.7));
    CHECK(full_share(alone, 0, 1) == 1.0);
  }
}

TEST_CASE("by default there are the six blocks that an interval needs, if possible") {
  const auto plan = [](const std::vector<Example>& all, const std::vector<Stacking>& stackings,
                       const std::vector<int>& batches) {
    std::vector<size_t> lengths;
    for (const auto& block :
         plan_blocks(all, stackings, default_block_examples(all, stackings, batches)))
      lengths.push_back(block.examples.size());
    return lengths;
  };
  const auto alike = [](size_t count) { return examples(std::vector<std::string>(count, "a")); };
  CHECK(plan(alike(12), {{1}, {2}}, {8, 8}) == std::vector<size_t>(6, 2));
  CHECK(plan(alike(15), {{1}}, {8}) == std::vector<size_t>{2, 2, 2, 2, 2, 2, 3});
  CHECK(plan(alike(6), {{1}}, {8}) == std::vector<size_t>(6, 1));
  CHECK(plan(alike(36), {{1}, {6}}, {8, 8}) == std::vector<size_t>(6, 6));
  // Six blocks are impossible, so whole batches are preferred.
  CHECK(plan(alike(12), {{1}, {6}}, {8, 8}) == std::vector<size_t>{12});
  CHECK(plan(alike(5), {{1}}, {8}) == std::vector<size_t>{5});
  CHECK(default_block_examples({}, {{1}}, {8}) == 1);
  // With enough of them, batches are full, too.
  CHECK(default_block_examples(alike(100'000), {{1}}, {8}) == 112);
  CHECK(plan(alike(300), {{1}}, {8}).size() == 10);

  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> categories;
    for (std::uint64_t i = 1 + rng.below(120); i > 0; --i)
      categories.push_back(std::string(1, static_cast<char>('a' + rng.below(4))));
    const auto all = examples(categories);
    std::vector<Stacking> stackings;
    std::vector<int> batches;
    for (std::uint64_t i = 1 + rng.below(3); i > 0; --i) {
      stackings.push_back({1 + static_cast<int>(rng.below(3)), rng.below(2) == 0});
      batches.push_back(1 + static_cast<int>(rng.below(16)));
    }
    size_t most = 0;
    for (int length = 1; length <= std::ssize(all); ++length)
      most = std::max(most, plan_blocks(all, stackings, length).size());
    INFO(all.size() << " examples, at most " << most << " blocks");
    CHECK((plan(all, stackings, batches).size() >= 6) == (most >= 6));
  }
}

TEST_CASE("a block ends between texts if there is such a border near by") {
  auto all = examples(std::vector<std::string>(20, "a"));
  const auto lengths = [&](int block) {
    std::vector<size_t> out;
    for (const auto& plan : plan_blocks(all, {{1}}, block)) out.push_back(plan.examples.size());
    return out;
  };
  for (size_t i = 0; i < all.size(); ++i) all[i].cluster = std::string(1, "pqrs"[i / 6]);
  CHECK(lengths(6) == std::vector<size_t>{6, 6, 8});  // 13 would be half of what is left
  CHECK(lengths(2) == std::vector<size_t>(10, 2));    // texts are longer than blocks
}

TEST_CASE("a batch is full until too few jobs are left") {
  const auto of = [](std::vector<int> jobs, int batch_size) {
    std::vector<BlockPlan> blocks;
    for (const int count : jobs)
      blocks.push_back({{}, {std::vector<JobPlan>(static_cast<size_t>(count))}});
    return full_share(blocks, 0, batch_size);
  };
  CHECK(of({8}, 1) == 1.0);
  CHECK(of({8}, 8) == Approx(1 / 8.));
  CHECK(of({8, 4}, 5) == Approx(4 / 12.));
  CHECK(of({3}, 8) == 0);
  CHECK(of({}, 8) == 0);
}

TEST_CASE("the shards' turns are all turns, each numbered from 0") {
  const std::vector<size_t> blocks{12, 5};
  std::set<std::pair<size_t, size_t>> done;
  for (int index = 0; index < 3; ++index) {
    std::vector<size_t> numbers(blocks.size());
    for (const BlockTurn& turn : block_turns(blocks, {index, 3, ""})) {
      CHECK(turn.position % 3 == static_cast<size_t>(index));
      CHECK(turn.number == numbers[turn.dataset]++);
      CHECK(done.emplace(turn.dataset, turn.position).second);
    }
  }
  CHECK(done.size() == 17);
}

TEST_CASE("at any stop, the finished part is spread over datasets and categories") {
  CHECK(block_turns({}, {}).empty());
  CHECK(block_turns({0, 0}, {}).empty());
  for (const std::vector<size_t>& blocks :
       {std::vector<size_t>{1}, {7}, {8, 3}, {40, 40}, {100, 1, 13}}) {
    std::vector<std::set<size_t>> done(blocks.size());
    size_t all = 0;
    for (const size_t count : blocks) all += count;
    const auto turns = block_turns(blocks, {});
    REQUIRE(turns.size() == all);  // and below: each once
    for (size_t turn = 0; turn < turns.size(); ++turn) {
      CHECK(turns[turn].number == done.at(turns[turn].dataset).size());
      CHECK(done.at(turns[turn].dataset).insert(turns[turn].position).second);
      for (size_t d = 0; d < blocks.size(); ++d) {
        INFO("turn " << turn << ", dataset " << d << " of " << blocks[d]);
        const double share = static_cast<double>(turn + 1) / static_cast<double>(all);
        CHECK(std::abs(static_cast<double>(done[d].size()) -
                       share * static_cast<double>(blocks[d])) <=
              static_cast<double>(blocks.size()));
        // No stretch of the dataset is left out, not even one of two and a half times the mean gap.
        size_t gap = 0, last = 0;
        for (const size_t position : done[d]) {
          CHECK(position < blocks[d]);
          gap = std::max(gap, position - last);
          last = position;
        }
        if (done[d].size() > 1)
          CHECK(static_cast<double>(std::max(gap, blocks[d] - last)) <=
                2.5 * static_cast<double>(blocks[d]) / static_cast<double>(done[d].size()) + 1);
      }
    }
  }
}
