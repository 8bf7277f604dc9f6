#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"
#include "src/tokenizer/normalizer.hpp"
#include "src/tokenizer/tokens_beside.hpp"
#include "src/tokenizer/vocabulary.hpp"

namespace pardec {

/// A part [begin, end) of a text, in bytes: an added token (`id` set), or text between added
/// tokens. If a token has the flag `lstrip` or `rstrip`, the section of the token includes the
/// white space on that side.
struct Section {
  std::size_t begin, end;
  std::optional<Token> id;
};

/// Tokens that are found in a text as a whole, before the rest of the text is split into words.
/// The leftmost match counts. If more than one token matches at the same place, the longest counts.
/// Immutable.
class AddedTokens {
 public:
  /// Reads the array `added_tokens` of a tokenizer.json (`json`; null: no tokens), and adds the
  /// tokens of `beside`. A token of the model's vocabulary keeps its id. As in PyPI `tokenizers`,
  /// the id of a new token is the larger of two numbers: the number of tokens in the vocabulary,
  /// and the highest id of an added token + 1. `normalizer`: applied to tokens with the flag
  /// `normalized`; may be null. ConfigError, which starts with `where`: the array is invalid, or
  /// has an id that differs from this rule, or the normaliser makes a token empty or equal to
  /// another token. RunError: see Normalizer::apply.
  AddedTokens(const Json& json, const TokensBeside& beside, const Vocabulary& vocabulary,
              const Normalizer* normalizer, const std::string& where);

  // Both functions divide a text into sections. split_original searches for the tokens without the
  // flag `normalized`, and expects text that is not normalised yet. split_normalized searches for
  // the tokens with this flag, and expects normalised text. With TokensBeside::split_special, both
  // functions ignore special tokens. REQUIRES: `text` is valid UTF-8.

  std::vector<Section> split_original(std::string_view text) const {
    return split(original_, text);
  }
  std::vector<Section> split_normalized(std::string_view text) const {
    return split(normalized_, text);
  }

  /// The id of an added token; none: no added token has this text.
  std::optional<Token> id(std::string_view token) const;
  /// The token's text; null if the id is not an added token.
  const std::string* token(Token id) const;
  /// The text that decoding passes to the TokenDecoder: the token's text, or, with the flag
  /// `normalized`, its normalised text. Null if the id is not an added token.
  const std::string* decoded(Token id) const;
  /// Whether Tokenizer::decode with skip_special leaves out the id. As in PyPI `tokenizers`, an id
  /// is left out if its decoded() equals the text of a special token, which need not be the same
  /// token.
  bool is_skipped(Token id) const;
  bool is_special(Token id) const;
  /// All tokens as the array `added_tokens` of a tokenizer.json, with all flags, sorted by id.
  OrderedJson json() const;
  /// The highest id + 1; 0 if there are no tokens.
  Token size() const { return tokens_.empty() ? 0 : tokens_.rbegin()->first + 1; }

 private:
  struct AddedToken : NewToken {
    std::string decoded;
  };
  struct Match {
    std::size_t end;
    Token id;
  };
  /// A set of texts, stored as a tree over their bytes.
  class Trie {
   public:
    /// Returns false if the set already contains the text.
    bool insert(std::string_view text, Token id);
    /// The longest text of the set that is in `text` at `begin`.
    std::optional<Match> longest(std::string_view text, std::size_t begin) const;

   private:
    struct Node {
      std::map<char, std::size_t> next;
      std::optional<Token> id;
    };
    std::vector<Node> nodes_{1};
  };

  void add(NewToken token, Token id);
  void index(const Normalizer* normalizer, bool split_special, const std::string& where);
  std::vector<Section> split(const Trie& trie, std::string_view text) const;
  Token expected_id(const std::string& content, const Vocabulary& vocabulary) const;
  const AddedToken* find(Token id) const;

  std::map<Token, AddedToken> tokens_;
  std::map<std::string, Token, std::less<>> ids_;
  std::set<std::string> special_;
  Trie original_, normalized_;
};

}  // namespace pardec
