#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// A component that converts tokens to text. Immutable.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  /// Rewrites the tokens of one answer, which are given in order. Afterwards, the concatenation of
  /// `tokens` is the text of the answer. RunError: see Pattern::split and check_growth.
  virtual void apply(std::vector<std::string>& tokens) const = 0;

  /// A token in the middle of an answer, to which the rules for an answer's beginning and end do
  /// not apply.
  struct Piece {
    std::string bytes;  ///< the token's text, which the components rewrite one after another
    /// whether a Fuse was applied; a later Strip then strips only the ends of the whole answer, and
    /// leaves this token as it is
    bool fused = false;
  };
  /// Rewrites a token in the middle of an answer. After the outermost component, `piece.bytes` is
  /// the token's part of the answer's text. RunError: see apply().
  virtual void apply_inside(Piece& piece) const = 0;
};

/// Reads ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip or WordPiece. Null: the
/// file has no decoder. ConfigError, which starts with `where`: the JSON is invalid, or describes
/// any other component.
std::unique_ptr<TokenDecoder> read_decoder(const Json& json, const std::string& where);

}  // namespace pardec
