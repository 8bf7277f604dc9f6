#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// A stretch of normalised text inside which the model merges.
struct Word {
  std::string text;
  bool at_start;  ///< begins where the whole text begins
};

/// Cuts words into smaller ones, and may rewrite them. Immutable.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// `prefix` is false where the words go on from an earlier piece: nothing is put in front of them
  /// then.
  virtual void apply(std::vector<Word>& words, bool prefix) const = 0;
};

/// ByteLevel, Metaspace, Sequence, Split; null where the file has none. Errors are ConfigErrors
/// that start with `where`.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json, const std::string& where);

}  // namespace pardec
