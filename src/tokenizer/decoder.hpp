#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// Turns tokens back into text. Immutable.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  /// Rewrites the tokens of one answer. The caller joins the resulting tokens.
  virtual void apply(std::vector<std::string>& tokens) const = 0;

  /// One token in the middle of an answer: rules for the beginning or end of an answer do not
  /// apply.
  struct Piece {
    std::string bytes;
    bool fused = false;  ///< after Fuse, components see the whole answer as one token
  };
  virtual void apply_inside(Piece& piece) const = 0;
};

/// Supports ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip; null if the file
/// has no decoder. ConfigErrors start with `where`.
std::unique_ptr<TokenDecoder> read_decoder(const Json& json, const std::string& where);

}  // namespace pardec
