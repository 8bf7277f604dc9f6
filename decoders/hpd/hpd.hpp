#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Who may see whom among values: the paper's equations 4 to 6 would have none see another, its
/// text, algorithm and figure agree on `none`.
enum class HpdIsolation {
  none,      ///< as in the paper: a value token sees earlier values up to its own index
  values,    ///< no value sees another
  products,  ///< values see one another inside one product only
};

struct HpdOptions {
  int k_max = 30;  ///< K_max: positions reserved for a value, and tokens chosen for it at most
  int stack = 6;   ///< J: products in one prompt
  HpdIsolation isolated = HpdIsolation::none;
};

/// s = prompt + skeleton with its labels, and where values go (paper, Algorithm 2). Segments count
/// from 0.
struct HpdLayout {
  Tokens tokens;                 ///< s
  std::vector<RowLabel> labels;  ///< of s
  int prompt_length = 0;
  std::vector<int> end;  ///< index in s of end(seg_r): its row predicts the first token of value r
  std::vector<int>
      segment;  ///< visibility segment of value r's tokens: 0, or one per value or product
  int k_max = 0;

  /// R = J * N.
  int values() const { return static_cast<int>(end.size()); }
  /// Visibility segments besides segment 0; each sees it.
  int extra_segments() const;
  /// Label of v_{r,k}, k = 1..K_max: pos(end(seg_r)) + k, rank k.
  RowLabel value(int r, int k) const;
  /// The last position that a value could take: |s| - 1 + R * K_max. It must fit the network's
  /// context.
  int last_position() const { return static_cast<int>(tokens.size()) - 1 + values() * k_max; }
};

/// `segments` holds J * N of them, product-major; each is at least one token, else ConfigError.
HpdLayout lay_out(const Tokens& prompt, const std::vector<Tokens>& segments, int products,
                  const HpdOptions& options);

/// The ids to choose for each value of right answers, product-major: through the first with a line
/// break, K_max at most; the absent as "n/a". What is forced under an oracle, and taught in
/// training.
std::vector<Tokens> hpd_values(
    const std::vector<std::vector<std::optional<std::string>>>& references, int k_max,
    const Tokenizer& tokenizer);

DecoderEntry hpd_entry();

}  // namespace pardec
