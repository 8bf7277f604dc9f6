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

/// Makes ASPD's training data (paper, section 3.1). A teacher (a chat service) rewrites answers
/// into branches. The rewrites are checked against rules, then by votes. Of those that pass, the
/// most parallel one becomes training data.
namespace pardec {

/// The limits of the paper's pipeline.
struct RewriteRules {
  int candidates = 3;             ///< number of rewrites per answer
  std::int64_t least_ids = 128;   ///< shorter answers stay serial
  std::int64_t most_ids = 8000;   ///< longer answers (including their prompt) stay serial
  size_t most_branches = 10;      ///< maximum number of branches in a group
  std::int64_t title_chars = 10;  ///< maximum length of a title, and minimum length of a branch
  /// Minimum share of the answer's words that are in the rewrite, in the same order, and of the
  /// rewrite's words that are in the answer. (The paper allows "lightly adjusted" text, and leaves
  /// this to the votes.)
  double kept_words = 0.9;
};

/// How parallel an answer is, counted in tokens including control tokens.
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
    unreadable,    ///< the teacher's reply is not readable
    not_parallel,  ///< no group has at least two branches
    markup,        ///< the four kinds from here to `text`: the rewrite breaks a rule about this
    branches,
    titles,
    text,
    dependent,  ///< the three kinds from here on: rejected by votes
    form,
    content,
  };
  Kind kind = Kind::chosen;
  std::string what = "";  ///< details, without the kind; may be empty

  std::string text() const;  ///< e.g. "titles: 'a' occurs twice in a group"
};
std::string_view name(RewriteFate::Kind kind);

/// A teacher's markup, converted for training: groups of one branch become serial text.
struct CheckedRewrite {
  std::vector<MarkupPart> parts;
  /// the rule that the rewrite breaks; none: it breaks no rule
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
  parallel,  ///< the answer was rewritten
  serial,    ///< the answer is used unchanged
  left_out,  ///< the answer is not used
  undecided,
};
std::string_view name(RewriteState state);

struct RewrittenAnswer {
  std::string id, category, prompt, answer;
  RewriteState state = RewriteState::undecided;
  std::string reason;  ///< why the answer is not parallel; empty if it is
  Parallelism parallelism;
  std::vector<RewriteFate> rewrites;
};

/// A stage of the pipeline: `of` items reached it, and `passed` of these passed it.
struct StageCount {
  std::int64_t passed = 0, of = 0;
};

struct RewriteResult {
  std::vector<RewrittenAnswer> answers;                    ///< in the order of the given examples
  std::vector<std::pair<std::string, StageCount>> stages;  ///< (name, counts), in order
  std::map<std::string, std::int64_t> fell;                ///< outcome -> number of rewrites
  /// reason -> number of answers that are not parallel
  std::map<std::string, std::int64_t> reasons;
  std::int64_t calls = 0;  ///< number of replies that arrived

  std::int64_t count(RewriteState state) const;
};

/// Rewrites the answers (first references) of open prompts. Each reply is stored as it arrives, and
/// stored replies are used again, so that a rewriting that was killed can be resumed. Errors of
/// `ask` are passed on. If `ask` returns early, or a call failed permanently, the answers that
/// depend on missing replies stay undecided. `store`: may be null in a dry run.
RewriteResult rewrite_answers(Store* store, const RewriteTask& task,
                              const std::vector<Example>& examples, const Tokenizer& tokenizer,
                              const AskService& ask,
                              const std::function<void(std::int64_t calls)>& progress = {});

/// The answers as JSON lines (own_jsonl.hpp) for `train --format aspd`. Answers that are left out
/// or undecided are not included.
std::string rewritten_lines(const std::vector<RewrittenAnswer>& answers);
/// All answers, one JSON line each, with their outcomes and their rewrites' outcomes.
std::string rewritten_details(const std::vector<RewrittenAnswer>& answers);

}  // namespace pardec
