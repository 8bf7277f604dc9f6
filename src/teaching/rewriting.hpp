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

/// ASPD's training data (paper, section 3.1): a teacher rewrites answers into branches; what it
/// writes is checked here, then voted on, and the most parallel rewrite that passes is learned.
namespace pardec {

/// Limits and numbers of the paper's pipeline.
struct RewriteRules {
  int candidates = 3;             ///< rewrites of each answer
  std::int64_t least_ids = 128;   ///< a shorter answer stays serial
  std::int64_t most_ids = 8000;   ///< so does one that is longer, with its prompt
  size_t most_branches = 10;      ///< of a group
  std::int64_t title_chars = 10;  ///< of a title at most, of a branch at least
  /// Of the answer's words, and of the rewrite's, in order, so many are the other's at least. (The
  /// paper leaves "lightly adjusted" to its votes.)
  double kept_words = 0.9;
};

/// How parallel an answer is, by the ids that its decoding would take, control tokens too.
struct Parallelism {
  ParallelCounts counts;  ///< without times
  double dp = 0, abn = 0;
  double efficiency = 0;  ///< (ids of branches - ids of titles) / ids of branches
};
Parallelism parallelism_of(const std::vector<MarkupPart>& parts, const Tokenizer& tokenizer);

/// What became of a rewrite.
struct RewriteFate {
  enum class Kind {
    chosen,
    not_needed,    ///< a more parallel one was chosen
    refused,       ///< by the teacher
    failed,        ///< the call did
    unreadable,    ///< the teacher's reply
    not_parallel,  ///< no group has two branches
    markup,        ///< these break a rule: tags, branches, titles, the answer's text
    branches,
    titles,
    text,
    dependent,  ///< these fell by votes
    form,
    content,
  };
  Kind kind = Kind::chosen;
  std::string what = "";  ///< in words, without the kind; may be empty

  std::string text() const;  ///< "titles: 'a' stands twice in a group"
};
std::string_view name(RewriteFate::Kind kind);

/// A teacher's markup as it can be learned, groups of one branch as serial text.
struct CheckedRewrite {
  std::vector<MarkupPart> parts;
  std::optional<RewriteFate> broken = std::nullopt;  ///< the rule that it breaks; none: no rule
};
CheckedRewrite check_rewrite(const std::string& markup, const std::string& answer,
                             const RewriteRules& rules = {});

struct RewriteTask {
  NamedRecord teacher;  ///< json: all that may change what it replies
  std::int64_t max_tokens = 8192;
  RewriteRules rules;
};

/// What became of an answer.
enum class RewriteState {
  parallel,  ///< it is markup
  serial,    ///< it is as it was
  left_out,  ///< it is not learned, and nor is one that is undecided
  undecided,
};
std::string_view name(RewriteState state);

struct RewrittenAnswer {
  std::string id, category, prompt, answer;
  RewriteState state = RewriteState::undecided;
  std::string reason;  ///< why it is not parallel; of a parallel one empty
  Parallelism parallelism;
  std::vector<RewriteFate> rewrites;
};

/// Of so many, so many passed.
struct StageCount {
  std::int64_t passed = 0, of = 0;
};

struct RewriteResult {
  std::vector<RewrittenAnswer> answers;                    ///< of the examples, in their order
  std::vector<std::pair<std::string, StageCount>> stages;  ///< in order
  std::map<std::string, std::int64_t> fell;                ///< rewrites, by kind of fate
  std::map<std::string, std::int64_t> reasons;             ///< answers not parallel, by reason
  std::int64_t calls = 0;                                  ///< replies that came

  std::int64_t count(RewriteState state) const;
};

/// Rewrites the answers (first references) of open prompts. Each reply is stored as it comes, and
/// one that is stored is not asked for again: a killed rewriting goes on. Errors of `ask` go
/// through; an `ask` that answers nothing leaves what depends on it undecided. An answer is
/// undecided, too, where a call failed for good. A dry run may have no store.
RewriteResult rewrite_answers(Store* store, const RewriteTask& task,
                              const std::vector<Example>& examples, const Tokenizer& tokenizer,
                              const AskService& ask,
                              const std::function<void(std::int64_t calls)>& progress = {});

/// As dataset jsonl reads them, for `train --format aspd`; those that are not learned are not
/// there.
std::string rewritten_lines(const std::vector<RewrittenAnswer>& answers);
/// A line an answer: what became of it and of each of its rewrites.
std::string rewritten_details(const std::vector<RewrittenAnswer>& answers);

}  // namespace pardec
