#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/support/json.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// A component that splits normalised text into words, and may rewrite the words. The model then
/// divides each word into tokens, so no token crosses the border of a word. Immutable.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Replaces each stretch in `words` by its words, in order. RunError: see Pattern::split and
  /// check_growth. REQUIRES: the stretches are valid UTF-8.
  virtual void apply(std::vector<Stretch>& words, Place place) const = 0;
};

/// Reads BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace
/// or WhitespaceSplit. Null: the JSON is null, since the file has no pre-tokenizer. ConfigError,
/// which starts with `where`: the JSON is invalid, or describes any other component.
std::unique_ptr<PreTokenizer> read_pre_tokenizer(const Json& json, const std::string& where);

}  // namespace pardec
