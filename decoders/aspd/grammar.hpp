#pragma once
// ASPD's control tokens, and where they are allowed. Used in decoding, for oracles with recorded
// answers, and in training.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// The control tokens <Title> </Title> <Branch> </Branch> <Para> </Para>.
struct AspdTokens {
  Token title, title_end, branch, branch_end, para, para_end;
  /// Whether `token` is one of the six control tokens.
  bool has(Token token) const;
};

/// Finds the control tokens. `given`: six ids or texts in the order of AspdTokens, separated by
/// commas. If `given` is empty, the tokens are found by their names, e.g. `<Title>`, or else
/// `<|title|>` as in the official checkpoints. `tokenizer` may be null if `given` has ids only.
/// `vocab_size`: see find_control_token. `trains`: see ControlToken::to_train. ConfigError: see
/// find_control_token; `given` does not have six parts; or two of the tokens have the same id.
AspdTokens find_aspd_tokens(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                            bool trains = false);

/// The tokens that decoding inserts at the beginning of the branch with the title T:
/// <Branch> T ":". Without a tokenizer, the ":" is left out.
Tokens branch_prefix(const Tokens& title, const AspdTokens& tokens, const Tokenizer* tokenizer);

/// Tracks which control tokens may come next on the main branch, and collects the titles of the
/// next block of branches. The main branch names a title by <Title> ... </Title>.
class AspdGrammar {
 public:
  explicit AspdGrammar(const AspdTokens& tokens) : tokens_(tokens) {}

  /// Adds the next token of the main branch; tokens of branches are not added. REQUIRES: after a
  /// <Para> that begins a block (begins_block), the next added token is the block's </Para>.
  void take(Token token);
  /// The ids that must not be the next token of the main branch.
  std::vector<Token> banned() const;
  /// The only ids that may be the next token of the main branch. Empty: all ids except those of
  /// banned() may be next.
  std::vector<Token> allowed() const;
  /// The ids that must not be chosen within a branch.
  std::vector<Token> banned_in_branch() const;
  /// The titles named since the last block, in order, without duplicates.
  const std::vector<Tokens>& titles() const { return titles_; }
  /// Whether `token` would begin a block of branches as the next token. Only <Para> directly after
  /// a title does.
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

/// The streams of an answer. They contain generated tokens only, i.e. neither </Para> nor the
/// prefixes of branches. The stream of a branch includes its </Branch> or end of sequence.
struct AspdStreams {
  Tokens main;                   ///< the main branch
  std::vector<Tokens> branches;  ///< the branches of all blocks, in order
};
/// Divides the generated tokens of an answer into streams. `flattened`: the main branch up to the
/// beginning of a block, then the branches of the block one after another, then the main branch
/// again, and so on. `lengths`: recorded number of generated tokens of each branch; may have fewer
/// entries than there are branches. A branch without a recorded length ends with </Branch> or an
/// end-of-sequence id (`eos`); so a branch that was cut by a limit needs a recorded length.
AspdStreams split_streams(const Tokens& flattened, const AspdTokens& tokens,
                          const std::vector<Token>& eos,
                          std::span<const std::int64_t> lengths = {});
/// Divides answer `index` of several answers. `flattened`: the generated tokens of each answer.
/// `lengths` has the recorded lengths of all answers, one answer after another: for an answer with
/// branches, one length for each branch; for an answer without branches, the length of the answer.
/// REQUIRES: `index` is an index of `flattened`.
AspdStreams split_streams(const std::vector<Tokens>& flattened, int index, const AspdTokens& tokens,
                          const std::vector<Token>& eos, std::span<const std::int64_t> lengths);

}  // namespace pardec
