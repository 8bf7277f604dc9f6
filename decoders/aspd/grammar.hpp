#pragma once
// ASPD's control tokens, and where they are allowed. Used in decoding, for recordings, and in
// training.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// The control tokens <Title> </Title> <Branch> </Branch> <Para> </Para>.
struct AspdTokens {
  Token title, title_end, branch, branch_end, para, para_end;
  bool has(Token token) const;
};

/// Finds the control tokens. `given`: six ids or texts in the order above, separated by commas or
/// semicolons; empty: they are found by their names. `tokenizer`: if null, only ids can be given.
/// `trains`: see ControlToken::to_train. ConfigError: these are not six tokens, or
/// find_control_token fails.
AspdTokens find_aspd_tokens(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                            bool trains = false);

/// The forced beginning of branch T: <Branch> T ":". Without a tokenizer, the ":" is left out.
Tokens branch_prefix(const Tokens& title, const AspdTokens& tokens, const Tokenizer* tokenizer);

/// Tracks which control tokens may come next on the main branch, and the titles named so far.
class AspdGrammar {
 public:
  explicit AspdGrammar(const AspdTokens& tokens) : tokens_(tokens) {}

  /// Adds the next token of the main branch. If titles have been named, <Para> begins a block of
  /// branches, and the next token of the main branch must be </Para>.
  void take(Token token);
  /// The ids that must not come next.
  std::vector<Token> banned() const;
  /// The only ids that may come next. Empty: every id that is not banned.
  std::vector<Token> allowed() const;
  /// The ids that must not be chosen within a branch.
  std::vector<Token> banned_in_branch() const;
  /// The titles named since the last block, in order, without duplicates.
  const std::vector<Tokens>& titles() const { return titles_; }
  /// Whether `token` would begin a block if it came next.
  bool begins_block(Token token) const;
  /// Whether the last token is a part of the answer's text, i.e. not a control token and not in a
  /// title.
  bool in_text() const { return phase_ == Phase::text; }

 private:
  enum class Phase { text, control, after_block, after_title, in_title, after_title_end };
  AspdTokens tokens_;
  Phase phase_ = Phase::text;
  Tokens title_;  // the title that is being named
  std::vector<Tokens> titles_;
};

/// The streams of an answer: the main branch, and one stream per branch, up to and including its
/// </Branch> or end of sequence. They contain generated tokens only.
struct AspdStreams {
  Tokens main;
  std::vector<Tokens> branches;
};
/// Divides an answer in flattened order into streams. `lengths`: recorded lengths of branches. A
/// branch without a recorded length ends with its terminator; a branch that was cut by a limit
/// needs a length.
AspdStreams split_streams(const Tokens& flattened, const AspdTokens& tokens,
                          const std::vector<Token>& eos,
                          std::span<const std::int64_t> lengths = {});
/// The same for answer `index` of several. `lengths` has the entries of all answers, one answer
/// after another: the lengths of its branches, or, if it has no branches, its own length.
AspdStreams split_streams(const std::vector<Tokens>& flattened, int index, const AspdTokens& tokens,
                          const std::vector<Token>& eos, std::span<const std::int64_t> lengths);

}  // namespace pardec
