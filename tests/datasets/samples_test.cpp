// The samples that come with the project: the statements of the README about them, and their
// format.
#include <filesystem>
#include <map>
#include <set>

#include "datasets/dataset.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

struct Counts {
  std::map<std::string, int> categories;
  std::size_t absent = 0, multiple = 0;
};

Counts check_split(const std::string& name, const std::string& split) {
  const auto samples = std::filesystem::path(PARDEC_SOURCE_DIR) / "datasets/samples";
  const Dataset dataset = load_dataset(find_dataset(name), std::nullopt, split, samples);
  Counts counts;
  std::set<std::string> clusters;
  for (const Example& example : dataset.examples) {
    INFO(name << " " << example.id << ": " << example.text);
    ++counts.categories[example.category];
    CHECK(clusters.insert(example.cluster).second);
    CHECK(example.fields.size() >= 8);
    CHECK(example.fields.size() <= 12);
    for (const auto& field : example.fields) {
      counts.absent += field.annotated && field.references.empty();
      counts.multiple += field.references.size() > 1;
      for (const auto& reference : field.references)
        CHECK(example.text.find(reference) != std::string::npos);
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("samples: every value is a piece of its title, and each category has stacks of six",
          "[datasets]") {
  const Counts oa_train = check_split("oa-mine", "train"), oa_test = check_split("oa-mine", "test");
  const Counts ae_train = check_split("ae-110k", "train"), ae_test = check_split("ae-110k", "test");
  for (const auto* counts : {&oa_test, &ae_test}) {
    CHECK(counts->categories.size() == 6);
    for (const auto& [category, count] : counts->categories) CHECK(count >= 6);
  }
  for (const auto* counts : {&oa_train, &ae_train})
    for (const auto& [category, count] : counts->categories) CHECK(count >= 10);
  CHECK(oa_train.categories.size() == oa_test.categories.size());
  CHECK(oa_train.absent + oa_test.absent + oa_train.multiple + oa_test.multiple == 0);
  CHECK(ae_train.absent == 80);
  CHECK(ae_test.absent == 50);
  CHECK(ae_train.multiple == 8);
  CHECK(ae_test.multiple == 6);
}
