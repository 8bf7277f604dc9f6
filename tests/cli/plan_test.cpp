#include "src/cli/plan.hpp"

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

TEST_CASE("stacks hold one category, a category's rest is shorter") {
  const auto blocks =
      plan_blocks(examples({"a", "b", "a", "a", "a", "a", "b", "a", "a"}), {1, 6}, 100);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].examples == std::vector<int>{0, 2, 3, 4, 5, 7, 8, 1, 6});
  REQUIRE(blocks[0].jobs[1].size() == 3);
  CHECK(blocks[0].jobs[1][0].key == JobKey{"e0", "e2", "e3", "e4", "e5", "e7"});
  CHECK(blocks[0].jobs[1][1].examples == std::vector<int>{8});
  CHECK(blocks[0].jobs[1][2].key == JobKey{"e1", "e6"});
  CHECK(blocks[0].jobs[0].size() == 9);
}

TEST_CASE("ids of whatever characters make keys and names of their own") {
  auto all = examples({"x", "x", "x", "x"});
  const auto named = [&](const std::vector<std::string>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) all[i].id = ids[i];
    return plan_blocks(all, {2}, 4)[0].jobs[0];
  };
  const auto left = named({"a+b", "c", "a", "b+c"});
  CHECK(left[0].key == JobKey{"a+b", "c"});
  CHECK(left[1].key == JobKey{"a", "b+c"});
  CHECK(job_name(left[0].key) == R"(["a+b","c"])");
  CHECK(job_name({"test/algebra/1.json"}) == "test/algebra/1.json");
  CHECK(job_name({"a,\n\"b\""}) == "a,\n\"b\"");
  std::set<std::string> names;
  const std::vector<JobKey> keys{{"a"}, {"a+b"}, {"a", "b"}, {"[\"a\",\"b\"]"}, {"a,b"}, {"a\",\"b"}};
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
    std::vector<int> stacks;
    for (std::uint64_t i = 1 + rng.below(3); i > 0; --i)
      stacks.push_back(1 + static_cast<int>(rng.below(6)));
    const auto blocks = plan_blocks(all, stacks, 1 + static_cast<int>(rng.below(20)));
    for (size_t arm = 0; arm < stacks.size(); ++arm) {
      std::multiset<int> seen;
      std::vector<JobKey> keys, alone;
      for (const auto& block : blocks) {
        std::vector<int> in_jobs;
        for (const auto& job : block.jobs[arm]) {
          CHECK(static_cast<int>(job.examples.size()) <= stacks[arm]);
          for (const int i : job.examples) {
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
