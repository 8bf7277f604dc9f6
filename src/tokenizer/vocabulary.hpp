#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// A one-to-one map between tokens and ids. There may be gaps between ids.
class Vocabulary {
 public:
  /// The highest accepted id. Since memory is allocated for every id, a wrong id could otherwise
  /// cost gigabytes.
  static constexpr Token kMaxId = (1 << 24) - 1;

  /// Reads `{token: id, ...}`. ConfigError, which starts with `where`: the JSON is not an object,
  /// or an id is not an integer from 0 to kMaxId or occurs twice.
  Vocabulary(const Json& json, const std::string& where);
  Vocabulary(Vocabulary&&) = default;

  /// The id of a token; none: there is no such token.
  std::optional<Token> id(std::string_view token) const;
  /// The token of an id; empty if the id has none.
  std::string_view token(Token id) const;
  /// Number of tokens.
  Token count() const { return static_cast<Token>(ids_.size()); }
  /// The highest id + 1.
  Token size() const { return static_cast<Token>(tokens_.size()); }

 private:
  std::vector<std::string> tokens_;                  // id -> token
  std::unordered_map<std::string_view, Token> ids_;  // keys point into tokens_
};

/// The token for a byte, in vocabularies with such tokens: "<0x00>" to "<0xFF>". REQUIRES: 0 <=
/// byte < 256.
std::string byte_token(int byte);

/// Reads an id. ConfigError, which starts with `where`: it is not an integer from 0 to kMaxId.
Token read_token_id(const Json& json, const std::string& where);

}  // namespace pardec
