#include "src/tokenizer/added_tokens.hpp"

#include <algorithm>

#include "src/support/characters.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

namespace {

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  std::size_t before = begin, after = end;
  return (begin == 0 || !is_word(previous_code_point(text, before))) &&
         (end == text.size() || !is_word(next_code_point(text, after)));
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

AddedTokens::AddedTokens(const Json& json, const TokensBeside& beside, const Vocabulary& vocabulary,
                         const Normalizer* normalizer, const std::string& where) {
  if (!json.is_null() && !json.is_array())
    throw ConfigError(str(where, " is no array, expected added tokens"));
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string place = str(where, "[", i, "]");
    JsonReader read(json[i], place);
    const Token id = read_token_id(read.any("id"), place);
    NewToken token{.content = read.required<std::string>("content"),
                   .single_word = read.optional("single_word", false),
                   .lstrip = read.optional("lstrip", false),
                   .rstrip = read.optional("rstrip", false),
                   .special = read.optional("special", false)};
    token.normalized = read.optional("normalized", !token.special);
    read.finish();
    if (token.content.empty())
      throw ConfigError(str(place, ": 'content' is empty, expected the token's text"));
    const Token expected = expected_id(token.content, vocabulary);
    if (id != expected || tokens_.contains(id)) {
      throw ConfigError(str(place, ": '", token.content, "' has id ", id, ", expected ",
                            tokens_.contains(id) ? "each token once" : str(expected)));
    }
    add(std::move(token), id);
  }
  for (const NewToken& token : beside.added) add(token, expected_id(token.content, vocabulary));
  index(normalizer, beside.split_special, where);
}

/// An existing token gets the new flags. A token that was special once is left out of decoded text,
/// as in PyPI `tokenizers`.
void AddedTokens::add(NewToken token, Token id) {
  if (token.special) special_.insert(token.content);
  ids_.emplace(token.content, id);
  tokens_.insert_or_assign(id, AddedToken{std::move(token), ""});
}

/// Builds the search trees.
void AddedTokens::index(const Normalizer* normalizer, bool split_special,
                        const std::string& where) {
  for (auto& [id, token] : tokens_) {
    token.decoded = token.content;
    if (token.normalized && normalizer) {
      Stretch stretch = Stretch::of_input(token.content, 0, token.content.size());
      normalizer->apply(stretch, Place::whole);
      token.decoded = std::move(stretch.text);
    }
    if (token.decoded.empty()) {
      throw ConfigError(str(where, ": the normalizer makes '", token.content,
                            "' empty; expected 'normalized': false"));
    }
    if (token.special && split_special) continue;
    if (!(token.normalized ? normalized_ : original_).insert(token.decoded, id)) {
      throw ConfigError(str(where, ": '", token.content, "' is found as '", token.decoded,
                            "', as an earlier token is; expected another text"));
    }
  }
}

/// The id in the vocabulary, or else the next free id after the vocabulary and all added tokens.
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

OrderedJson AddedTokens::json() const {
  OrderedJson all = OrderedJson::array();
  for (const auto& [id, token] : tokens_)
    all.push_back({{"id", id},
                   {"content", token.content},
                   {"single_word", token.single_word},
                   {"lstrip", token.lstrip},
                   {"rstrip", token.rstrip},
                   {"normalized", token.normalized},
                   {"special", token.special}});
  return all;
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
