#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Visibility between values. By the paper's equations 4 to 6, no value would see another; its
/// text, algorithm and figure agree on `none`.
enum class HpdIsolation {
  none,      ///< as in the paper: a value token sees earlier values, up to its own index
  values,    ///< no value sees another
  products,  ///< values see each other only within one product
};

struct HpdOptions {
  /// K_max: positions reserved for a value, and maximum number of tokens chosen for it
  int k_max = 30;
  int stack = 6;  ///< J: number of products in one prompt
  HpdIsolation isolated = HpdIsolation::none;
};

/// s = prompt + skeleton with its labels, and the places of values (paper, Algorithm 2). Segments
/// count from 0.
struct HpdLayout {
  Tokens tokens;                 ///< s
  std::vector<RowLabel> labels;  ///< of s
  int prompt_length = 0;
  /// index in s of end(seg_r), whose row predicts the first token of value r
  std::vector<int> end;
  /// visibility segment of value r's tokens: 0, or one per value or product
  std::vector<int> segment;
  int k_max = 0;

  /// R = J * N.
  int values() const { return static_cast<int>(end.size()); }
  /// Number of visibility segments besides segment 0; each sees segment 0.
  int extra_segments() const;
  /// Label of v_{r,k}, k = 1..K_max: pos(end(seg_r)) + k, rank k.
  RowLabel value(int r, int k) const;
  /// The last position that a value can have: |s| - 1 + R * K_max. It must fit the network's
  /// context.
  int last_position() const { return static_cast<int>(tokens.size()) - 1 + values() * k_max; }
};

/// `segments`: J * N of them, product-major. ConfigError: a segment has no tokens.
HpdLayout lay_out(const Tokens& prompt, const std::vector<Tokens>& segments, int products,
                  const HpdOptions& options);

/// The ids to choose for each value of the reference answers, product-major: up to and including
/// the first one with a line break, at most K_max; "n/a" for absent values. Used for oracles and in
/// training.
std::vector<Tokens> hpd_values(
    const std::vector<std::vector<std::optional<std::string>>>& references, int k_max,
    const Tokenizer& tokenizer);

DecoderEntry hpd_entry();

}  // namespace pardec
