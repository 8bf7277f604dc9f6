#include "datasets/recombine.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

std::vector<Example> own_titles() {
  const auto samples = std::filesystem::path(PARDEC_SOURCE_DIR) / "datasets/samples";
  std::vector<Example> titles;
  for (const char* name : {"oa-mine", "ae-110k"})
    for (Example& example :
         load_dataset(find_dataset(name), std::nullopt, "train", samples).examples)
      titles.push_back(std::move(example));
  return titles;
}

}  // namespace

TEST_CASE("recombine: values occur in the new title, and most titles are new") {
  const std::vector<Example> titles = own_titles();
  const Recombiner recombiner(titles);
  Rng rng(7);
  int made = 0, changed = 0, taken_out = 0, replaced = 0;
  for (int round = 0; round < 20; ++round)
    for (const Example& title : titles) {
      const Example other = recombiner.recombine(title, rng);
      INFO(title.text << "\n" << other.text);
      ++made;
      changed += other.text != title.text;
      REQUIRE(other.fields.size() == title.fields.size());
      CHECK(other.category == title.category);
      CHECK(other.cluster == title.cluster);
      for (size_t f = 0; f < title.fields.size(); ++f) {
        const auto& before = title.fields[f].references;
        const auto& after = other.fields[f].references;
        if (before.empty()) CHECK(after.empty());
        taken_out += !before.empty() && after.empty();
        if (after.empty() || after == before) continue;
        ++replaced;
        CHECK(after.size() == 1);
        CHECK(other.text.find(after.front()) != std::string::npos);
      }
    }
  CHECK(changed > made * 8 / 10);
  CHECK(replaced > made);
  CHECK(taken_out > made / 10);
}

TEST_CASE("recombine: equal seeds give equal titles") {
  const std::vector<Example> titles = own_titles();
  const Recombiner recombiner(titles);
  Rng one(3), two(3);
  for (const Example& title : titles)
    CHECK(recombiner.recombine(title, one).text == recombiner.recombine(title, two).text);
}

TEST_CASE("recombine: overlapping values, and values that are not whole words, are not changed") {
  Example title;
  title.category = "Cap";
  title.text = "Red Reddish Cap";
  title.fields = {{.name = "Color", .references = {"Reddish"}},
                  {.name = "Kind", .references = {"Reddish Cap"}},
                  {.name = "Part", .references = {"Ca"}}};
  const Recombiner recombiner({title});
  Rng rng(1);
  for (int i = 0; i < 50; ++i) CHECK(recombiner.recombine(title, rng).text == title.text);
}

TEST_CASE("recombine: an invented value keeps its shape") {
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    const std::string made = invent("Holy-LAND XB-20's of 5", rng);
    INFO(made);
    const size_t dash = made.find('-'), space = made.find(' ');
    REQUIRE(dash != std::string::npos);
    CHECK(std::isupper(made[0]));
    CHECK(std::all_of(made.begin() + 1, made.begin() + static_cast<std::ptrdiff_t>(dash),
                      [](char c) { return std::islower(c); }));
    CHECK(std::all_of(made.begin() + static_cast<std::ptrdiff_t>(dash) + 1,
                      made.begin() + static_cast<std::ptrdiff_t>(space),
                      [](char c) { return std::isupper(c); }));
    CHECK(made.substr(space, 4) == " XB-");
    CHECK(made.substr(space + 6, 6) == "'s of ");
    CHECK(made[space + 4] != '0');
  }
}
