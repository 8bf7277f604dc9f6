// ASPD's positions and masks: the worked example literally, and random layouts of two rounds
// against the paper's formulas.
#include <algorithm>
#include <map>
#include <sstream>

#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/support/aspd_reference.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

struct LaidOut {
  Segments segments;
  std::vector<RowLabel> labels;
};

/// The labels that AspdLayout gives to the tokens of `order`. They are asked for in flattened order
/// and returned in the given order.
LaidOut lay_out(const AspdCase& c, const std::vector<AspdToken>& order) {
  LaidOut out;
  AspdLayout layout(c.positions, c.shared,
                    [&](const std::vector<int>& sees) { return out.segments.add(sees); });
  std::vector<std::pair<AspdToken, RowLabel>> known;
  const std::vector<AspdToken> flat = flattened_order(c);
  for (size_t at = 0; at < flat.size();) {
    if (flat[at].b == 0) {
      known.emplace_back(flat[at++], layout.main());
      continue;
    }
    const int g = flat[at].g;
    const std::vector<int>& lengths = c.blocks[static_cast<size_t>(g / 2)].lengths;
    layout.open(static_cast<int>(lengths.size()));
    for (; at < flat.size() && flat[at].g == g && !flat[at].moved; ++at)
      known.emplace_back(flat[at], layout.branch(flat[at].b - 1, flat[at].r));
    layout.close(lengths);
    CHECK(layout.moves() == (c.positions.scheme == AspdScheme::same_re));
    for (; at < flat.size() && flat[at].g == g; ++at)
      known.emplace_back(flat[at], layout.copy(flat[at].b - 1, flat[at].r));
  }
  for (const AspdToken& token : order)
    out.labels.push_back(std::find_if(known.begin(), known.end(), [&](const auto& k) {
                           return k.first == token;
                         })->second);
  return out;
}

// By hand: token, b, t; then positions under Same-Seq, Same-Max, Same-Re after the block, Fix-32
// and Fix-4; then the visible tokens, independent and shared ("=": as independent).
constexpr const char* kWorkedExample = R"(
u0    0 0  0  0  0  0  0   10000000000000000000000 =
u1    0 1  1  1  1  1  1   11000000000000000000000 =
<T>   0 2  2  2  2  2  2   11100000000000000000000 =
a     0 3  3  3  3  3  3   11110000000000000000000 =
</T>  0 4  4  4  4  4  4   11111000000000000000000 =
<T>   0 5  5  5  5  5  5   11111100000000000000000 =
b     0 6  6  6  6  6  6   11111110000000000000000 =
</T>  0 7  7  7  7  7  7   11111111000000000000000 =
<P>   0 8  8  8  8  8  8   11111111100000000000000 =
<B>   1 9  9  9  9  9  9   11111111110000000000000 =
a     1 10 10 10 10 10 10  11111111111000000000000 11111111111000010000000
:     1 11 11 11 11 11 11  11111111111100000000000 11111111111100011000000
x0    1 12 12 12 12 12 12  11111111111110000000000 11111111111110011100000
x1    1 13 13 13 13 13 13  11111111111111000000000 11111111111111011110000
</B>  1 14 14 14 14 14 14  11111111111111100000000 11111111111111111111000
<B>   2 9  9  9  15 41 13  11111111100000010000000 =
b     2 10 10 10 16 42 14  11111111100000011000000 11111111110000011000000
:     2 11 11 11 17 43 15  11111111100000011100000 11111111111000011100000
y0    2 12 12 12 18 44 16  11111111100000011110000 11111111111100011110000
y1    2 13 13 13 19 45 17  11111111100000011111000 11111111111110011111000
</B>  2 14 14 14 20 46 18  11111111100000011111100 11111111111111011111100
</P>  0 15 21 15 21 73 17  11111111111111111111110 =
z0    0 16 22 16 22 74 18  11111111111111111111111 =
)";

struct WorkedRow {
  std::string token, independent, shared;
  int b, t, seq, max, re, fix32, fix4;
};

std::vector<WorkedRow> aspd_worked_example() {
  std::vector<WorkedRow> rows;
  std::istringstream lines{std::string(kWorkedExample)};
  WorkedRow row;
  while (lines >> row.token >> row.b >> row.t >> row.seq >> row.max >> row.re >> row.fix32 >>
         row.fix4 >> row.independent >> row.shared) {
    if (row.shared == "=") row.shared = row.independent;
    rows.push_back(row);
  }
  return rows;
}

std::string mask_row(const LaidOut& out, size_t i) {
  std::string row;
  for (const RowLabel& key : out.labels)
    row += visible(out.labels[i], key, out.segments) ? '1' : '0';
  return row;
}

AspdPositions scheme(int number, int n) {
  const auto kind = static_cast<AspdScheme>(number);
  return {kind, kind == AspdScheme::fix ? n : 0};
}

}  // namespace

TEST_CASE("aspd worked example: positions and masks, in flattened order") {
  const std::vector<WorkedRow> rows = aspd_worked_example();
  REQUIRE(rows.size() == 23);
  const std::map<std::string, int WorkedRow::*> columns{{"same-seq", &WorkedRow::seq},
                                                        {"same-max", &WorkedRow::max},
                                                        {"fix-32", &WorkedRow::fix32},
                                                        {"fix-4", &WorkedRow::fix4}};
  for (const auto& [name, column] : columns)
    for (const bool shared : {false, true}) {
      AspdCase c{{{9, {6, 6}, {}}}, 2, {}, shared};
      if (name == "same-max") c.positions = {AspdScheme::same_max, 0};
      if (name == "fix-32") c.positions = {AspdScheme::fix, 32};
      if (name == "fix-4") c.positions = {AspdScheme::fix, 4};
      const std::vector<AspdToken> order = flattened_order(c);
      const LaidOut out = lay_out(c, order);
      REQUIRE(out.labels.size() == rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        INFO(name << (shared ? " shared" : " independent") << " row " << i << " " << rows[i].token);
        CHECK(order[i].b == rows[i].b);
        CHECK(order[i].t == rows[i].t);
        CHECK(out.labels[i].position == rows[i].*column);
        CHECK(mask_row(out, i) == (shared ? rows[i].shared : rows[i].independent));
      }
    }
}

TEST_CASE("aspd worked example: Same-Re is Same-Seq in the block, and has its own order after it") {
  const std::vector<WorkedRow> rows = aspd_worked_example();
  const AspdCase c{{{9, {6, 6}, {}}}, 2, {AspdScheme::same_re, 0}, false};
  std::vector<AspdToken> during, after;
  for (const AspdToken& token : flattened_order(c)) {
    if (!token.moved) during.push_back(token);
    if (token.moved || token.b == 0) after.push_back(token);
  }
  const LaidOut first = lay_out(c, during), second = lay_out(c, after);
  REQUIRE(first.labels.size() == rows.size());
  REQUIRE(second.labels.size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i << " " << rows[i].token);
    CHECK(first.labels[i].position == rows[i].seq);
    CHECK(second.labels[i].position == rows[i].re);
    if (i < 21) CHECK(mask_row(first, i) == rows[i].independent);
    CHECK(mask_row(second, i) == rows[i].independent);
  }
}

TEST_CASE("aspd worked example: other lengths, and a second round") {
  for (const auto& [kind, behind] :
       {std::pair{AspdScheme::same_seq, 22}, {AspdScheme::same_max, 16}}) {  // check (d)
    const AspdCase c{{{9, {6, 7}, {}}}, 1, {kind, 0}, false};
    CHECK(lay_out(c, flattened_order(c)).labels.back().position == behind);
  }
  for (const auto& [kind, starts] : {std::pair{AspdScheme::same_seq, std::pair{30, 39}},
                                     {AspdScheme::same_max, std::pair{24, 29}}}) {  // check (e)
    const AspdCase c{{{9, {6, 6}, {}}, {9, {4, 5}, {}}}, 1, {kind, 0}, false};
    const std::vector<AspdToken> order = flattened_order(c);
    const LaidOut out = lay_out(c, order);
    const auto first = std::find_if(order.begin(), order.end(),
                                    [](const AspdToken& token) { return token.g == 3; });
    CHECK(out.labels[static_cast<size_t>(first - order.begin())].position == starts.first);
    CHECK(out.labels.back().position == starts.second);
  }
}

TEST_CASE("aspd masks and positions equal the paper's formulas on random layouts") {
  Rng rng(2508);
  const auto up_to = [&](int most) {
    return 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(most)));
  };
  int layouts = 0;
  for (int round = 0; round < 1000; ++round) {
    AspdCase c;
    for (int blocks = round % 10 ? 2 : up_to(3); blocks > 0; --blocks) {
      AspdCase::Block block{up_to(6), {}, {}};
      for (int k = up_to(round % 50 ? 4 : 12); k > 0; --k) {
        block.lengths.push_back(up_to(6));
        block.prefix.push_back(up_to(block.lengths.back()));
      }
      c.blocks.push_back(block);
    }
    c.tail = up_to(4);
    for (int kind = 0; kind < 4; ++kind)
      for (const bool shared : {false, true}) {
        c.positions = scheme(kind, up_to(9));
        c.shared = shared;
        const std::vector<AspdToken> order = round % 2 ? flattened_order(c) : arrival_order(c);
        const LaidOut out = lay_out(c, order);
        int wrong_masks = 0, wrong_positions = 0;
        for (size_t i = 0; i < order.size(); ++i) {
          wrong_positions += out.labels[i].position != position(c, order[i]);
          for (size_t j = 0; j < order.size(); ++j)
            wrong_masks += visible(out.labels[i], out.labels[j], out.segments) !=
                           attends(c, order[i], order[j]);
        }
        INFO("round " << round << " " << c.text());
        REQUIRE(wrong_positions == 0);
        REQUIRE(wrong_masks == 0);
        ++layouts;
      }
  }
  CHECK(layouts == 8000);
}

TEST_CASE(
    "aspd layout: at most 63 branches share a mask; without a shared mask any number is possible") {
  for (const bool shared : {true, false}) {
    AspdCase c{{{2, std::vector<int>(shared ? 63 : 200, 2), {}}}, 2, {}, shared};
    const std::vector<AspdToken> order = flattened_order(c);
    const LaidOut out = lay_out(c, order);
    int wrong = 0;
    for (size_t i = 0; i < order.size(); ++i)
      for (size_t j = 0; j < order.size(); ++j)
        wrong +=
            visible(out.labels[i], out.labels[j], out.segments) != attends(c, order[i], order[j]);
    CHECK(wrong == 0);
  }
  Segments segments;
  AspdLayout layout({}, /*shared=*/true, [&](const auto& sees) { return segments.add(sees); });
  CHECK_THROWS_AS(layout.open(64), std::logic_error);
  CHECK_THROWS_AS(layout.open(0), std::logic_error);
}
