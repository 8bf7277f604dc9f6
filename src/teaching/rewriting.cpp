#include "src/teaching/rewriting.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <set>
#include <tuple>

#include "judges/verdict.hpp"
#include "metrics/rouge.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"
#include "src/teaching/rewrite_votes.hpp"
#include "src/teaching/teacher.hpp"

namespace pardec {

namespace {

constexpr std::array<std::string_view, 6> kTags{"<Title>",   "</Title>", "<Branch>",
                                                "</Branch>", "<Para>",   "</Para>"};

bool has_tag(std::string_view text) {
  return std::any_of(kTags.begin(), kTags.end(), [&](std::string_view tag) {
    return text.find(tag) != std::string_view::npos;
  });
}

std::int64_t characters(std::string_view text) {
  std::int64_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) next_code_point(text, at);
  return count;
}

/// Words are sequences of ASCII without white space; every other character is a separate word,
/// since not all languages use spaces.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t code = next_code_point(text, at);
    if (code <= ' ') {
      open = false;
    } else if (code < 0x80 && open) {
      words.back() += text[begin];
    } else {
      words.emplace_back(text.substr(begin, at - begin));
      open = code < 0x80;
    }
  }
  return words;
}

/// The parts with only the groups selected by `keep`; other groups become serial text.
std::vector<MarkupPart> with_groups(const std::vector<MarkupPart>& parts,
                                    const std::function<bool(size_t part)>& keep) {
  std::vector<MarkupPart> out;
  std::string serial;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].branches.empty() || !keep(p)) {
      serial += markup_text({parts[p]});
      continue;
    }
    out.push_back({serial + parts[p].serial, parts[p].branches});
    serial.clear();
  }
  out.push_back({serial, {}});
  return out;
}

using Fate = RewriteOutcome::Kind;

/// The rule that a group breaks; none: it breaks no rule.
std::optional<RewriteOutcome> broken_rule(const MarkupPart& group, const RewriteRules& rules) {
  if (group.branches.size() > rules.most_branches)
    return {{Fate::branches, str("a group has ", group.branches.size(), ", at most ",
                                 rules.most_branches, " may be in it")}};
  std::set<std::string> titles;
  for (const auto& branch : group.branches) {
    const std::string& title = branch.title;
    const std::int64_t length = characters(title), content = characters(strip(branch.content));
    if (strip(title).empty() || length > rules.title_chars)
      return {{Fate::titles, str("'", title, "' has ", length, " characters, expected 1 to ",
                                 rules.title_chars)}};
    if (!titles.insert(title).second)
      return {{Fate::titles, str("'", title, "' occurs twice in a group")}};
    if (content < rules.title_chars || content <= length)
      return {{Fate::branches, str("'", title, "' has ", content, " characters, expected at least ",
                                   rules.title_chars, " and more than its title")}};
    if (has_tag(title) || has_tag(branch.content))
      return {{Fate::markup, "a tag is inside a branch"}};
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Fate kind) {
  switch (kind) {
    case Fate::chosen:
      return "chosen";
    case Fate::not_needed:
      return "not needed";
    case Fate::refused:
      return "refused";
    case Fate::failed:
      return "error";
    case Fate::unreadable:
      return "unreadable";
    case Fate::not_parallel:
      return "not parallel";
    case Fate::markup:
      return "markup";
    case Fate::branches:
      return "branches";
    case Fate::titles:
      return "titles";
    case Fate::text:
      return "text";
    case Fate::dependent:
      return "dependent";
    case Fate::form:
      return "form";
    case Fate::content:
      return "content";
  }
  return "";
}

std::string RewriteOutcome::text() const { return str(name(kind), what.empty() ? "" : ": ", what); }

std::string_view name(RewriteState state) {
  switch (state) {
    case RewriteState::parallel:
      return "parallel";
    case RewriteState::serial:
      return "serial";
    case RewriteState::left_out:
      return "left out";
    case RewriteState::undecided:
      return "undecided";
  }
  return "";
}

Parallelism parallelism_of(const std::vector<MarkupPart>& parts, const Tokenizer& tokenizer) {
  Parallelism of;
  const auto ids = [&](const std::string& text) {
    return std::ssize(tokenizer.encode_piece(text, false));
  };
  std::int64_t titles = 0;
  for (const MarkupPart& part : parts) {
    of.counts.generated += ids(part.serial);
    if (part.branches.empty()) continue;
    ++of.counts.groups;
    of.counts.branches += std::ssize(part.branches);
    of.counts.generated += 2;  // <Para> and </Para>
    for (const auto& branch : part.branches) {
      const std::int64_t title = ids(branch.title);
      titles += title;
      of.counts.generated += title + 2;
      of.counts.branch_tokens += title + ids(":") + ids(branch.content) + 2;
    }
  }
  of.counts.generated += of.counts.branch_tokens;
  const ParallelMetrics metrics = parallel_metrics({&of.counts, 1});
  of.dp = metrics.dp;
  of.abn = metrics.abn;
  if (of.counts.branch_tokens > 0)
    of.efficiency = static_cast<double>(of.counts.branch_tokens - titles) /
                    static_cast<double>(of.counts.branch_tokens);
  return of;
}

CheckedRewrite check_rewrite(const std::string& markup, const std::string& answer,
                             const RewriteRules& rules) {
  CheckedRewrite checked;
  try {
    checked.parts = parse_markup(markup, "the rewrite");
  } catch (const ConfigError& error) {
    return {{}, {{Fate::markup, error.what()}}};
  }
  checked.parts =
      with_groups(checked.parts, [&](size_t p) { return checked.parts[p].branches.size() > 1; });
  for (const MarkupPart& part : checked.parts) {
    if (has_tag(part.serial)) return {{}, {{Fate::markup, "a tag is outside of a group"}}};
    if (auto broken = broken_rule(part, rules)) return {{}, std::move(broken)};
  }
  if (checked.parts.size() == 1) return {{}, {{Fate::not_parallel, "no group has two branches"}}};
  const std::string text = markup_text(checked.parts);
  if (text.find(kVerdictOpens) != std::string::npos ||
      text.find(kVerdictCloses) != std::string::npos)
    return {{}, {{Fate::markup, "marks of the question are left in it"}}};
  const RougeScore kept = rouge_l(words_of(answer), words_of(text));
  if (kept.recall < rules.kept_words || kept.precision < rules.kept_words)
    return {
        {},
        {{Fate::text, str(percent(kept.recall), " of the answer's words are kept, and ",
                          percent(kept.precision), " of the rewrite's are the answer's; expected ",
                          percent(rules.kept_words), " or more")}}};
  return checked;
}

std::int64_t RewriteResult::count(RewriteState state) const {
  return std::count_if(answers.begin(), answers.end(),
                       [&](const RewrittenAnswer& answer) { return answer.state == state; });
}

namespace {

class Rewriting {
 public:
  Rewriting(Store* store, const RewriteTask& task, const std::vector<Example>& examples,
            const Tokenizer& tokenizer, const std::function<void(std::int64_t)>& progress)
      : task_(task),
        examples_(examples),
        tokenizer_(tokenizer),
        asking_(
            store, task.teacher, task.max_tokens, UselessReply::stands, [this] { return more(); },
            [this, &progress] {
              if (progress) progress(asking_.calls());
            }) {
    result_.answers.resize(examples.size());
    for (const char* name :
         {"answers to rewrite", "rewrites received", "rewrites that keep the text",
          "groups that are independent", "rewrites with such a group",
          "rewrites that keep the form", "rewrites with the same result", "answers in parallel"})
      result_.stages.emplace_back(name, StageCount());
  }

  Questioning& asking() { return asking_; }

  RewriteResult result() {
    result_.calls = asking_.calls();
    for (const RewrittenAnswer& answer : result_.answers) {
      if (answer.state != RewriteState::parallel)
        ++result_.reasons[str(name(answer.state), ": ", answer.reason)];
      for (const RewriteOutcome& rewrite : answer.rewrites)
        ++result_.fell[std::string(name(rewrite.kind))];
    }
    return std::move(result_);
  }

 private:
  enum Stage { given, came, kept, independent, parallel, form, same, chosen };

  struct Candidate {
    std::vector<MarkupPart> parts;
    std::optional<RewriteOutcome> fate;  ///< none: still open
    std::map<size_t, std::vector<RewriteVote>> groups;
    std::vector<RewriteVote> format, integrity;
    Parallelism parallelism;
  };

  /// An answer that is being processed.
  struct Work {
    RewrittenAnswer* answer;
    std::vector<Candidate> candidates;
    std::vector<Candidate*> best;  ///< candidates that passed independence, the most parallel first
    size_t at = 0;                 ///< index in `best` of the candidate being verified
    int open = 0;                  ///< questions without a reply
    std::string failed;            ///< the error of a question that failed permanently
    std::list<Work>::iterator place;
  };

  void count(Stage stage, bool passed) {
    StageCount& at = result_.stages[stage].second;
    ++at.of;
    at.passed += passed;
  }

  std::optional<Question> more() {
    while (at_ < examples_.size()) {
      const Example& example = examples_[at_];
      RewrittenAnswer& answer = result_.answers[at_++];
      begin(answer, example);
      count(given, answer.state == RewriteState::undecided);
      if (answer.state != RewriteState::undecided) continue;
      Work& work = works_.emplace_back();
      work.place = std::prev(works_.end());
      work.answer = &answer;
      work.candidates.resize(static_cast<size_t>(task_.rules.candidates));
      work.open = task_.rules.candidates;
      for (int c = 1; c < task_.rules.candidates; ++c) asking_.put(rewrite_question(work, c));
      return rewrite_question(work, 0);
    }
    return std::nullopt;
  }

  /// Handles everything that needs no question.
  void begin(RewrittenAnswer& answer, const Example& example) const {
    answer.id = example.id;
    answer.category = example.category;
    answer.system = example.system;
    const ExampleField& field = example.fields.front();
    using enum RewriteState;
    const auto is = [&](RewriteState state, std::string reason) {
      answer.state = state;
      answer.reason = std::move(reason);
    };
    if (example.fields.size() > 1)
      return is(left_out,
                str("it has several turns, and ", kMarkupFormat, " learns only the first one"));
    if (field.references.empty()) return is(left_out, "it has no answer");
    answer.prompt = str(example.text, example.text.empty() || field.question.empty() ? "" : "\n\n",
                        field.question);
    answer.answer = field.references.front();
    if (has_tag(answer.answer)) return is(left_out, "the answer holds tags of the markup");
    const auto ids = [&](const std::string& text) {
      return std::ssize(tokenizer_.encode_piece(text, false));
    };
    const std::int64_t length = ids(answer.answer);
    if (length < task_.rules.least_ids)
      return is(serial, str("fewer than ", task_.rules.least_ids, " ids"));
    if (length + ids(answer.prompt) > task_.rules.most_ids)
      return is(serial, str("more than ", task_.rules.most_ids, " ids with its prompt"));
    is(undecided, "a reply is missing");
  }

  Question rewrite_question(Work& work, int candidate) {
    Question question;
    question.inquiry = ask_rewrite(work.answer->prompt, work.answer->answer);
    question.vote = candidate;
    question.problem = [](std::string_view reply) { return read_rewrite(reply).problem; };
    question.take = [this, &work, candidate](const QuestionOutcome& outcome) {
      take_rewrite(work, work.candidates[static_cast<size_t>(candidate)], outcome);
      return std::vector<JudgmentRow>();
    };
    return question;
  }

  void take_rewrite(Work& work, Candidate& candidate, const QuestionOutcome& outcome) {
    --work.open;
    if (outcome.state == VoteState::error) work.failed = outcome.problem;
    const bool answered = outcome.state == VoteState::scored;
    count(came, answered);
    if (!answered) {
      candidate.fate = {outcome.state == VoteState::refused ? Fate::refused
                        : outcome.state == VoteState::error ? Fate::failed
                                                            : Fate::unreadable,
                        outcome.problem};
    } else if (const auto said = read_rewrite(outcome.reply.text); said.answer.empty()) {
      candidate.fate = {Fate::not_parallel, "the teacher says so"};
    } else {
      CheckedRewrite checked = check_rewrite(said.answer, work.answer->answer, task_.rules);
      candidate.fate = std::move(checked.broken);
      candidate.parts = std::move(checked.parts);
    }
    if (answered) count(kept, !candidate.fate);
    if (!candidate.fate)
      for (size_t p = 0; p < candidate.parts.size(); ++p) {
        if (candidate.parts[p].branches.empty()) continue;
        Rewrite rewrite = shown(work, candidate);
        rewrite.before = markup_text({candidate.parts.begin(),
                                      candidate.parts.begin() + static_cast<std::ptrdiff_t>(p)}) +
                         candidate.parts[p].serial;
        for (const auto& branch : candidate.parts[p].branches)
          rewrite.group.push_back({branch.title, std::string(strip(branch.content))});
        vote(work, rewrite, RewriteCheck::independence, candidate.groups[p]);
      }
    go_on(work);
  }

  static Rewrite shown(const Work& work, const Candidate& candidate) {
    return {work.answer->prompt, "", {}, work.answer->answer, markup_text(candidate.parts)};
  }

  /// Asks the questions of one check. `votes` must live as long as the work.
  void vote(Work& work, const Rewrite& rewrite, RewriteCheck check,
            std::vector<RewriteVote>& votes) {
    for (int v = 0; v < kRewriteVotes; ++v) {
      Question question;
      question.inquiry = ask_about(rewrite, check);
      question.vote = v;
      question.problem = [check](std::string_view reply) {
        return read_vote(reply, check).problem;
      };
      question.ask_again = [check](Inquiry inquiry, const std::string& reply,
                                   const std::string& problem) {
        return ask_about_again(check, std::move(inquiry), reply, problem);
      };
      question.take = [this, &work, &votes, check](const QuestionOutcome& outcome) {
        --work.open;
        if (outcome.state == VoteState::error) work.failed = outcome.problem;
        votes.push_back(outcome.state == VoteState::scored
                            ? read_vote(outcome.reply.text, check)
                            : RewriteVote{std::nullopt, outcome.problem});
        go_on(work);
        return std::vector<JudgmentRow>();
      };
      ++work.open;
      asking_.put(std::move(question));
    }
  }

  /// Starts the next step of an answer if none of its questions is open.
  void go_on(Work& work) {
    if (work.open > 0) return;
    if (!work.failed.empty()) {
      work.answer->reason = work.failed;
      return end(work);
    }
    if (work.best.empty()) {
      rank(work);
    } else {
      Candidate& candidate = *work.best[work.at];
      count(form, accepted(candidate.format));
      count(same, accepted(candidate.integrity));
      if (accepted(candidate.format) && accepted(candidate.integrity)) return choose(work);
      if (accepted(candidate.format))
        candidate.fate = {Fate::content,
                          str(agreeing(candidate.integrity), " that it comes to the same")};
      else
        candidate.fate = {Fate::form, str(agreeing(candidate.format), " that it is intact")};
      ++work.at;
    }
    if (work.at == work.best.size()) {
      count(chosen, false);
      work.answer->state = RewriteState::serial;
      work.answer->reason = "no rewrite passed";
      return end(work);
    }
    Candidate& candidate = *work.best[work.at];
    vote(work, shown(work, candidate), RewriteCheck::format, candidate.format);
    vote(work, shown(work, candidate), RewriteCheck::integrity, candidate.integrity);
  }

  static std::string agreeing(const std::vector<RewriteVote>& votes) {
    return str(std::count_if(votes.begin(), votes.end(),
                             [](const RewriteVote& vote) { return vote.yes == true; }),
               " of ", kRewriteVotes, " votes say");
  }

  /// Makes dependent groups serial, and sorts the remaining candidates, so that the first one that
  /// passes verification is the one to choose.
  void rank(Work& work) {
    for (Candidate& candidate : work.candidates) {
      if (candidate.fate) continue;
      for (const auto& [part, votes] : candidate.groups) count(independent, accepted(votes));
      candidate.parts =
          with_groups(candidate.parts, [&](size_t p) { return accepted(candidate.groups.at(p)); });
      const bool left = candidate.parts.size() > 1;
      count(parallel, left);
      if (!left) {
        candidate.fate = {Fate::dependent, str(counted(std::ssize(candidate.groups), "group"),
                                               ", none independent by all votes")};
        continue;
      }
      candidate.parallelism = parallelism_of(candidate.parts, tokenizer_);
      work.best.push_back(&candidate);
    }
    std::stable_sort(work.best.begin(), work.best.end(),
                     [](const Candidate* a, const Candidate* b) {
                       const auto key = [](const Parallelism& of) {
                         return std::tuple(of.dp, of.abn, of.efficiency);
                       };
                       return key(a->parallelism) > key(b->parallelism);
                     });
  }

  void choose(Work& work) {
    count(chosen, true);
    Candidate& candidate = *work.best[work.at];
    RewrittenAnswer& answer = *work.answer;
    answer.state = RewriteState::parallel;
    answer.reason.clear();
    answer.answer = write_markup(candidate.parts);
    answer.parallelism = candidate.parallelism;
    candidate.fate = {Fate::chosen};
    for (size_t other = work.at + 1; other < work.best.size(); ++other)
      work.best[other]->fate = {Fate::not_needed, "a more parallel one was chosen"};
    end(work);
  }

  void end(Work& work) {
    for (const Candidate& candidate : work.candidates)
      if (candidate.fate) work.answer->rewrites.push_back(*candidate.fate);
    works_.erase(work.place);
  }

  const RewriteTask& task_;
  const std::vector<Example>& examples_;
  const Tokenizer& tokenizer_;
  RewriteResult result_;
  std::list<Work> works_;
  size_t at_ = 0;
  Questioning asking_;
};

}  // namespace

RewriteResult rewrite_answers(Store* store, const RewriteTask& task,
                              const std::vector<Example>& examples, const Tokenizer& tokenizer,
                              const AskService& ask,
                              const std::function<void(std::int64_t)>& progress) {
  Rewriting rewriting(store, task, examples, tokenizer, progress);
  ask([&] { return rewriting.asking().next(); }, rewriting.asking());
  return rewriting.result();
}

std::string rewritten_lines(const std::vector<RewrittenAnswer>& answers) {
  std::string lines;
  for (const RewrittenAnswer& answer : answers)
    if (answer.state == RewriteState::parallel || answer.state == RewriteState::serial) {
      OrderedJson line = {{"id", answer.id}, {"category", answer.category}};
      if (answer.system) line["system"] = *answer.system;
      line["prompt"] = answer.prompt;
      line["references"] = {answer.answer};
      lines += dump(line) + "\n";
    }
  return lines;
}

std::string rewritten_details(const std::vector<RewrittenAnswer>& answers) {
  std::string lines;
  for (const RewrittenAnswer& answer : answers) {
    OrderedJson line = {{"id", answer.id}, {"state", name(answer.state)}};
    if (!answer.reason.empty()) line["reason"] = answer.reason;
    if (answer.state == RewriteState::parallel) {
      const Parallelism& of = answer.parallelism;
      line["dp"] = of.dp;
      line["abn"] = of.abn;
      line["efficiency"] = of.efficiency;
    }
    for (const RewriteOutcome& rewrite : answer.rewrites)
      line["rewrites"].push_back(rewrite.text());
    lines += dump(line) + "\n";
  }
  return lines;
}

}  // namespace pardec
