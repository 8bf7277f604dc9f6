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

/// Byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909): starts from characters, and
/// repeatedly joins the neighbours whose merge has the lowest rank, leftmost first, until no merge
/// applies. Immutable.
class Bpe {
 public:
  /// Reads the `model` object. ConfigErrors start with `where`.
  Bpe(const Json& json, const std::string& where);

  /// Buffers for reuse by one caller.
  struct Scratch;

  /// Appends the ids of one word. O(n log n) in the number of its characters. REQUIRES: valid UTF-8
  /// of less than 2 GiB.
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
  // by code point, for common characters; -1 if not in the vocabulary
  std::vector<Token> character_ids_;
};

struct Bpe::Scratch {
  /// A node of the word's linked list. `next` and `previous` are indices, or -1 at the ends. A
  /// removed node has id -1.
  struct Symbol {
    Token id;
    std::int32_t previous, next;
  };
  /// A merge that was possible when it was added: the rank in the upper half, the index of the left
  /// symbol in the lower half. The smallest value is the leftmost merge of the lowest rank.
  using Candidate = std::uint64_t;

  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

}  // namespace pardec
