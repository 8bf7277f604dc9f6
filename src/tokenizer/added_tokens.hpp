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

/// A part of a text: an added token (`id` set), or what stands between two. Offsets are bytes;
/// those of a token that strips white space include it.
struct Section {
  std::size_t begin, end;
  std::optional<Token> id;
};

/// Tokens that are found in the text before anything else: the longest of the leftmost wins.
/// Immutable.
class AddedTokens {
 public:
  /// Reads the `added_tokens` array, and adds those of the files beside it. `normalizer` may be
  /// null; it rewrites tokens that are `normalized`. The ids are those of the model's vocabulary,
  /// for new tokens the next free ones; other ids in the file are a ConfigError.
  AddedTokens(const Json& json, const TokensBeside& beside, const Vocabulary& vocabulary,
              const Normalizer* normalizer, const std::string& where);

  /// Sections that cover `text`, by the tokens that are looked for in the original text, or in the
  /// normalised one.
  std::vector<Section> split_original(std::string_view text) const {
    return split(original_, text);
  }
  std::vector<Section> split_normalized(std::string_view text) const {
    return split(normalized_, text);
  }

  std::optional<Token> id(std::string_view token) const;
  /// The token's text, null where the id is none of them.
  const std::string* token(Token id) const;
  /// What decoders are given for it: a normalised token's normalised text.
  const std::string* decoded(Token id) const;
  /// Whether decoding without special tokens leaves it out. As in PyPI `tokenizers`, a special
  /// token whose decoded text is not its own text stays.
  bool is_skipped(Token id) const;
  bool is_special(Token id) const;
  /// As `added_tokens` of a tokenizer.json: ascending ids, all flags.
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
  /// A set of texts, as a tree over their bytes.
  class Trie {
   public:
    /// False when the text is there already.
    bool insert(std::string_view text, Token id);
    /// The longest text that begins at `begin`.
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
