// SPACE's positions and masks: the worked examples literally. (Random layouts: masks_test.cpp.)
#include <algorithm>
#include <map>

#include "decoders/space/space.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/rows_as_text.hpp"
#include "tests/support/space_reference.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr int kFar = 1 << 20;  // positions of a network without end

Segments groups_of(int k) {
  Segments segments;
  for (int i = 0; i <= k; ++i) segments.add({0});
  return segments;
}

/// The cached tokens and the step's cells: the order of I.
std::vector<RowLabel> rows_of(int n, const SpaceGrid& grid) {
  std::vector<RowLabel> rows;
  for (int t = 0; t < n; ++t) rows.push_back(text_label(t));
  rows.insert(rows.end(), grid.labels.begin(), grid.labels.end());
  return rows;
}

std::vector<std::string> mask_of(const std::vector<RowLabel>& rows, const Segments& segments) {
  std::vector<std::string> mask;
  for (const RowLabel& q : rows) {
    std::string& row = mask.emplace_back();
    for (const RowLabel& k : rows) row += visible(q, k, segments) ? '1' : '0';
  }
  return mask;
}

RowLogits row_that_chooses(Token best) {
  RowLogits row;
  row.best = best;
  return row;
}

/// A worked example, prompt 10 11 12 and candidates 20 21: what each row of the full input chooses,
/// and the result.
struct Outcome {
  Tokens emitted, candidates;
  std::vector<int> kept;  ///< indices in the full input
  Token x = 0;            ///< newest token
  int position = 0;       ///< and its position
  bool operator==(const Outcome&) const = default;
};

Outcome worked_example(const std::map<int, Token>& choices) {
  const int n = 2;
  const SpaceGrid grid = space_grid(n, 2, 2, kFar);
  const auto chooses = [&](int cell) { return row_that_chooses(choices.at(n + cell)); };
  std::vector<RowLogits> Q;
  for (const int cell : grid.reals) Q.push_back(chooses(cell));
  const Verdict verdict = accept_greedy(Q, {{20, 21}, {}});
  Outcome out;
  for (const Choice& choice : verdict.choices) out.emitted.push_back(choice.token);
  const auto i = static_cast<size_t>(verdict.accepted);
  for (const int cell : grid.masks[i]) out.candidates.push_back(chooses(cell).best);
  for (int t = 0; t < n; ++t) out.kept.push_back(t);
  for (size_t c = 0; c <= i; ++c) out.kept.push_back(n + grid.reals[c]);
  out.x = out.emitted.back();
  out.position = n + verdict.accepted + 1;
  return out;
}

}  // namespace

TEST_CASE("space: worked example: k = 2 after three tokens") {
  const SpaceGrid grid = space_grid(2, 2, 2, kFar);
  CHECK(grid.reals == std::vector<int>{0, 3, 6});
  CHECK(grid.masks == std::vector<std::vector<int>>{{1, 2}, {4, 5}, {7, 8}});
  const std::vector<RowLabel> rows = rows_of(2, grid);
  CHECK(positions(rows) == std::vector<int>{0, 1, 2, 3, 4, 3, 4, 5, 4, 5, 6});
  CHECK(mask_of(rows, groups_of(2)) == Rows{"10000000000",    // 10
                                            "11000000000",    // 11
                                            "11100000000",    // 12
                                            "11110000000",    // M
                                            "11111000000",    // M
                                            "11100100000",    // 20
                                            "11100110000",    // M
                                            "11100111000",    // M
                                            "11100100100",    // 21
                                            "11100100110",    // M
                                            "11100100111"});  // M
}

TEST_CASE("space: worked example: figure 7") {
  const std::vector<RowLabel> rows = rows_of(1, space_grid(1, 2, 2, kFar));
  CHECK(positions(rows) == std::vector<int>{0, 1, 2, 3, 2, 3, 4, 3, 4, 5});
  Rows lower;  // the figure's rows end with their own token
  for (const std::string& row : mask_of(rows, groups_of(2)))
    lower.push_back(row.substr(0, lower.size() + 1));
  CHECK(lower == Rows{"1", "11", "111", "1111", "11001", "110011", "1100111", "11001001",
                      "110010011", "1100100111"});
}

TEST_CASE("space: worked example: all accepted, one rejected, all rejected") {
  std::map<int, Token> choices{{2, 20}, {3, 21}, {4, 22}, {5, 21}, {6, 30},
                               {7, 31}, {8, 30}, {9, 41}, {10, 42}};
  CHECK(worked_example(choices) == Outcome{{20, 21, 30}, {41, 42}, {0, 1, 2, 5, 8}, 30, 5});
  choices[5] = 25;
  CHECK(worked_example(choices) == Outcome{{20, 25}, {30, 31}, {0, 1, 2, 5}, 25, 4});
  choices[2] = 27;
  CHECK(worked_example(choices) == Outcome{{27}, {21, 22}, {0, 1, 2}, 27, 3});
}

TEST_CASE(
    "space: Equation 5 taken literally leaks across groups from k = 3 on, and the layout does "
    "not") {
  const std::map<int, std::pair<int, int>> leaks{
      {1, {0, 0}}, {2, {0, 0}}, {3, {3, 3}}, {4, {12, 8}}, {5, {30, 15}}};
  for (const auto& [k, expected] : leaks) {
    const std::vector<SpaceItem> I = space_input(1, k, k);
    const std::vector<RowLabel> rows = rows_of(0, space_grid(0, k, k, kFar));
    const Segments groups = groups_of(k);
    REQUIRE(rows.size() == I.size());
    int pairs = 0, masks = 0;
    for (int i = 0; i < std::ssize(I); ++i) {
      int here = 0;
      for (int j = 0; j < std::ssize(I); ++j) {
        const bool is = visible(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(j)], groups);
        const bool by_letter = attends_by_equation_5(I, k, i, j);
        CHECK(!(is && !by_letter));
        here += by_letter && !is;
      }
      pairs += here;
      masks += here > 0;
    }
    INFO("k " << k);
    CHECK(pairs == expected.first);
    CHECK(masks == expected.second);
  }
  CHECK(attends_by_equation_5(space_input(1, 3, 3), 3, 5, 3));  // M5 sees M3 of another group
}

TEST_CASE("space: group i* drafts as many candidates as the next step has room for") {
  for (int positions = 1; positions < 30; ++positions)
    for (int k = 1; k <= 6; ++k)
      for (int n = 0; n < positions; ++n)
        for (int candidates = 0; candidates <= std::min(k, positions - 1 - n); ++candidates) {
          const SpaceGrid grid = space_grid(n, candidates, k, positions);
          for (int i = 0; i <= candidates; ++i) {
            const int next = n + i + 1;  // position of x_l of the next step, if there is one
            if (next >= positions) continue;
            REQUIRE(std::ssize(grid.masks[static_cast<size_t>(i)]) ==
                    std::min(k, positions - 1 - next));
          }
        }
}

TEST_CASE("space: [M] comes from the tokenizer or from the option") {
  Json json = line_break_tokenizer();
  TemporaryFolder folder;
  const auto load = [&] {
    write_file(folder.path() / "tokenizer.json", json.dump());
    return Tokenizer::load(folder.path() / "tokenizer.json");
  };
  const Tokenizer plain = load();
  CHECK_THROWS_AS(space_mask_token("", &plain, 500), ConfigError);
  CHECK_THROWS_WITH(space_mask_token("", &plain, 500), Catch::Contains("space.mask_token"));
  CHECK_THROWS_WITH(space_mask_token("", nullptr, 500), Catch::Contains("space.mask_token"));
  CHECK(space_mask_token("<unk>", &plain, 500) == 2);
  CHECK(space_mask_token("77", nullptr, 500) == 77);
  CHECK_THROWS_WITH(space_mask_token("500", &plain, 500), Catch::Contains("499"));
  CHECK_THROWS_WITH(space_mask_token("[Fork]", &plain, 500), Catch::Contains("[Fork]"));

  const int id = plain.vocab_size();
  json["added_tokens"].push_back({{"id", id},
                                  {"content", "<|mask|>"},
                                  {"single_word", false},
                                  {"lstrip", false},
                                  {"rstrip", false},
                                  {"normalized", false},
                                  {"special", true}});
  const Tokenizer with_mask = load();
  CHECK(space_mask_token("", &with_mask, id + 1) == id);
  CHECK(space_mask_token("<unk>", &with_mask, id + 1) == 2);  // the option takes precedence
}

TEST_CASE("space: options of space are read, and wrong ones are refused") {
  const auto options =
      make_decoder(
          "space",
          {{"k", 3}, {"extra", "paper"}, {"mask_token", 9}, {"ask", "separately"}, {"stack", 2}})
          ->options();
  CHECK(
      options ==
      OrderedJson{
          {"ask", "separately"}, {"stack", 2}, {"k", 3}, {"extra", "paper"}, {"mask_token", "9"}});
  CHECK(make_decoder("space", Json::object())->options()["k"] == 5);
  CHECK(make_decoder("space", Json::object())->options()["extra"] == "residual");
  CHECK_THROWS_WITH(make_decoder("space", {{"k", 0}}), "space.k is 0, expected 1 to 63");
  CHECK_THROWS_WITH(make_decoder("space", {{"extra", "none"}}),
                    "space.extra is 'none', expected residual or paper");
  CHECK_THROWS_AS(make_decoder("space", {{"masks", 3}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("space", {{"mask_token", 1.5}}), ConfigError);
}
