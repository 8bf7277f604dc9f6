#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// A token that is found in a text before all other steps, with Hugging Face's flags.
struct NewToken {
  std::string content;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
  bool operator==(const NewToken&) const = default;
};

/// Token definitions in the files next to a tokenizer.json: tokenizer_config.json; and if that has
/// no `added_tokens_decoder`, special_tokens_map.json and added_tokens.json. Read as in
/// transformers 5.
struct TokensBeside {
  /// In the order in which transformers adds them to those of tokenizer.json. Existing tokens get
  /// these flags.
  std::vector<NewToken> added;
  /// `bos_token`, `eos_token` ... and their texts; the standard ones first.
  std::vector<std::pair<std::string, std::string>> named;
  /// Special tokens in a text are treated as text (`split_special_tokens`).
  bool split_special = false;

  /// The text of a named token; null if there is no such name.
  const std::string* find(std::string_view name) const;
};

/// Empty if there are no such files. `tokenizer`: the content of tokenizer.json. ConfigError,
/// DataError: an invalid token, with file and key.
TokensBeside read_tokens_beside(const std::filesystem::path& folder, const OrderedJson& tokenizer);
/// The same with the folder's tokenizer.json, which may be missing. For a GGUF file, or a folder
/// with one (gguf_file): the named tokens of its metadata.
TokensBeside read_tokens_beside(const std::filesystem::path& folder);

inline constexpr const char* kTokenizerConfig = "tokenizer_config.json";

}  // namespace pardec
