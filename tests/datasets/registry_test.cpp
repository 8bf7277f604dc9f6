#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "datasets/dataset.hpp"
#include "datasets/published_counts.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/datasets/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using pardec::test::kSamples;

namespace {

/// Examples of the given categories, in file order: "aab" gives a-0, a-1, b-2.
std::vector<Example> examples(const std::string& categories) {
  std::vector<Example> out;
  for (const char category : categories) {
    Example& example = out.emplace_back();
    example.category = category;
    example.id = str(category, "-", out.size() - 1);
  }
  return out;
}

std::vector<std::string> ids(const std::vector<Example>& chosen) {
  std::vector<std::string> out;
  for (const auto& example : chosen) out.push_back(example.id);
  return out;
}

std::map<std::string, int> per_category(const std::vector<Example>& chosen) {
  std::map<std::string, int> counts;
  for (const auto& example : chosen) ++counts[example.category];
  return counts;
}

const std::vector<Example> kSorted = examples(std::string(40, 'a') + std::string(25, 'b') +
                                              std::string(3, 'c') + std::string(30, 'd'));

}  // namespace

TEST_CASE("an unknown dataset is answered with similar names", "[datasets]") {
  CHECK(find_dataset("oa-mine").name == "oa-mine");
  CHECK(find_dataset("ae-110k").unit == "products");
  CHECK_THROWS_AS(find_dataset("oamine"), ConfigError);
  CHECK_THROWS_WITH(find_dataset("oamine"), "unknown dataset 'oamine'; did you mean 'oa-mine'?");
  CHECK_THROWS_WITH(find_dataset("imagenet"), Catch::Contains("; known: oa-mine, ae-110k"));
}

TEST_CASE("every entry has a prompt file, a sample, metrics, and a unique name", "[datasets]") {
  std::set<std::string_view> names;
  for (const auto& entry : datasets()) {
    INFO(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.folders.empty());
    CHECK_FALSE(entry.metrics.empty());
    CHECK(std::filesystem::exists(kSamples / ".." / "prompts" / str(entry.prompt, ".txt")));
    REQUIRE_FALSE(entry.splits.empty());
    const Dataset sample = load_dataset(entry, std::nullopt, "", kSamples);
    CHECK_FALSE(sample.examples.empty());
    CHECK(sample.name == entry.name);
    CHECK(sample.split == entry.splits.front());
    for (const Example& example : sample.examples) {
      INFO(example.id);
      CHECK_FALSE(example.fields.empty());
      CHECK_FALSE(example.cluster.empty());
      CHECK(example.id.find('+') == std::string::npos);  // ids are joined by it
      std::set<std::string> fields;
      for (const auto& field : example.fields) CHECK(fields.insert(field.name).second);
    }
  }
}

TEST_CASE("without a data root the sample is read, and marked", "[datasets]") {
  const auto& entry = find_dataset("oa-mine");
  const Dataset sample = load_dataset(entry, std::nullopt, "test", kSamples);
  CHECK(sample.sample);
  CHECK(sample.name == "oa-mine");
  const Dataset same = load_dataset(entry, kSamples, "test", "/nowhere");
  CHECK_FALSE(same.sample);
  CHECK(ids(same.examples) == ids(sample.examples));
}

TEST_CASE("a missing folder or split says what was looked for", "[datasets]") {
  const test::TemporaryFolder root;
  const auto& entry = find_dataset("oa-mine");
  CHECK_THROWS_AS(load_dataset(entry, root.path(), "test", kSamples), ConfigError);
  CHECK_THROWS_WITH(load_dataset(entry, root.path(), "test", kSamples),
                    Catch::Contains("no folder " + (root.path() / "oa-mine").string()));
  CHECK_THROWS_WITH(load_dataset(entry, std::nullopt, "test", root.path()),
                    Catch::Contains("no folder"));
  write_file(root.path() / "oa-mine", "a file");
  CHECK_THROWS_WITH(load_dataset(entry, root.path(), "test", kSamples),
                    Catch::Contains("no folder"));
  CHECK_THROWS_AS(load_dataset(entry, std::nullopt, "validation", kSamples), ConfigError);
}

TEST_CASE("a sample is spread evenly over categories and kept in file order", "[datasets]") {
  for (const std::int64_t limit : {1, 3, 4, 7, 12, 40, 97}) {
    INFO("limit " << limit);
    const auto chosen = select(kSorted, limit, 0, 5);
    CHECK(static_cast<std::int64_t>(chosen.size()) == limit);
    CHECK(std::is_sorted(chosen.begin(), chosen.end(), [](const Example& a, const Example& b) {
      return std::stoi(a.id.substr(2)) < std::stoi(b.id.substr(2));
    }));
    const auto chosen_ids = ids(chosen);
    CHECK(std::set<std::string>(chosen_ids.begin(), chosen_ids.end()).size() == chosen.size());
  }
  CHECK(per_category(select(kSorted, 12, 0, 5)) ==
        std::map<std::string, int>{{"a", 3}, {"b", 3}, {"c", 3}, {"d", 3}});
  CHECK(per_category(select(kSorted, 18, 0, 5)) ==
        std::map<std::string, int>{{"a", 5}, {"b", 5}, {"c", 3}, {"d", 5}});
  CHECK(per_category(select(kSorted, 4, 4, 5)) ==
        std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}});
}

TEST_CASE("a sample for stacks has complete stacks of a category", "[datasets]") {
  CHECK(per_category(select(kSorted, 21, 0, 5, 6)) ==
        std::map<std::string, int>{{"a", 6}, {"b", 6}, {"c", 3}, {"d", 6}});
  CHECK(ids(select(kSorted, 12, 0, 5, 1)) == ids(select(kSorted, 12, 0, 5)));
  const auto first = ids(select(kSorted, 10, 0, 9, 4)), more = ids(select(kSorted, 30, 0, 9, 4));
  for (const auto& id : first) CHECK(std::find(more.begin(), more.end(), id) != more.end());
  CHECK(ids(select(kSorted, 0, 0, 5, 6)) == ids(kSorted));
}

TEST_CASE("a larger sample contains the smaller one, and offsets continue where it ended",
          "[datasets]") {
  const auto first = ids(select(kSorted, 10, 0, 9)), more = ids(select(kSorted, 30, 0, 9));
  for (const auto& id : first) CHECK(std::find(more.begin(), more.end(), id) != more.end());
  std::vector<std::string> all;
  for (std::int64_t offset = 0; offset < 98; offset += 7)
    for (const auto& id : ids(select(kSorted, 7, offset, 9))) all.push_back(id);
  std::sort(all.begin(), all.end());
  auto expected = ids(kSorted);
  std::sort(expected.begin(), expected.end());
  CHECK(all == expected);
}

TEST_CASE("limit 0 is all, and too large a limit is what exists", "[datasets]") {
  CHECK(ids(select(kSorted, 0, 0, 1)) == ids(kSorted));
  CHECK(ids(select(kSorted, 1000, 0, 1)) == ids(kSorted));
  CHECK(select(kSorted, 0, 90, 1).size() == 8);
  CHECK(select(kSorted, 5, 1000, 1).empty());
  CHECK(select(kSorted, INT64_MAX, INT64_MAX, 1).empty());
  CHECK(select({}, 5, 0, 1).empty());
  CHECK_THROWS_AS(select(kSorted, -1, 0, 1), ConfigError);
  CHECK_THROWS_AS(select(kSorted, 1, -1, 1), ConfigError);
}

TEST_CASE("a sample depends on the seed, and on nothing else", "[datasets]") {
  CHECK(ids(select(kSorted, 8, 0, 3)) == ids(select(kSorted, 8, 0, 3)));
  CHECK(ids(select(kSorted, 8, 0, 3)) != ids(select(kSorted, 8, 0, 4)));
  std::set<std::string>
      first_categories;  // a small sample does not always take the same categories
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    first_categories.insert(select(kSorted, 1, 0, seed)[0].category);
  CHECK(first_categories.size() == 4);
  CHECK(ids(select(examples("abcabcabc"), 4, 0, 1)) ==
        std::vector<std::string>{"b-1", "c-2", "a-3", "c-8"});  // the same on every machine
}

TEST_CASE("every example of a category is equally likely", "[datasets]") {
  std::map<std::string, int> taken;
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    ++taken[select(examples("aaaaab"), 2, 0, seed)[0].id];
  for (int i = 0; i < 5; ++i)
    CHECK(std::abs(taken[str("a-", i)] - 400) < 90);  // 5 standard deviations
}

TEST_CASE("files with fewer records than the publisher's are reported") {
  Dataset race;
  race.name = "race";
  race.split = "test";
  race.examples = examples("aab");
  for (Example& example : race.examples) example.fields.resize(2);
  CHECK(fewer_than_published(race) == "6 questions of the 4934 that the publisher's files hold");
  race.examples.front().fields.resize(4930);
  CHECK(fewer_than_published(race).empty());  // one by one: 4930 + 2 + 2
  race.examples.front().fields.clear();
  race.standin = true;
  CHECK(fewer_than_published(race).empty());
  race.standin = false;
  race.split = "unknown";
  CHECK(fewer_than_published(race).empty());

  Dataset squad = race;
  squad.name = "squad";
  squad.split = "dev";
  squad.files = {"/data/squad/dev-v1.1.json"};
  CHECK(fewer_than_published(squad).starts_with("4 questions of the 10570 "));
  squad.files = {"/data/squad/dev-v2.0.json"};
  CHECK(fewer_than_published(squad).starts_with("4 questions of the 11873 "));
}

TEST_CASE("every published count belongs to a dataset and split that is read") {
  for (const DatasetEntry& entry : datasets())
    for (const std::string_view split : entry.splits) {
      CAPTURE(entry.name, split);
      Dataset none;
      none.name = entry.name;
      none.split = split;
      none.files = {"a-v2.0.json"};
      const bool open = entry.name == "agieval" || entry.name == "amazon-reviews" ||
                        entry.name == "cip" || entry.name == "jsonl" ||
                        entry.name == "longhealth" || entry.name == "sharegpt";
      if (!open) CHECK(!fewer_than_published(none).empty());
    }
}
