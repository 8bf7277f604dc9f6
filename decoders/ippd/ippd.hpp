#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

struct IppdOptions {
  int contexts = 6;           ///< l: contexts stacked in one prompt (the paper's C/P)
  bool prefix_cache = false;  ///< the instruction p is computed once for all prompts (section 4.4)
};

/// The header s = [p, c_1, x_11, x_12, .., c_2, x_21, ..] (paper, eq. 1) with virtual positions
/// (eqs 2 to 5), and where answers go. Rows and segments count from 0, questions from 0 over all
/// contexts. Segment 0 is the instruction; then each context has one, directly before those of its
/// questions; an answer belongs to its question's.
struct IppdLayout {
  Tokens tokens;                       ///< s
  std::vector<RowLabel> labels;        ///< of s
  int instruction_length = 0;          ///< |p|
  std::vector<std::vector<int>> sees;  ///< what segment 1, 2, .. sees besides itself
  struct Question {
    int end;       ///< row of the last token of x_jk, which predicts y_1; of what stands before an
                   ///< empty x_jk
    int segment;   ///< of x_jk and its answer
    int position;  ///< |p| + |c_j| + |x_jk|: of y_1
  };
  std::vector<Question> questions;

  /// Label of y_t, t = 1, 2, ..: position |p| + |c_j| + |x_jk| + t - 1 (eq. 2).
  RowLabel answer(int question, int t) const;
};

/// ConfigError, which begins with `where`, for a question before which and in which no token
/// stands.
IppdLayout lay_out(const Pieces& pieces, const std::string& where);

DecoderEntry ippd_entry();

}  // namespace pardec
