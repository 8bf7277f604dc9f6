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

/// A part of a text: an added token (`id` set), or text between added tokens. Offsets are in bytes.
/// A token that strips white space includes that white space.
struct Section {
  std::size_t begin, end;
  std::optional<Token> id;
};

/// Tokens that are found in the text before all other steps. The leftmost match wins, and of these
/// the longest. Immutable.
class AddedTokens {
 public:
  /// Reads the `added_tokens` array, and adds the tokens of the files next to tokenizer.json.
  /// `normalizer` may be null; it is applied to tokens with the flag `normalized`. Ids are those of
  /// the model's vocabulary; new tokens get the next free ids. ConfigError: other ids in the file.
  AddedTokens(const Json& json, const TokensBeside& beside, const Vocabulary& vocabulary,
              const Normalizer* normalizer, const std::string& where);

  /// Divides `text` into sections, by the tokens to be found in the original text or in the
  /// normalised text.
  std::vector<Section> split_original(std::string_view text) const {
    return split(original_, text);
  }
  std::vector<Section> split_normalized(std::string_view text) const {
    return split(normalized_, text);
  }

  std::optional<Token> id(std::string_view token) const;
  /// The token's text; null if the id is not an added token.
  const std::string* token(Token id) const;
  /// The text passed to decoders: for a normalised token, its normalised text.
  const std::string* decoded(Token id) const;
  /// Whether decoding without special tokens skips the id. As in PyPI `tokenizers`, a special token
  /// is kept if its decoded text differs from its own text.
  bool is_skipped(Token id) const;
  bool is_special(Token id) const;
  /// The tokens as `added_tokens` of a tokenizer.json, with all flags, in ascending order of ids.
  OrderedJson json() const;
  /// Highest id + 1.
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
    /// False if the set already contains the text.
    bool insert(std::string_view text, Token id);
    /// The longest text of the set that starts at `begin`.
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
