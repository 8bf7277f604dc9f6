#pragma once
// ASPD's control tokens, and where they are allowed: in decoding, recordings, and training.
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

/// `given`: six ids or texts in the order above, separated by commas or semicolons; empty: found by
/// name. `tokenizer` may be null; then only ids can be given. ConfigError: not six tokens, or one
/// that find_control_token does not find.
AspdTokens find_aspd_tokens(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                            bool trains = false);

/// <Branch> T ":", the forced beginning of branch T. Without a tokenizer, there is no ":".
Tokens branch_prefix(const Tokens& title, const AspdTokens& tokens, const Tokenizer* tokenizer);

/// Tracks the control tokens that may come next on the main branch, and the titles named so far.
class AspdGrammar {
 public:
  explicit AspdGrammar(const AspdTokens& tokens) : tokens_(tokens) {}

  /// Takes the next token of the main branch. If titles have been named, <Para> begins a block of
  /// branches; the next token of the main branch is then </Para>.
  void take(Token token);
  /// Ids that may not follow the last token taken.
  std::vector<Token> banned() const;
  /// The only ids that may follow the last token taken. Empty: every id that is not banned may.
  std::vector<Token> allowed() const;
  /// Ids that may never be chosen inside a branch.
  std::vector<Token> banned_in_branch() const;
  /// Titles named since the last block, in order, without duplicates.
  const std::vector<Tokens>& titles() const { return titles_; }
  /// Whether `token` would begin a block.
  bool begins_block(Token token) const;
  /// Whether the last token taken is part of the answer's text: not a control token, and not in a
  /// title.
  bool in_text() const { return phase_ == Phase::text; }

 private:
  enum class Phase { text, control, after_block, after_title, in_title, after_title_end };
  AspdTokens tokens_;
  Phase phase_ = Phase::text;
  Tokens title_;  // the title that is being named
  std::vector<Tokens> titles_;
};

/// The ids of an answer in flattened order (main branch and branches, generated tokens only),
/// divided into streams: `main`, and one stream per branch, up to and including its </Branch> or
/// end of sequence.
struct AspdStreams {
  Tokens main;
  std::vector<Tokens> branches;
};
/// `lengths`: recorded lengths of the branches. A branch without a recorded length ends with its
/// terminator, so a branch that a limit cut off needs its length.
AspdStreams split_streams(const Tokens& flattened, const AspdTokens& tokens,
                          const std::vector<Token>& eos,
                          std::span<const std::int64_t> lengths = {});
/// The same for answer number `index` of several. `lengths` has the lengths of all answers, one
/// after another: those of an answer's branches, or for an answer without branches the length of
/// the answer.
AspdStreams split_streams(const std::vector<Tokens>& flattened, int index, const AspdTokens& tokens,
                          const std::vector<Token>& eos, std::span<const std::int64_t> lengths);

}  // namespace pardec
