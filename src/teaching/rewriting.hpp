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

/// Makes the training data of ASPD (arXiv:2508.08895, section 3.1). A teacher (a network behind a
/// chat service) rewrites each answer into branches several times. The rewrites are checked by
/// rules, then by votes of the teacher (rewrite_votes.hpp). The most parallel rewrite that passes
/// all checks becomes training data.
namespace pardec {

/// The limits of the pipeline. The defaults are the paper's, unless a comment says otherwise.
struct RewriteRules {
  int candidates = 3;            ///< number of rewrites of each answer, at least 1
  std::int64_t least_ids = 128;  ///< answers with fewer tokens are not rewritten
  /// Answers that have more tokens, together with their prompt, are not rewritten.
  std::int64_t most_ids = 8000;
  size_t most_branches = 10;  ///< maximum number of branches in a group
  /// Maximum length of a title, and minimum length of a branch, in characters. A branch must also
  /// be longer than its title.
  std::int64_t title_chars = 10;
  /// Lower limit for two shares: the share of the answer's words that are in the rewrite, in the
  /// same order (recall of ROUGE-L), and the share of the rewrite's words that are in the answer
  /// (precision of ROUGE-L). The paper has no such limit: it allows "lightly adjusted" text, and
  /// leaves the decision to the votes.
  double kept_words = 0.9;
};

/// How parallel an answer is, counted in tokens including control tokens.
struct Parallelism {
  ParallelCounts counts;   ///< its times are 0
  double dp = 0, abn = 0;  ///< see ParallelMetrics
  /// (tokens of branches - tokens of titles) / tokens of branches; 0 without branches
  double efficiency = 0;
};
/// The parallelism of an answer with these parts. `tokenizer`: counts the tokens of each piece of
/// text.
Parallelism parallelism_of(const std::vector<MarkupPart>& parts, const Tokenizer& tokenizer);

/// The outcome of a rewrite.
struct RewriteOutcome {
  enum class Kind {
    chosen,        ///< becomes training data
    not_needed,    ///< a more parallel rewrite was chosen
    refused,       ///< the teacher refused
    failed,        ///< the call failed
    unreadable,    ///< the teacher's reply is not readable, or was cut short
    not_parallel,  ///< no group has at least two branches
    markup,        ///< the rewrite breaks a rule about the markup
    branches,      ///< the rewrite breaks a rule about branches
    titles,        ///< the rewrite breaks a rule about titles
    text,          ///< the rewrite keeps too few words, or has too many other words
    dependent,     ///< no group passed the votes on RewriteCheck::independence
    form,          ///< the rewrite failed the votes on RewriteCheck::format
    content,       ///< the rewrite failed the votes on RewriteCheck::integrity
  };
  Kind kind = Kind::chosen;
  std::string what = "";  ///< details, without the kind; may be empty

  std::string text() const;  ///< e.g. "titles: 'a' occurs twice in a group"
};
std::string_view name(RewriteOutcome::Kind kind);

/// A teacher's rewrite after the check against the rules.
struct CheckedRewrite {
  /// the parts of the rewrite, with groups of one branch as serial text; empty if a rule is broken
  std::vector<MarkupPart> parts;
  /// the rule that the rewrite breaks; none: it breaks no rule
  std::optional<RewriteOutcome> broken = std::nullopt;
};
/// Checks a rewrite by the rules. `markup`: the rewrite in ASPD's markup (parse_markup). `answer`:
/// the original answer. Invalid markup is a broken rule, not an error.
CheckedRewrite check_rewrite(const std::string& markup, const std::string& answer,
                             const RewriteRules& rules = {});

/// The teacher, the limit on the length of its replies, and the limits of the pipeline.
struct RewriteTask {
  NamedRecord teacher;             ///< its json has everything that may affect the replies
  std::int64_t max_tokens = 8192;  ///< maximum number of tokens of a reply
  RewriteRules rules;
};

/// The outcome of an original answer.
enum class RewriteState {
  parallel,   ///< a rewrite of the answer is used
  serial,     ///< the answer is used unchanged: too short, too long, or no rewrite passed
  left_out,   ///< the answer is not used: several turns, no answer, or markup in the answer
  undecided,  ///< a reply is missing, or a call failed
};
std::string_view name(RewriteState state);

/// An answer with its outcome.
struct RewrittenAnswer {
  std::string id, category, prompt;        ///< prompt: the example's text and question
  std::optional<std::string> system = {};  ///< see Example::system
  std::string answer;  ///< if parallel, the chosen rewrite in ASPD's markup; otherwise the original
  RewriteState state = RewriteState::undecided;
  std::string reason;       ///< why the answer is not parallel; empty: it is parallel
  Parallelism parallelism;  ///< of the chosen rewrite, if parallel
  /// outcomes of the answer's rewrites; a rewrite without an outcome so far is left out
  std::vector<RewriteOutcome> rewrites;
};

/// The counts of one stage of the pipeline: the number of items that reached the stage (`of`), and
/// the number of these that passed (`passed`). The name of the stage in RewriteResult::stages says
/// whether the items are answers, rewrites or groups.
struct StageCount {
  std::int64_t passed = 0, of = 0;
};

/// The outcomes of all answers.
struct RewriteResult {
  std::vector<RewrittenAnswer> answers;  ///< in the order of the given examples
  /// (name, counts), in the order of the pipeline
  std::vector<std::pair<std::string, StageCount>> stages;
  /// maps the name of a RewriteOutcome::Kind to the number of rewrites with this outcome
  std::map<std::string, std::int64_t> fell;
  /// maps "STATE: reason" to the number of answers that are not parallel for this reason
  std::map<std::string, std::int64_t> reasons;
  std::int64_t calls = 0;  ///< number of new replies

  std::int64_t count(RewriteState state) const;
};

/// Rewrites the answers of open prompts. The answer of an example is the first reference of its
/// first field. Each reply is stored when it arrives, and stored replies are used again, so that
/// a second call can continue the work of a process that was killed. If `ask` returns early, or a
/// call failed permanently, the answers that depend on missing replies stay undecided. `store`:
/// null if nothing is stored and `ask` sends nothing (a dry run). `progress`: called with the
/// number of new replies so far; may be empty. Errors: see Questioning and read_wording. Exceptions
/// of `ask` pass through. REQUIRES: each example has a field.
RewriteResult rewrite_answers(Store* store, const RewriteTask& task,
                              const std::vector<Example>& examples, const Tokenizer& tokenizer,
                              const AskService& ask,
                              const std::function<void(std::int64_t calls)>& progress = {});

/// The answers as JSON lines (own_jsonl.hpp) for `train --format aspd`. Answers that are left out
/// or undecided are not included.
std::string rewritten_lines(const std::vector<RewrittenAnswer>& answers);
/// The id and the outcome of each answer, with the outcomes of its rewrites, as JSON lines.
std::string rewritten_details(const std::vector<RewrittenAnswer>& answers);

}  // namespace pardec
