#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

struct IppdOptions {
  int contexts = 6;           ///< l: number of contexts stacked in one prompt (the paper's C/P)
  bool prefix_cache = false;  ///< the instruction p is computed once for all prompts (section 4.4)
};

/// The header s = [p, c_1, x_11, x_12, .., c_2, x_21, ..] (paper, eq. 1) with virtual positions
/// (eqs 2 to 5), and the places of answers. Rows and segments count from 0; questions count from 0
/// over all contexts. Segment 0 is the instruction. Each context has a segment, followed by those
/// of its questions. An answer belongs to the segment of its question.
struct IppdLayout {
  Tokens tokens;                       ///< s
  std::vector<RowLabel> labels;        ///< of s
  int instruction_length = 0;          ///< |p|
  std::vector<std::vector<int>> sees;  ///< [s - 1]: the segments that segment s sees besides itself
  struct Question {
    /// row of the last token of x_jk, which predicts y_1; if x_jk is empty, the last row before it
    int end;
    int segment;   ///< of x_jk and its answer
    int position;  ///< |p| + |c_j| + |x_jk|: position of y_1
  };
  std::vector<Question> questions;

  /// Label of y_t, t = 1, 2, ..: position |p| + |c_j| + |x_jk| + t - 1 (eq. 2).
  RowLabel answer(int question, int t) const;
};

/// ConfigError, which starts with `where`: the prompt of a question (instruction, context and
/// question) has no tokens.
IppdLayout lay_out(const Pieces& pieces, const std::string& where);

DecoderEntry ippd_entry();

}  // namespace pardec
