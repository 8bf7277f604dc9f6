#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/support/json.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// Splits normalised text into words, and may rewrite them. The model merges only inside words.
/// Immutable.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(std::vector<Stretch>& words, Place place) const = 0;
};

/// Supports ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace,
/// WhitespaceSplit; null if the file has no pre-tokenizer. ConfigErrors start with `where`.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json, const std::string& where);

}  // namespace pardec
