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
  /// Rewrites the tokens of one answer; what is left is joined.
  virtual void apply(std::vector<std::string>& tokens) const = 0;

  /// One token in the middle of an answer, where what a component does at an answer's beginning or
  /// end does not apply.
  struct Piece {
    std::string bytes;
    bool fused = false;  ///< behind Fuse there is only the whole answer
  };
  virtual void apply_inside(Piece& piece) const = 0;
};

/// ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip; null where the file has
/// none. Errors are ConfigErrors that start with `where`.
std::unique_ptr<TokenDecoder> read_decoder(const Json& json, const std::string& where);

}  // namespace pardec
