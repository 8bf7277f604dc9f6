#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/support/json.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// Cuts normalised text into the words inside which the model merges, and may rewrite them.
/// Immutable.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(std::vector<Stretch>& words, Place place) const = 0;
};

/// ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace, WhitespaceSplit; null
/// where the file has none. Errors are ConfigErrors that start with `where`.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json, const std::string& where);

}  // namespace pardec
