// PPD, DP and ABN of a corpus, counted by hand: the tokenizer has one token for each letter.
#include "src/findings/corpus.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

namespace pardec {

namespace {

/// A token for each ASCII character.
Tokenizer letters() {
  Json vocab;
  int id = 0;
  for (char c = '!'; c <= '~'; ++c) vocab[std::string(1, c)] = id++;
  vocab["\u0120"] = id++;  // space
  vocab["\u010A"] = id++;  // line break
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "tokenizer.json";
  const Json bytes{{"type", "ByteLevel"},
                   {"add_prefix_space", false},
                   {"trim_offsets", true},
                   {"use_regex", true}};
  write_file(file.string(),
             Json{{"version", "1.0"},
                  {"added_tokens", Json::array()},
                  {"normalizer", nullptr},
                  {"pre_tokenizer", bytes},
                  {"post_processor", nullptr},
                  {"decoder", bytes},
                  {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", Json::array()}}}}
                 .dump());
  return Tokenizer::load(file);
}

Dataset corpus_of(const std::vector<std::string>& answers) {
  Dataset dataset{"answers", "train"};
  dataset.shape = Shape::open;
  for (const std::string& answer : answers) {
    Example example{.id = "train-" + std::to_string(dataset.examples.size())};
    example.fields.push_back({.name = "answer", .question = "Q?", .references = {answer}});
    dataset.examples.push_back(example);
  }
  return dataset;
}

constexpr const char* kTwo =  // 6 serial + 2 titles + (5 + 6) in branches
    "Hi.<Title>a</Title><Title>b</Title><Para><Branch>a: xx</Branch><Branch>b: "
    "yyy</Branch></Para>End";
constexpr const char* kTwoGroups =  // 1 serial + 6 titles + 6 x 4 in branches
    "<Title>a</Title><Title>b</Title><Para><Branch>a: x</Branch><Branch>b: y</Branch></Para>-"
    "<Title>c</Title><Title>d</Title><Title>e</Title><Title>f</Title><Para><Branch>c: 1</Branch>"
    "<Branch>d: 2</Branch><Branch>e: 3</Branch><Branch>f: 4</Branch></Para>";
constexpr const char* kList =  // details of 14, 15 and 14 of 92
    "Points:\n1. One: first detail.\n2. Two: second detail.\n3. Three: third detail.\n\nThat is "
    "all.";

}  // namespace

TEST_CASE("the structure of a corpus is that of its marked answers and of APAR's rules") {
  const Tokenizer tokenizer = letters();
  const StructureStats one = structure_of(corpus_of({kTwo}), tokenizer);
  CHECK(one.metrics.ppd == 1);
  CHECK(one.metrics.dp == Approx(11.0 / 19));
  CHECK(one.metrics.abn == 2);
  CHECK(one.tokens.value() == 19);

  const StructureStats list = structure_of(corpus_of({kList}), tokenizer);
  CHECK(list.marked == 0);
  CHECK(list.by_rules == 1);
  CHECK(list.metrics.dp == Approx(43.0 / 92));
  CHECK(list.metrics.abn == 3);

  const StructureStats all =
      structure_of(corpus_of({kTwo, "Just text.", kList, kTwoGroups}), tokenizer);
  CHECK(all.answers == 4);
  CHECK(all.marked == 2);
  CHECK(all.by_rules == 1);
  CHECK(all.metrics.ppd == 0.75);
  CHECK(all.metrics.dp == Approx((11.0 / 19 + 43.0 / 92 + 24.0 / 31) / 3));
  CHECK(all.metrics.abn == Approx((2 + 3 + 3) / 3.0));  // six branches in two groups are 3
  CHECK(all.tokens.value() == (19 + 10 + 92 + 31) / 4.0);
}

TEST_CASE("a corpus without parallel answers has PPD 0; broken markup is refused") {
  const Tokenizer tokenizer = letters();
  const StructureStats none = structure_of(corpus_of({"Yes.", "No."}), tokenizer);
  CHECK(none.metrics.ppd == 0);
  CHECK(none.answers == 2);
  CHECK(structure_of(corpus_of({}), tokenizer).answers == 0);
  CHECK_THROWS_WITH(structure_of(corpus_of({"<Title>a<Para>"}), tokenizer),
                    Catch::Contains("answers, train-0, answer"));
}

}  // namespace pardec
