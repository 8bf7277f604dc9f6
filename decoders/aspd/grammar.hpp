#pragma once
// What ASPD's control tokens are, and where they may stand: in decoding, recordings, training.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// <Title> </Title> <Branch> </Branch> <Para> </Para>
struct AspdTokens {
  Token title, title_end, branch, branch_end, para, para_end;
  bool has(Token token) const;
};

/// `given`: six ids or texts, with commas or semicolons between them, in the order above; empty:
/// found by name. `tokenizer` may be null, then ids alone can be given. ConfigError.
AspdTokens find_aspd_tokens(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                            bool trains = false);

/// <Branch> T ":", with which branch T is forced to begin. Without a tokenizer there is no ":".
Tokens branch_prefix(const Tokens& title, const AspdTokens& tokens, const Tokenizer* tokenizer);

/// Which control tokens may come next on the main branch, and the titles it has named.
class AspdGrammar {
 public:
  explicit AspdGrammar(const AspdTokens& tokens) : tokens_(tokens) {}

  /// The main branch's next token; <Para> with titles named begins a block, after which the next is
  /// </Para>.
  void take(Token token);
  /// Ids that may not follow what was taken last.
  std::vector<Token> banned() const;
  /// Ids that alone may follow it; empty: all that are not banned.
  std::vector<Token> allowed() const;
  /// Ids that may never be chosen inside a branch.
  std::vector<Token> banned_in_branch() const;
  /// Titles named since the last block, without duplicates, in order.
  const std::vector<Tokens>& titles() const { return titles_; }
  /// Whether `token` would begin a block.
  bool begins_block(Token token) const;
  /// Whether the token taken last is part of the answer's text: no control token, in no title.
  bool in_text() const { return phase_ == Phase::text; }

 private:
  enum class Phase { text, control, after_block, after_title, in_title, after_title_end };
  AspdTokens tokens_;
  Phase phase_ = Phase::text;
  Tokens title_;  // the one that is being named
  std::vector<Tokens> titles_;
};

/// An answer's ids in flattened order (main branch and branches, chosen ids alone), cut into
/// streams: `main`, then those of each branch, through its </Branch> or end of sequence.
struct AspdStreams {
  Tokens main;
  std::vector<Tokens> branches;
};
/// `lengths`: of the branches as recorded, for those that a limit cut; one that is not there, or
/// without any, goes through its terminator.
AspdStreams split_streams(const Tokens& flattened, const AspdTokens& tokens,
                          const std::vector<Token>& eos,
                          std::span<const std::int64_t> lengths = {});
/// The same for answer number `index` of several. Each has its part of the lengths: one for itself
/// where it has no block.
AspdStreams split_streams(const std::vector<Tokens>& flattened, int index, const AspdTokens& tokens,
                          const std::vector<Token>& eos, std::span<const std::int64_t> lengths);

}  // namespace pardec
