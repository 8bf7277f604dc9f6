// HPD's positions and masks: the worked examples literally, and 1,000 random layouts against the
// paper's formulas.
#include <algorithm>
#include <numeric>
#include <set>

#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/hpd_reference.hpp"
#include "tests/support/rows_as_text.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

Segments segments_of(const HpdLayout& layout) {
  Segments segments;
  for (int extra = 0; extra < layout.extra_segments(); ++extra) segments.add({0});
  return segments;
}

/// Rows are queries, columns keys, both in the order of `labels`.
/// p0 p1 = 1 2, seg_1 = 3 4, seg_2 = 5 6, K_max = 3.
HpdLayout hpd_worked_example(HpdIsolation isolated = HpdIsolation::none) {
  return lay_out({1, 2}, {{3, 4}, {5, 6}}, 1, {.k_max = 3, .stack = 1, .isolated = isolated});
}

/// p0 p1 a1s a1e a2s a2e v11 v21 v12 v22, as they lie in memory.
std::vector<RowLabel> memory_order(const HpdLayout& layout) {
  std::vector<RowLabel> labels = layout.labels;
  for (int k = 1; k <= 2; ++k)
    for (int r = 0; r < 2; ++r) labels.push_back(layout.value(r, k));
  return labels;
}

}  // namespace

TEST_CASE("worked example: tokens, positions and slots") {
  const HpdLayout layout = hpd_worked_example();
  CHECK(layout.tokens == Tokens{1, 2, 3, 4, 5, 6});
  CHECK(positions(layout.labels) == std::vector<int>{0, 1, 2, 3, 7, 8});
  CHECK(layout.prompt_length == 2);
  CHECK(layout.values() == 2);
  CHECK(layout.end == std::vector<int>{3, 5});
  CHECK(layout.last_position() == 11);
  std::vector<int> slots;
  for (int r = 0; r < 2; ++r)
    for (int k = 1; k <= 3; ++k) slots.push_back(layout.value(r, k).position);
  CHECK(slots == std::vector<int>{4, 5, 6, 9, 10, 11});
  CHECK(positions(memory_order(layout)) == std::vector<int>{0, 1, 2, 3, 7, 8, 4, 9, 5, 10});
}

TEST_CASE("worked example: the mask in memory order") {
  const HpdLayout layout = hpd_worked_example();
  CHECK(mask(memory_order(layout), segments_of(layout)) == Rows{"1000000000",    // p0
                                                                "1100000000",    // p1
                                                                "1110000000",    // a1s
                                                                "1111000000",    // a1e
                                                                "1111100000",    // a2s
                                                                "1111110000",    // a2e
                                                                "1111001000",    // v11
                                                                "1111111100",    // v21
                                                                "1111001010",    // v12
                                                                "1111111111"});  // v22
}

TEST_CASE("worked example: the mask in training order") {
  const HpdLayout layout = hpd_worked_example();
  const auto& s = layout.labels;
  const std::vector<RowLabel> natural{s[0],
                                      s[1],
                                      s[2],
                                      s[3],
                                      layout.value(0, 1),
                                      layout.value(0, 2),
                                      s[4],
                                      s[5],
                                      layout.value(1, 1),
                                      layout.value(1, 2)};
  CHECK(positions(natural) == std::vector<int>{0, 1, 2, 3, 4, 5, 7, 8, 9, 10});
  CHECK(mask(natural, segments_of(layout)) == Rows{"1000000000",    // p0
                                                   "1100000000",    // p1
                                                   "1110000000",    // a1s
                                                   "1111000000",    // a1e
                                                   "1111100000",    // v11
                                                   "1111110000",    // v12
                                                   "1111001000",    // a2s
                                                   "1111001100",    // a2e
                                                   "1111101110",    // v21
                                                   "1111111111"});  // v22
}

TEST_CASE("worked example: isolated values see no other value") {
  const HpdLayout layout = hpd_worked_example(HpdIsolation::values);
  const Rows rows = mask(memory_order(layout), segments_of(layout));
  const Rows plain = mask(memory_order(hpd_worked_example()), Segments());
  CHECK(rows[7] == "1111110100");  // v21
  CHECK(rows[9] == "1111110101");  // v22
  for (const size_t same : {0, 1, 2, 3, 4, 5, 6, 8}) CHECK(rows[same] == plain[same]);
}

TEST_CASE(
    "isolated products: with one attribute, values of two products see only themselves; with two, "
    "those of the same product see one another") {
  // Two products with one attribute each: as isolated values.
  const HpdLayout two = lay_out({1, 2}, {{3, 4}, {5, 6}}, 2,
                                {.k_max = 3, .stack = 2, .isolated = HpdIsolation::products});
  const Rows apart = mask(memory_order(two), segments_of(two));
  CHECK(apart[7] == "1111110100");
  CHECK(apart[9] == "1111110101");
  // One product with both: as in the paper.
  const HpdLayout one = hpd_worked_example(HpdIsolation::products);
  CHECK(mask(memory_order(one), segments_of(one)) ==
        mask(memory_order(hpd_worked_example()), Segments()));
  // Two products with two each, K_max = 1, in memory order p | a b c d | v1 v2 v3 v4.
  const HpdLayout four = lay_out({1}, {{2}, {3}, {4}, {5}}, 2,
                                 {.k_max = 2, .stack = 2, .isolated = HpdIsolation::products});
  std::vector<RowLabel> labels = four.labels;
  for (int r = 0; r < 4; ++r) labels.push_back(four.value(r, 1));
  const Rows rows = mask(labels, segments_of(four));
  CHECK(rows[5] == "110001000");
  CHECK(rows[6] == "111001100");
  CHECK(rows[7] == "111100010");
  CHECK(rows[8] == "111110011");
}

TEST_CASE("two products of two attributes: positions run product by product") {
  const HpdLayout layout =
      lay_out({1, 2}, {{3, 4}, {5, 6}, {7, 8, 9}, {10, 11}}, 2, {.k_max = 3, .stack = 2});
  CHECK(positions(layout.labels) == std::vector<int>{0, 1, 2, 3, 7, 8, 12, 13, 14, 18, 19});
  std::vector<int> first;
  for (int r = 0; r < 4; ++r) first.push_back(layout.value(r, 1).position);
  CHECK(first == std::vector<int>{4, 9, 15, 20});
  CHECK(layout.last_position() == 22);  // |s| - 1 + R * K_max = 10 + 12
}

TEST_CASE("figure 2: |p| = 10, three attributes of three tokens, K_max = 7") {
  const HpdLayout layout =
      lay_out(Tokens(10, 1), {{2, 2, 2}, {3, 3, 3}, {4, 4, 4}}, 1, {.k_max = 7, .stack = 1});
  std::vector<int> ends, firsts;
  for (int r = 0; r < 3; ++r) {
    ends.push_back(layout.labels[static_cast<size_t>(layout.end[static_cast<size_t>(r)])].position);
    firsts.push_back(layout.value(r, 1).position);
  }
  CHECK(ends == std::vector<int>{12, 22, 32});
  CHECK(firsts == std::vector<int>{13, 23, 33});
  HpdCase figure;
  figure.prompt = 10;
  figure.attributes = {3, 3, 3};
  figure.k_max = 7;
  CHECK(positions(layout.labels) == algorithm_2(figure));
}

TEST_CASE("a segment without tokens is refused") {
  CHECK_THROWS_WITH(lay_out({1}, {{2}, {}}, 1, {.k_max = 3}),
                    "hpd: segment 2 of the skeleton has no token, expected at least one");
}

TEST_CASE("random layouts: positions and masks are those of the paper") {
  Rng rng(2024);
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  long pairs = 0, seen = 0, refused = 0;
  int empty_values = 0, early_values = 0, full_values = 0;
  for (int round = 0; round < 1000; ++round) {
    HpdCase c;
    c.prompt = draw(1, 6);
    c.products = draw(1, 4);
    c.k_max = draw(1, 12);
    c.isolated = static_cast<HpdIsolation>(round % 4 == 0 ? 1 : round % 4 == 1 ? 2 : 0);
    const int per_product = draw(1, 8);
    for (int r = 0; r < c.products * per_product; ++r) {
      c.attributes.push_back(draw(1, 5));
      const int length = rng.below(4) == 0 ? 0 : rng.below(4) == 0 ? c.k_max : draw(0, c.k_max);
      c.values.push_back(length);
      empty_values += length == 0, early_values += length > 0 && length < c.k_max,
          full_values += length == c.k_max;
    }
    std::vector<Tokens> segments;
    for (const int length : c.attributes) segments.emplace_back(static_cast<size_t>(length), 1);
    const HpdLayout layout =
        lay_out(Tokens(static_cast<size_t>(c.prompt), 0), segments, c.products,
                {.k_max = c.k_max, .stack = c.products, .isolated = c.isolated});
    const Segments sees = segments_of(layout);
    INFO(c.text());

    REQUIRE(positions(layout.labels) == algorithm_2(c));
    const std::vector<HpdToken> natural = natural_order(c), fed = feeding_order(c);
    const auto label = [&](const HpdToken& token) {
      if (token.kind == HpdToken::Kind::value) return layout.value(token.n - 1, token.i);
      int at = token.i;
      if (token.kind == HpdToken::Kind::attribute)
        at +=
            c.prompt + std::accumulate(c.attributes.begin(), c.attributes.begin() + token.n - 1, 0);
      return layout.labels[static_cast<size_t>(at)];
    };
    std::string wrong;  // the first wrong pair; one CHECK for each pair would be slow
    const auto compare = [&](const std::vector<HpdToken>& order, bool inference) {
      std::vector<RowLabel> labels;
      for (const HpdToken& token : order) labels.push_back(label(token));
      for (size_t q = 0; q < order.size(); ++q) {
        const int step = order[q].kind == HpdToken::Kind::value ? order[q].i : 0;
        for (size_t k = 0; k < order.size(); ++k) {
          const bool is = visible(labels[q], labels[k], sees);
          const bool is_fed =
              !inference || (order[k].kind == HpdToken::Kind::value ? order[k].i : 0) <= step;
          // At inference, keys that were computed after the query are not asked about; in training
          // they are.
          if (inference && !is_fed) continue;
          const bool should = inference ? attends_at_inference(c, order[q], order[k])
                                        : attends_in_training(c, order[q], order[k]);
          ++pairs, seen += is, refused += !is;
          if (is != should && wrong.empty())
            wrong = str(inference ? "inference" : "training", ": query kind ",
                        static_cast<int>(order[q].kind), " n ", order[q].n, " i ", order[q].i,
                        " key kind ", static_cast<int>(order[k].kind), " n ", order[k].n, " i ",
                        order[k].i, " visible ", is, " in the paper ", should);
        }
      }
    };
    compare(natural, false);
    compare(fed, true);
    REQUIRE(wrong == "");

    // Figure 3: the pattern of (a) and (b) is the same.
    for (const HpdToken& q : fed)
      for (const HpdToken& k : fed)
        if (attends_at_inference(c, q, k) != attends_in_training(c, q, k))
          wrong = "the two formulas differ";
    REQUIRE(wrong == "");

    std::vector<int> taken;
    for (const HpdToken& token : natural) {
      taken.push_back(label(token).position);
      REQUIRE(taken.back() == position(c, token));
    }
    REQUIRE(std::adjacent_find(taken.begin(), taken.end(), std::greater_equal<>()) ==
            taken.end());  // no slot is taken twice
    REQUIRE(layout.last_position() == layout.value(layout.values() - 1, c.k_max).position);
    REQUIRE(taken.back() <= layout.last_position());
  }
  CHECK(pairs > 10'000'000);
  CHECK(std::min(seen, refused) > 1'000'000);
  CHECK(std::min({empty_values, early_values, full_values}) > 1000);
}
