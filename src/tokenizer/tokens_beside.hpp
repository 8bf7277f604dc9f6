#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// A token that is found in a text before anything else, with the flags of Hugging Face's.
struct NewToken {
  std::string content;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
  bool operator==(const NewToken&) const = default;
};

/// What the files beside a tokenizer.json say of its tokens: tokenizer_config.json, and where that
/// has no `added_tokens_decoder`, special_tokens_map.json and added_tokens.json, as transformers 5
/// reads them.
struct TokensBeside {
  /// In the order in which transformers adds them to those of tokenizer.json; one that is there
  /// gets these flags.
  std::vector<NewToken> added;
  /// `bos_token`, `eos_token` ... and their texts; the standard ones first.
  std::vector<std::pair<std::string, std::string>> named;
  /// Special tokens in a text are text (`split_special_tokens`).
  bool split_special = false;

  /// Null where it has no such name.
  const std::string* find(std::string_view name) const;
};

/// Empty where there are no such files. `tokenizer`: the tokenizer.json. ConfigError, DataError:
/// what is no token, with the file and the key.
TokensBeside read_tokens_beside(const std::filesystem::path& folder, const OrderedJson& tokenizer);
/// The same with the folder's tokenizer.json, which may be missing.
TokensBeside read_tokens_beside(const std::filesystem::path& folder);

inline constexpr const char* kTokenizerConfig = "tokenizer_config.json";

}  // namespace pardec
