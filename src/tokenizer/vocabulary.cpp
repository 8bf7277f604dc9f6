#include "src/tokenizer/vocabulary.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string byte_token(int byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return str("<0x", digits[static_cast<std::size_t>(byte / 16)],
             digits[static_cast<std::size_t>(byte % 16)], ">");
}

Token read_token_id(const Json& json, const std::string& where) {
  const bool in_range = json.is_number_integer() && json >= 0 && json <= Vocabulary::kMaxId;
  if (!in_range) {
    throw ConfigError(str(where, " has id ", dump(json), ", expected a whole number from 0 to ",
                          Vocabulary::kMaxId));
  }
  return json.get<Token>();
}

Vocabulary::Vocabulary(const Json& json, const std::string& where) {
  if (!json.is_object()) throw ConfigError(str(where, " is no object, expected {token: id, ...}"));
  for (const auto& [token, value] : json.items()) {
    const Token id = read_token_id(value, str(where, ": token '", token, "'"));
    tokens_.resize(std::max(tokens_.size(), static_cast<std::size_t>(id) + 1));
    std::string& slot = tokens_[static_cast<std::size_t>(id)];
    if (!slot.empty()) {
      throw ConfigError(str(where, ": tokens '", slot, "' and '", token, "' both have id ", id,
                            ", expected one token for each id"));
    }
    slot = token;
  }
  ids_.reserve(json.size());
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    if (!tokens_[id].empty()) ids_.emplace(tokens_[id], static_cast<Token>(id));
  }
}

std::optional<Token> Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::string_view Vocabulary::token(Token id) const {
  return id >= 0 && id < size() ? std::string_view(tokens_[static_cast<std::size_t>(id)]) : "";
}

}  // namespace pardec
