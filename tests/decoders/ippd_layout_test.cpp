// IPPD's header, positions and masks: the worked example literally. (Random padded batches:
// masks_test.cpp.)
#include <algorithm>

#include "decoders/ippd/ippd.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/ippd_reference.hpp"
#include "tests/support/rows_as_text.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

Segments segments_of(const IppdLayout& layout) {
  Segments segments;
  for (const auto& sees : layout.sees) segments.add(sees);
  return segments;
}

/// p = P0 P1; c_1 = C0 C1 with x_11 = Q0, x_12 = R0 R1; c_2 = D0 with x_21 = S0.
Pieces worked_pieces() {
  Pieces pieces;
  pieces.prefix = {10, 11};
  pieces.contexts = {{20, 21}, {30}};
  pieces.fields = {{{40}, {50, 51}}, {{60}}};
  return pieces;
}

/// The header, then y1 y2 y3 of step 1 and of step 2, as they lie in memory.
std::vector<RowLabel> memory_order(const IppdLayout& layout) {
  std::vector<RowLabel> labels = layout.labels;
  for (int t = 1; t <= 2; ++t)
    for (int question = 0; question < 3; ++question) labels.push_back(layout.answer(question, t));
  return labels;
}

}  // namespace

TEST_CASE("ippd worked example: header, ends, positions, and what every row sees") {
  const IppdLayout layout = lay_out(worked_pieces(), "worked");
  CHECK(layout.tokens == Tokens{10, 11, 20, 21, 40, 50, 51, 30, 60});
  CHECK(layout.instruction_length == 2);
  std::vector<int> ends, positions;
  for (const auto& question : layout.questions) ends.push_back(question.end);
  CHECK(ends == std::vector<int>{4, 6, 8});
  for (const RowLabel& label : memory_order(layout)) {
    positions.push_back(label.position);
    CHECK(label.order == label.position);
    CHECK(label.rank == 0);
  }
  CHECK(positions == std::vector<int>{0, 1, 2, 3, 4, 4, 5, 2, 3, 5, 6, 4, 6, 7, 5});
  CHECK(mask(memory_order(layout), segments_of(layout)) == Rows{"100000000000000",    // P0
                                                                "110000000000000",    // P1
                                                                "111000000000000",    // C0
                                                                "111100000000000",    // C1
                                                                "111110000000000",    // Q0
                                                                "111101000000000",    // R0
                                                                "111101100000000",    // R1
                                                                "110000010000000",    // D0
                                                                "110000011000000",    // S0
                                                                "111110000100000",    // y1_1
                                                                "111101100010000",    // y2_1
                                                                "110000011001000",    // y3_1
                                                                "111110000100100",    // y1_2
                                                                "111101100010010",    // y2_2
                                                                "110000011001001"});  // y3_2
}

TEST_CASE("ippd: an empty piece leaves the question's end to the text before it") {
  Pieces pieces = worked_pieces();
  pieces.fields[0][0].clear();  // x_11: its first answer follows c_1
  pieces.contexts[1].clear();
  const IppdLayout layout = lay_out(pieces, "empty");
  CHECK(layout.questions[0].end == 3);
  CHECK(layout.questions[0].position == 4);
  CHECK(layout.questions[2].end == 6);
  CHECK(layout.questions[2].position == 3);
  pieces.fields[1][0].clear();  // and x_21 follows p alone
  CHECK(lay_out(pieces, "empty").questions[2].end == 1);
  pieces.prefix.clear();
  CHECK_THROWS_WITH(lay_out(pieces, "empty"),
                    "empty: the prompt has no token, expected at least one");
}

TEST_CASE("ippd: in a batch of two with 3 and 1 open answers the second row gets two pads") {
  IppdCase three, one;
  three.p = one.p = 2;
  three.c = one.c = {2};
  three.x = {{1, 1, 1}}, three.y = {{1, 1, 1}};
  one.x = {{1}}, one.y = {{1}};
  const auto rows = padded_batch({three, one});
  CHECK(rows[0].size() == rows[1].size());
  const auto is_pad = [](const IppdToken& token) { return token.kind == IppdToken::Kind::pad; };
  CHECK(std::count_if(rows[1].begin(), rows[1].begin() + 7, is_pad) == 2);  // left
  CHECK(std::count_if(rows[1].begin() + 7, rows[1].end(), is_pad) == 2);
  CHECK(std::none_of(rows[0].begin(), rows[0].end(), is_pad));
}
