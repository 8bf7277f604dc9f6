#pragma once
// Intra-Prompt Parallel Decoding. The paper is "Intra-Prompt Parallel Decoding for Common-Context
// Question Answering"; decoders/ippd/README.md explains the method. Letters are the paper's.
#include "decoders/decoder.hpp"

namespace pardec {

/// The options of IPPD.
struct IppdOptions {
  int contexts = 6;           ///< number of contexts per prompt (l in the paper, also C/P)
  bool prefix_cache = false;  ///< whether p is computed once for all prompts (section 4.4)
};

/// The header s = [p, c_1, x_11, x_12, .., c_2, x_21, ..] (paper, eq. 1) with virtual positions
/// (eqs 2 to 5), and the places of the answers. p is the instruction, c_j a context, x_jk a
/// question, and y its answer. Rows, segments and questions count from 0; questions are numbered
/// across all contexts. Segment 0 is the instruction. Each context has a segment, followed by the
/// segments of its questions. An answer is in the segment of its question.
struct IppdLayout {
  Tokens tokens;                       ///< s
  std::vector<RowLabel> labels;        ///< labels of s
  int instruction_length = 0;          ///< |p|
  std::vector<std::vector<int>> sees;  ///< [n - 1]: the segments that segment n sees besides itself
  struct Question {
    /// The row that predicts y_1: the row of the last token of x_jk. If x_jk is empty: the row of
    /// the last token of c_j; if c_j is empty too, the row of the last token of p.
    int end;
    int segment;   ///< segment of x_jk and its answer
    int position;  ///< |p| + |c_j| + |x_jk|: position of y_1
  };
  std::vector<Question> questions;

  /// The label of y_t, t = 1, 2, ..: position |p| + |c_j| + |x_jk| + t - 1 (eq. 2).
  RowLabel answer(int question, int t) const;
};

/// Lays out the prompt of a job. `pieces`: in value or free form. ConfigError, whose message starts
/// with `where`: instruction, context and question are all empty for one of the questions.
IppdLayout lay_out(const Pieces& pieces, const std::string& where);

/// The decoder's entry in the registry (decoders()).
DecoderEntry ippd_entry();

}  // namespace pardec
