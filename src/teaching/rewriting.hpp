#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/dataset.hpp"
#include "decoders/branch_markup.hpp"
#include "metrics/decoding_metrics.hpp"
#include "src/asking/asking.hpp"
#include "src/tokenizer/tokenizer.hpp"

/// ASPD's training data (paper, section 3.1): a teacher rewrites answers into branches. Its
/// rewrites are checked against rules, then voted on, and the most parallel one that passes becomes
/// training data.
namespace pardec {

/// Limits and numbers of the paper's pipeline.
struct RewriteRules {
  int candidates = 3;             ///< number of rewrites of each answer
  std::int64_t least_ids = 128;   ///< shorter answers stay serial
  std::int64_t most_ids = 8000;   ///< answers that are longer, including their prompt, stay serial
  size_t most_branches = 10;      ///< in a group
  std::int64_t title_chars = 10;  ///< maximum length of a title, and minimum length of a branch
  /// Minimum share of the answer's words that the rewrite contains in order, and of the rewrite's
  /// words that the answer contains. (The paper leaves "lightly adjusted" to its votes.)
  double kept_words = 0.9;
};

/// How parallel an answer is, in tokens of its decoding, including control tokens.
struct Parallelism {
  ParallelCounts counts;  ///< without times
  double dp = 0, abn = 0;
  double efficiency = 0;  ///< (ids of branches - ids of titles) / ids of branches
};
Parallelism parallelism_of(const std::vector<MarkupPart>& parts, const Tokenizer& tokenizer);

/// The outcome of a rewrite.
struct RewriteFate {
  enum class Kind {
    chosen,
    not_needed,    ///< a more parallel rewrite was chosen
    refused,       ///< the teacher refused
    failed,        ///< the call failed
    unreadable,    ///< the teacher's reply cannot be read
    not_parallel,  ///< no group has two branches
    markup,        ///< this and the next three: it breaks a rule about tags, branches, titles, text
    branches,
    titles,
    text,
    dependent,  ///< this and the next two: rejected by votes
    form,
    content,
  };
  Kind kind = Kind::chosen;
  std::string what = "";  ///< details, without the kind; may be empty

  std::string text() const;  ///< "titles: 'a' occurs twice in a group"
};
std::string_view name(RewriteFate::Kind kind);

/// A teacher's markup in the form for training, with groups of one branch turned into serial text.
struct CheckedRewrite {
  std::vector<MarkupPart> parts;
  /// the rule that it breaks; none: it breaks no rule
  std::optional<RewriteFate> broken = std::nullopt;
};
CheckedRewrite check_rewrite(const std::string& markup, const std::string& answer,
                             const RewriteRules& rules = {});

struct RewriteTask {
  NamedRecord teacher;  ///< json: everything that may affect its replies
  std::int64_t max_tokens = 8192;
  RewriteRules rules;
};

/// The outcome of an answer.
enum class RewriteState {
  parallel,  ///< it became markup
  serial,    ///< it is unchanged
  left_out,  ///< not part of the training data, like undecided answers
  undecided,
};
std::string_view name(RewriteState state);

struct RewrittenAnswer {
  std::string id, category, prompt, answer;
  RewriteState state = RewriteState::undecided;
  std::string reason;  ///< why it is not parallel; empty for a parallel answer
  Parallelism parallelism;
  std::vector<RewriteFate> rewrites;
};

/// The number of items that passed a stage, and the number of items in it.
struct StageCount {
  std::int64_t passed = 0, of = 0;
};

struct RewriteResult {
  std::vector<RewrittenAnswer> answers;                    ///< in the order of the examples
  std::vector<std::pair<std::string, StageCount>> stages;  ///< in order
  std::map<std::string, std::int64_t> fell;                ///< number of rewrites by outcome
  /// number of answers that are not parallel, by reason
  std::map<std::string, std::int64_t> reasons;
  std::int64_t calls = 0;  ///< number of replies that arrived

  std::int64_t count(RewriteState state) const;
};

/// Rewrites the answers (first references) of open prompts. Each reply is stored as it arrives, and
/// stored replies are not asked for again, so that a rewriting that was killed can be resumed.
/// Errors of `ask` are passed on. If `ask` returns without an answer, everything that depends on it
/// stays undecided; so does an answer with a call that failed permanently. In a dry run, `store`
/// may be null.
RewriteResult rewrite_answers(Store* store, const RewriteTask& task,
                              const std::vector<Example>& examples, const Tokenizer& tokenizer,
                              const AskService& ask,
                              const std::function<void(std::int64_t calls)>& progress = {});

/// The answers in the jsonl form of datasets, for `train --format aspd`. Answers that are not
/// training data are left out.
std::string rewritten_lines(const std::vector<RewrittenAnswer>& answers);
/// One line per answer, with its outcome and those of its rewrites.
std::string rewritten_details(const std::vector<RewrittenAnswer>& answers);

}  // namespace pardec
