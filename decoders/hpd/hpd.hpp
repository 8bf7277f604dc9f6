#pragma once
// Hyper-Parallel Decoding. The paper is Glavas et al., "Breaking the Autoregressive Chain";
// decoders/hpd/README.md explains the method. Letters are the paper's.
#include "decoders/decoder.hpp"

namespace pardec {

/// Which values are isolated from each other, i.e. do not see each other. The default is `none`, as
/// in the paper's text (section 4.3.2), algorithm and figure 3. (By the paper's equations 4 to 6,
/// no value would see another.)
enum class HpdIsolation {
  none,      ///< as in the paper: token k of a value sees the tokens 1 to k of earlier values
  values,    ///< no value sees another
  products,  ///< values see each other only within a product
};

/// The options of HPD.
struct HpdOptions {
  /// K_max: number of positions reserved for a value, and its maximum number of tokens
  int k_max = 30;
  int stack = 6;  ///< number of products per prompt (J)
  HpdIsolation isolated = HpdIsolation::none;
};

/// The sequence s = prompt + skeleton with its labels, and the places of the values (paper,
/// Algorithm 2). Skeleton segments and values count from 0.
struct HpdLayout {
  Tokens tokens;                 ///< s
  std::vector<RowLabel> labels;  ///< labels of s
  int prompt_length = 0;         ///< number of tokens of the prompt, which is the beginning of s
  /// per value r: index of end(seg_r) in s, i.e. of the last token of its skeleton segment. The row
  /// of this token predicts the first token of the value.
  std::vector<int> end;
  /// per value r: the visibility segment of its tokens. It is 0 with HpdIsolation::none, r + 1 with
  /// `values`, and 1 plus the index of the value's product with `products`.
  std::vector<int> segment;
  int k_max = 0;  ///< HpdOptions::k_max

  /// Number of values: R = J * N, for J products with N fields each.
  int values() const { return static_cast<int>(end.size()); }
  /// Number of visibility segments other than segment 0. Each sees segment 0.
  int extra_segments() const;
  /// The label of v_{r,k}, k = 1..K_max: position pos(end(seg_r)) + k, rank k.
  RowLabel value(int r, int k) const;
  /// The last position that a value may use: |s| - 1 + R * K_max. The network must have this
  /// position.
  int last_position() const { return static_cast<int>(tokens.size()) - 1 + values() * k_max; }
};

/// Lays out a prompt and the skeleton of its answer. `segments`: the J * N skeleton segments, in
/// the order of products and fields. `products`: J, the number of products. ConfigError: a segment
/// has no tokens.
HpdLayout lay_out(const Tokens& prompt, const std::vector<Tokens>& segments, int products,
                  const HpdOptions& options);

/// The ids of each reference value ("n/a" if the value is absent) as they are in the JSON answer,
/// up to and including the first id with a line break, but at most `k_max` ids. `references`:
/// [product][field]; none: the value is absent. The result has one entry per value, in the order of
/// products and fields. Used for oracles and in training.
std::vector<Tokens> hpd_values(
    const std::vector<std::vector<std::optional<std::string>>>& references, int k_max,
    const Tokenizer& tokenizer);

/// The decoder's entry in the registry (decoders()).
DecoderEntry hpd_entry();

}  // namespace pardec
