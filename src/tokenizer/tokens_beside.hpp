#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// An added token with Hugging Face's flags. `single_word`: matches only where no word character is
/// next to the token. `lstrip`, `rstrip`: also takes the white space on its left or right.
/// `normalized`: the token is searched for in the normalised text. `special`: decoding can leave
/// the token out.
struct NewToken {
  std::string content;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
  bool operator==(const NewToken&) const = default;
};

/// The token definitions in files next to a tokenizer.json, read as in transformers 5. The files
/// are tokenizer_config.json and, if tokenizer_config.json has no `added_tokens_decoder`, also
/// special_tokens_map.json and added_tokens.json.
struct TokensBeside {
  /// Tokens to add to those of tokenizer.json, in transformers' order. If tokenizer.json already
  /// has one of these tokens, the flags given here replace its flags.
  std::vector<NewToken> added;
  /// Pairs (name, text) for `bos_token`, `eos_token` and other names; the standard names come
  /// first.
  std::vector<std::pair<std::string, std::string>> named;
  /// Whether special tokens in a text are treated as ordinary text (`split_special_tokens`).
  bool split_special = false;

  /// The text of a named token; null if there is no such name.
  const std::string* find(std::string_view name) const;
};

/// Reads the files in `folder`; the result is empty if there are none. `tokenizer`: the content of
/// the folder's tokenizer.json. ConfigError, DataError: a file is invalid; the message names file
/// and key.
TokensBeside read_tokens_beside(const std::filesystem::path& folder, const OrderedJson& tokenizer);
/// Reads the files in `folder` and, if there is one, the folder's tokenizer.json. If `folder` is a
/// GGUF file, or a folder with such a file (gguf_file), the result has only the named tokens of the
/// file's metadata. ConfigError, DataError: a file is invalid; the message names file and key.
/// ModelError: the GGUF file is invalid.
TokensBeside read_tokens_beside(const std::filesystem::path& folder);

inline constexpr const char* kTokenizerConfig = "tokenizer_config.json";

}  // namespace pardec
