#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// The tokens of a model and their ids, one to one; ids may have gaps.
class Vocabulary {
 public:
  /// The highest accepted id: 2^24 - 1, so that a wrong id does not cost gigabytes.
  static constexpr Token kMaxId = (1 << 24) - 1;

  /// Reads `{token: id, ...}`. ConfigError, which starts with `where`: an id is not an integer, out
  /// of range, or repeated.
  Vocabulary(const Json& json, const std::string& where);
  Vocabulary(Vocabulary&&) = default;

  std::optional<Token> id(std::string_view token) const;
  /// Empty if the id has no token.
  std::string_view token(Token id) const;
  /// Number of tokens.
  Token count() const { return static_cast<Token>(ids_.size()); }
  /// Highest id + 1.
  Token size() const { return static_cast<Token>(tokens_.size()); }

 private:
  std::vector<std::string> tokens_;                  // by id
  std::unordered_map<std::string_view, Token> ids_;  // keys point into tokens_
};

/// Reads a JSON id. ConfigError, which starts with `where`: it is out of range.
Token read_token_id(const Json& json, const std::string& where);

}  // namespace pardec
