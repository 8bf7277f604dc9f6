#include "src/tokenizer/added_tokens.hpp"

#include <utf8proc.h>

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/utf8.hpp"

namespace pardec {

namespace {

/// Unicode's White_Space.
bool is_space(char32_t code) {
  return (code >= 0x9 && code <= 0xD) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

/// \w of Unicode's UTS #18, as new as the installed utf8proc (2.8: Unicode 14): letters, letter
/// numbers, marks, decimal digits, connectors, joiners, circled letters.
bool is_word(char32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return code == 0x200C || code == 0x200D || (code >= 0x24B6 && code <= 0x24E9) ||
             (code >= 0x1F130 && code <= 0x1F149) || (code >= 0x1F150 && code <= 0x1F169) ||
             (code >= 0x1F170 && code <= 0x1F189);
  }
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t before = begin, after = end;
  return (begin == 0 || !is_word(previous_code_point(text, before))) &&
         (end == text.size() || !is_word(next_code_point(text, after)));
}

std::size_t skip_spaces_back(std::string_view text, std::size_t begin, std::size_t limit) {
  while (begin > limit) {
    std::size_t before = begin;
    if (!is_space(previous_code_point(text, before))) break;
    begin = before;
  }
  return begin;
}

std::size_t skip_spaces(std::string_view text, std::size_t end) {
  while (end < text.size()) {
    std::size_t after = end;
    if (!is_space(next_code_point(text, after))) break;
    end = after;
  }
  return end;
}

}  // namespace

bool AddedTokens::Trie::insert(std::string_view text, Token id) {
  std::size_t node = 0;
  for (const char byte : text) {
    const auto [step, is_new] = nodes_[node].next.try_emplace(byte, nodes_.size());
    node = step->second;
    if (is_new) nodes_.emplace_back();
  }
  if (nodes_[node].id) return false;
  nodes_[node].id = id;
  return true;
}

std::optional<AddedTokens::Match> AddedTokens::Trie::longest(std::string_view text,
                                                             std::size_t begin) const {
  std::optional<Match> best;
  std::size_t node = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const auto step = nodes_[node].next.find(text[at]);
    if (step == nodes_[node].next.end()) break;
    node = step->second;
    if (nodes_[node].id) best = Match{at + 1, *nodes_[node].id};
  }
  return best;
}

AddedTokens::AddedTokens(const Json& json, const Vocabulary& vocabulary,
                         const Normalizer* normalizer, const std::string& where) {
  if (json.is_null()) return;
  if (!json.is_array()) throw ConfigError(str(where, " is no array, expected added tokens"));
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string place = str(where, "[", i, "]");
    JsonReader read(json[i], place);
    const Token id = read_token_id(read.any("id"), place);
    AddedToken token{.content = read.required<std::string>("content"),
                     .single_word = read.optional("single_word", false),
                     .lstrip = read.optional("lstrip", false),
                     .rstrip = read.optional("rstrip", false),
                     .special = read.optional("special", false)};
    const bool normalized = read.optional("normalized", !token.special);
    read.finish();
    if (token.content.empty())
      throw ConfigError(str(place, ": 'content' is empty, expected the token's text"));
    const Token expected = expected_id(token.content, vocabulary);
    if (id != expected || tokens_.contains(id)) {
      throw ConfigError(str(place, ": '", token.content, "' has id ", id, ", expected ",
                            tokens_.contains(id) ? "each token once" : str(expected)));
    }
    token.decoded =
        normalized && normalizer ? normalizer->apply(token.content, true) : token.content;
    if (token.decoded.empty()) {
      throw ConfigError(str(place, ": the normalizer makes '", token.content,
                            "' empty; expected 'normalized': false"));
    }
    if (!(normalized ? normalized_ : original_).insert(token.decoded, id)) {
      throw ConfigError(str(place, ": '", token.content, "' is found as '", token.decoded,
                            "', as an earlier token is; expected another text"));
    }
    if (token.special) special_.insert(token.content);
    ids_.emplace(token.content, id);
    tokens_.emplace(id, std::move(token));
  }
}

/// The id in the vocabulary, else the one behind it and behind all added so far.
Token AddedTokens::expected_id(const std::string& content, const Vocabulary& vocabulary) const {
  if (const auto known = id(content)) return *known;
  if (const auto known = vocabulary.id(content)) return *known;
  return std::max(size(), vocabulary.count());
}

std::vector<Section> AddedTokens::split(const Trie& trie, std::string_view text) const {
  std::vector<Section> out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<Match> match = trie.longest(text, at);
    if (!match) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = match->end;
    at = match->end;
    const AddedToken& token = tokens_.at(match->id);
    if (token.single_word && !stands_alone(text, begin, end)) continue;
    if (token.lstrip) begin = std::max(skip_spaces_back(text, begin, 0), done);
    if (token.rstrip) end = skip_spaces(text, end);
    if (done < begin) out.push_back({done, begin, std::nullopt});
    out.push_back({begin, end, match->id});
    done = end;
  }
  if (done < text.size()) out.push_back({done, text.size(), std::nullopt});
  return out;
}

std::optional<Token> AddedTokens::id(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const AddedTokens::AddedToken* AddedTokens::find(Token id) const {
  const auto found = tokens_.find(id);
  return found == tokens_.end() ? nullptr : &found->second;
}

const std::string* AddedTokens::token(Token id) const {
  const AddedToken* found = find(id);
  return found ? &found->content : nullptr;
}

const std::string* AddedTokens::decoded(Token id) const {
  const AddedToken* found = find(id);
  return found ? &found->decoded : nullptr;
}

bool AddedTokens::is_special(Token id) const {
  const AddedToken* found = find(id);
  return found && found->special;
}

bool AddedTokens::is_skipped(Token id) const {
  const AddedToken* found = find(id);
  return found && special_.contains(found->decoded);
}

}  // namespace pardec
