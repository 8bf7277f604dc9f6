#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"
#include "src/tokenizer/vocabulary.hpp"

namespace pardec {

/// Byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909). The symbols of a word are first its
/// characters. Then the merge with the lowest rank joins two neighbouring symbols. This is repeated
/// until no merge applies. If the merge with the lowest rank applies at more than one place, the
/// leftmost place comes first. With the option `ignore_merges`, a word that is a token in the
/// vocabulary becomes this token. Immutable.
class Bpe {
 public:
  /// Reads the object `model` of a tokenizer.json. ConfigError, which starts with `where`: the
  /// object is invalid, or has a dropout, prefix or suffix, which are not supported.
  Bpe(const Json& json, const std::string& where);

  /// Buffers of `encode`, which a caller can use for many words.
  struct Scratch;

  /// Appends the ids of one word to `out`. If a character is not in the vocabulary, it becomes the
  /// tokens of its bytes (option `byte_fallback`) or otherwise the unknown token; if the model has
  /// neither, the character is left out. With the option `fuse_unk`, neighbouring unknown
  /// characters become one unknown token. Takes O(n log n) time for n characters. REQUIRES: `word`
  /// is valid UTF-8 of less than 2 GiB.
  void encode(std::string_view word, Scratch& scratch, Tokens& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  struct Merge {
    std::uint32_t rank;
    Token id;
  };
  /// An open-addressing table (left id, right id) -> merge, at most half full.
  class MergeTable {
   public:
    void reserve(std::size_t merges);
    void insert(Token left, Token right, Merge merge);
    const Merge* find(Token left, Token right) const;

   private:
    struct Entry {
      std::uint64_t key = kEmpty;
      Merge merge{};
    };
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    std::size_t slot(std::uint64_t key) const;
    std::vector<Entry> entries_;
    int shift_ = 64;
  };

  void read_merges(const Json& json, const std::string& where);
  void index_characters();
  void start(std::string_view word, Scratch& scratch) const;
  bool start_bytes(std::string_view character, Scratch& scratch) const;
  void merge(Scratch& scratch) const;

  Vocabulary vocabulary_;
  MergeTable merges_;
  std::optional<Token> unknown_;
  bool fuse_unknown_ = false, byte_fallback_ = false, ignore_merges_ = false;
  std::array<Token, 256> bytes_{};  // "<0x00>" .. "<0xFF>"; -1 if not in the vocabulary
  // code point -> id, for common characters; -1 if not in the vocabulary
  std::vector<Token> character_ids_;
};

struct Bpe::Scratch {
  /// A node of the linked list of a word's symbols. `next` and `previous` are indices, or -1 at the
  /// ends. A removed node has id -1.
  struct Symbol {
    Token id;
    std::int32_t previous, next;
  };
  /// A merge that was possible when it was added to the heap. The upper half is the merge's rank,
  /// the lower half the index of the left symbol. Thus the smallest value is the leftmost merge
  /// with the lowest rank.
  using Candidate = std::uint64_t;

  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

}  // namespace pardec
