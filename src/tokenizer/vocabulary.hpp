#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// A model's tokens and their ids, one to one; ids may have gaps.
class Vocabulary {
 public:
  /// The highest id that a file may hold: 2^24 - 1, so that a wrong one costs no gigabytes.
  static constexpr Token kMaxId = (1 << 24) - 1;

  /// Reads `{token: id, ...}`. ConfigError, which starts with `where`, on ids that are no whole
  /// numbers, out of range or given twice.
  Vocabulary(const Json& json, const std::string& where);
  Vocabulary(Vocabulary&&) = default;

  std::optional<Token> id(std::string_view token) const;
  /// Empty where the id has no token.
  std::string_view token(Token id) const;
  /// How many tokens there are.
  Token count() const { return static_cast<Token>(ids_.size()); }
  /// Highest id + 1.
  Token size() const { return static_cast<Token>(tokens_.size()); }

 private:
  std::vector<std::string> tokens_;                  // by id
  std::unordered_map<std::string_view, Token> ids_;  // keys point into tokens_
};

/// A JSON id in range, else a ConfigError that starts with `where`.
Token read_token_id(const Json& json, const std::string& where);

}  // namespace pardec
