#include "src/scoring/judging.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "metrics/agreement.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The runs of an invocation and of its shards.
std::vector<RunSummary> whole_run(Store& store, const std::string& invocation) {
  std::vector<RunSummary> runs;
  for (const auto& shard : store.shards_of(invocation))
    for (auto& run : runs_of(store, shard)) runs.push_back(std::move(run));
  return runs;
}

/// The samples of a dataset within a limit, drawn in the same way as a run draws its examples.
std::set<std::string> chosen_samples(const std::vector<SampleRow>& samples, std::int64_t limit) {
  std::vector<Example> examples;
  for (const SampleRow& sample : samples) {
    Example& example = examples.emplace_back();
    example.id = sample.key;
    example.category = sample.category;
  }
  std::set<std::string> chosen;
  for (const Example& example : select(examples, limit, 0, /*seed=*/1)) chosen.insert(example.id);
  return chosen;
}

/// The form in which a judge sees a stored answer. ConfigError: the sample was stored without
/// fields.
Subject subject_of(const SampleRow& sample, const StoredGeneration& answer,
                   const StoredGeneration* other) {
  if (sample.fields.size() != answer.row.fields.size() ||
      (other && other->row.fields.size() != answer.row.fields.size()))
    throw ConfigError(str("sample ", sample.key,
                          " lacks the fields of its answer in the database: it was stored by an "
                          "older pardec; run it again"));
  Subject subject;
  subject.category = sample.category;
  subject.text = sample.text;
  for (size_t f = 0; f < sample.fields.size(); ++f) {
    const Json& field = sample.fields[f];
    subject.fields.push_back({field.at("name").get<std::string>(), field.value("question", ""),
                              field.at("references").get<std::vector<std::string>>(),
                              std::string(answer_text(answer.row.fields[f]).text),
                              other ? std::string(answer_text(other->row.fields[f]).text) : ""});
  }
  return subject;
}

/// The stored votes of a task. Votes with an error are left out, since they are requested again;
/// with `retry`, so are all votes without a verdict. Votes on equal answers from before these were
/// treated as ties do not count.
using DoneVotes = std::set<std::tuple<RowId, RowId, std::string, int, bool>>;

DoneVotes done_votes(Store& store, const JudgeTask& task, const JudgeUnits& units, RowId judge,
                     RowId protocol) {
  std::set<RowId> runs;
  std::set<std::tuple<RowId, RowId, std::string>> equal;
  for (const JudgeUnit& unit : units.units) {
    runs.insert(unit.run);
    if (unit.equal) equal.emplace(unit.generation, unit.baseline, unit.field);
  }
  DoneVotes done;
  for (const RowId run : runs)
    for (const JudgmentRow& row : judgments(store, run))
      if (row.judge == judge && row.protocol == protocol && row.vote.state != VoteState::error &&
          (row.vote.state == VoteState::scored || !task.retry) &&
          (row.vote.reason == kEqualAnswers ||
           !equal.contains({row.generation, row.baseline, row.vote.field}))) {
        done.emplace(row.generation, row.baseline, row.vote.field, row.vote.vote, row.method_first);
      }
  return done;
}

/// One requested vote: on a unit, and for pairs in one order.
struct WantedVote {
  const JudgeUnit* unit;
  int vote;
  Order order;
};

/// Whether the vote is completely stored: for five classes, there is one row per field.
bool is_done(const DoneVotes& done, const JudgeTask& task, const WantedVote& wanted) {
  const auto has = [&](const std::string& field) {
    return done.contains({wanted.unit->generation, wanted.unit->baseline, field, wanted.vote,
                          wanted.order == Order::method_first});
  };
  const auto fields = verdict_fields(task.protocol, *wanted.unit);
  return std::all_of(fields.begin(), fields.end(), has);
}

/// All votes that a task requests, by answer.
std::vector<WantedVote> wanted_votes(const JudgeTask& task, const JudgeUnits& units) {
  std::vector<WantedVote> wanted;
  for (const JudgeUnit& unit : units.units)
    for (int vote = 0; vote < task.votes; ++vote) {
      for (const Order order : task.protocol.orders()) wanted.push_back({&unit, vote, order});
    }
  return wanted;
}

/// A row for the vote, without the verdict.
JudgmentRow row_of(const WantedVote& wanted, RowId judge, RowId protocol) {
  JudgmentRow row;
  row.generation = wanted.unit->generation;
  row.baseline = wanted.unit->baseline;
  row.method_first = wanted.order == Order::method_first;
  row.judge = judge;
  row.protocol = protocol;
  row.vote.vote = wanted.vote;
  return row;
}

/// The question for one vote; the caller sets `take`.
Question question_of(const JudgeTask& task, const WantedVote& wanted) {
  Question question;
  question.inquiry = task.protocol.ask(wanted.unit->subject, wanted.order);
  question.vote = wanted.vote;
  question.order = static_cast<int>(wanted.order);
  question.problem = [&task, wanted](std::string_view reply) {
    return task.protocol.read(wanted.unit->subject, wanted.order, reply).problem;
  };
  question.ask_again = task.protocol.ask_again;
  return question;
}

/// The judging of one task: waiting votes, and their outcomes.
class Judging {
 public:
  Judging(Store& store, const JudgeTask& task, const JudgeUnits& units,
          const std::function<void(const JudgeProgress&)>& progress)
      : task_(task),
        judge_(put_judge(store, task.judge)),
        protocol_(put_protocol(store, {task.protocol.name, task.protocol.record})),
        asking_(
            &store, task.judge, task.max_tokens, UselessReply::asked_anew,
            [this] { return more(); },
            [this, &progress] {
              counts_.calls = asking_.calls();
              if (progress) progress(counts_);
            }) {
    const DoneVotes done = done_votes(store, task, units, judge_, protocol_);
    put_votes(store, judge_, {}, equal_ties(task, units, judge_, protocol_));
    std::map<std::string, size_t> known;  // call keys: equal questions are asked once
    for (const WantedVote& wanted : wanted_votes(task, units)) {
      ++counts_.votes;
      if (is_done(done, task, wanted)) {
        ++counts_.before;
        continue;
      }
      if (wanted.unit->equal) {
        ++counts_.equal;
        continue;
      }
      const auto key = call_of(task.judge, question_of(task, wanted), task.max_tokens).key;
      const auto [place, fresh] = known.emplace(key, waiting_.size());
      if (fresh) waiting_.emplace_back();
      waiting_[place->second].push_back(wanted);
    }
  }

  const JudgeProgress& counts() const { return counts_; }
  Questioning& asking() { return asking_; }

 private:
  std::optional<Question> more() {
    if (at_ == waiting_.size()) return std::nullopt;
    std::vector<WantedVote> votes = std::move(waiting_[at_++]);
    Question question = question_of(task_, votes.front());
    question.take = [this, votes = std::move(votes)](const QuestionOutcome& outcome) {
      return take(votes, outcome);
    };
    return question;
  }

  /// The votes that a reply is for, with its verdicts.
  std::vector<JudgmentRow> take(const std::vector<WantedVote>& votes,
                                const QuestionOutcome& outcome) {
    const WantedVote& first = votes.front();
    Reading reading;
    if (outcome.state == VoteState::scored)
      reading = task_.protocol.read(first.unit->subject, first.order, outcome.reply.text);
    else
      reading.problem = outcome.problem;
    std::vector<JudgmentRow> rows;
    for (const WantedVote& wanted : votes) add_rows(rows, wanted, outcome.state, reading);
    const auto count = std::ssize(votes);
    (outcome.state == VoteState::scored     ? counts_.scored
     : outcome.state == VoteState::unscored ? counts_.unscored
     : outcome.state == VoteState::refused  ? counts_.refused
                                            : counts_.failed) += count;
    // Only one of several equal questions was paid for.
    counts_.cached += outcome.reply.id != 0 ? count : count - 1;
    return rows;
  }

  void add_rows(std::vector<JudgmentRow>& rows, const WantedVote& wanted, VoteState state,
                const Reading& reading) const {
    const bool by_field = task_.protocol.asks_for<ClassVerdict>();
    for (const std::string& field : verdict_fields(task_.protocol, *wanted.unit)) {
      JudgmentRow& row = rows.emplace_back(row_of(wanted, judge_, protocol_));
      row.vote.field = field;
      row.vote.state = state;
      row.vote.reason = reading.problem;
      const auto said = std::find_if(
          reading.verdicts.begin(), reading.verdicts.end(),
          [&](const JudgeVerdict& verdict) { return !by_field || verdict.field == field; });
      if (said == reading.verdicts.end()) continue;
      row.vote.label = said->label;
      if (!std::isnan(said->value)) row.vote.value = said->value;
    }
  }

  const JudgeTask& task_;
  RowId judge_, protocol_;
  JudgeProgress counts_;
  std::vector<std::vector<WantedVote>> waiting_;
  size_t at_ = 0;
  Questioning asking_;
};

std::optional<JudgeVerdict> verdict_in(const std::vector<JudgmentRow>& rows) {
  std::vector<VoteRow> said;
  for (const JudgmentRow& row : rows) said.push_back(row.vote);
  return verdict_of(said);
}

// The value of a score from votes, which may add details; none: there is no verdict.

std::optional<double> value_of(const PreferenceVerdict&, const std::vector<JudgmentRow>& rows,
                               Json& details) {
  if (are_equal(rows)) details["equal_answers"] = true;
  const auto winner = winner_of(rows, /*one_order=*/false);
  if (!winner) return std::nullopt;
  return *winner == Winner::method ? 1 : *winner == Winner::tie ? 0.5 : 0;
}

std::optional<double> value_of(const ClassVerdict& classes, const std::vector<JudgmentRow>& rows,
                               Json& details) {
  const auto verdict = verdict_in(rows);
  if (!verdict) return std::nullopt;
  details["class"] = verdict->label;
  return std::find(classes.right.begin(), classes.right.end(), verdict->label) !=
                 classes.right.end()
             ? 1
             : 0;
}

/// None if the label has no number.
std::optional<double> value_of(const GradeVerdict&, const std::vector<JudgmentRow>& rows,
                               Json& /*details*/) {
  const auto verdict = verdict_in(rows);
  return verdict && !std::isnan(verdict->value) ? std::optional(verdict->value) : std::nullopt;
}

/// The score from the votes on one answer, or on one of its fields or turns; none: there is no
/// verdict. `baseline`: label of the arm that it is compared with; empty: none.
std::optional<ScoreRow> judged_score(const JudgeTask& task, const std::string& field,
                                     const std::vector<JudgmentRow>& rows,
                                     const std::string& baseline) {
  ScoreRow score;
  score.metric = task.protocol.score;
  score.field = field;
  score.details = {{"judge", task.judge.name},
                   {"judge_hash", hash_of(task.judge)},
                   {"protocol", task.protocol.name},
                   {"protocol_hash", hash_of({task.protocol.name, task.protocol.record})},
                   {"votes", rows.size()}};
  if (!baseline.empty()) score.details["baseline"] = baseline;
  const auto value =
      std::visit([&](const auto& verdict) { return value_of(verdict, rows, score.details); },
                 task.protocol.verdict);
  if (!value) return std::nullopt;
  score.value = *value;
  return score;
}

/// The scores from the stored votes of the task's judge, for the runs in `judged`. None: there is
/// no vote of this judge, so scores from an earlier judge are kept.
std::optional<std::vector<AnswerScores>> judged_scores(Store& store, const JudgeTask& task,
                                                       const std::vector<RunSummary>& runs,
                                                       const std::vector<RowId>& judged) {
  const auto judges = judges_of(store);
  const auto protocols = protocols_of(store);
  const auto is_ours = [&](const JudgmentRow& row) {
    const NamedRecord &judge = judges.at(row.judge), &protocol = protocols.at(row.protocol);
    return judge.name == task.judge.name && judge.json == task.judge.json &&
           protocol.name == task.protocol.name && protocol.json == task.protocol.record;
  };
  const bool compares = task.protocol.asks_for<PreferenceVerdict>();
  std::vector<AnswerScores> scores;
  bool any = false;
  for (const RunSummary& run : runs) {
    if (std::find(judged.begin(), judged.end(), run.run.id) == judged.end()) continue;
    const RunSummary* against = compares ? find_baseline(runs, run, task.baseline) : nullptr;
    std::set<RowId> others;
    if (against)
      for (const auto& other : store.generations(against->run.id)) others.insert(other.row.id);
    std::map<std::pair<RowId, std::string>, std::vector<JudgmentRow>> votes;
    for (JudgmentRow& row : judgments(store, run.run.id)) {
      if (!is_ours(row) || (compares && !others.contains(row.baseline))) continue;
      any = any || row.vote.state == VoteState::scored;
      votes[{row.generation, row.vote.field}].push_back(std::move(row));
    }
    for (const auto& [place, rows] : votes)
      if (auto score = judged_score(task, place.second, rows, against ? against->run.label : ""))
        scores.push_back({place.first, {std::move(*score)}});
  }
  return any ? std::optional(std::move(scores)) : std::nullopt;
}

/// Whether a judge would see the same in both orders.
bool shown_equal(const JudgeProtocol& protocol, const Subject& subject) {
  const auto texts = [&](Order order) {
    std::vector<std::string> shown;
    for (chat::Message& message : protocol.ask(subject, order).messages)
      shown.push_back(std::move(message.text));
    return shown;
  };
  return texts(Order::method_first) == texts(Order::baseline_first);
}

}  // namespace

std::vector<std::string> verdict_fields(const JudgeProtocol& protocol, const JudgeUnit& unit) {
  if (!protocol.asks_for<ClassVerdict>()) return {unit.field};
  std::vector<std::string> fields;
  for (const JudgedField& field : unit.subject.fields) fields.push_back(field.name);
  return fields;
}

std::vector<JudgmentRow> equal_ties(const JudgeTask& task, const JudgeUnits& units, RowId judge,
                                    RowId protocol) {
  std::vector<JudgmentRow> rows;
  for (const WantedVote& wanted : wanted_votes(task, units))
    if (wanted.unit->equal) {
      JudgmentRow& row = rows.emplace_back(row_of(wanted, judge, protocol));
      row.vote.field = wanted.unit->field;
      row.vote.state = VoteState::scored;
      row.vote.label = "tie";
      row.vote.reason = kEqualAnswers;
    }
  return rows;
}

JudgeUnits judge_units(Store& store, const JudgeTask& task) {
  const std::vector<RunSummary> runs = whole_run(store, task.invocation);
  if (!task.baseline.empty() && std::none_of(runs.begin(), runs.end(), [&](const RunSummary& run) {
        return run.run.label == task.baseline;
      })) {
    std::vector<std::string> labels;
    for (const RunSummary& run : runs) labels.push_back(run.run.label);
    throw ConfigError(
        str("`baseline`: no arm '", task.baseline, "'", known_names(task.baseline, labels)));
  }
  std::vector<std::string> names;
  for (const RunSummary& run : runs) names.push_back(run.run.dataset.name);
  for (const std::string& name : task.datasets)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw ConfigError(
          str("`dataset`: the run has no dataset '", name, "'", known_names(name, names)));
  const auto wants = [&](const RunSummary& run) {
    return task.datasets.empty() || std::find(task.datasets.begin(), task.datasets.end(),
                                              run.run.dataset.name) != task.datasets.end();
  };
  std::map<RowId, std::vector<StoredGeneration>> answers;
  for (const RunSummary& run : runs)
    if (!run.run.oracle && wants(run)) answers[run.run.id] = store.generations(run.run.id);
  const bool compares = task.protocol.asks_for<PreferenceVerdict>();
  JudgeUnits out;
  for (const RunSummary& run : runs) {
    if (!wants(run)) continue;
    if (run.run.oracle) {
      out.left_out[str("their tokens were forced (oracle ", *run.run.oracle, ")")] +=
          run.generations;
      continue;
    }
    const RunSummary* against = nullptr;
    if (compares) {
      against = find_baseline(runs, run, task.baseline);
      if (!against) continue;  // the arm is a baseline itself
    }
    std::map<std::pair<std::string, int>, const StoredGeneration*> others;
    if (against && answers.contains(against->run.id))
      for (const StoredGeneration& other : answers.at(against->run.id))
        others[{other.row.sample, other.repeat}] = &other;
    std::map<std::string, SampleRow> samples;
    const auto rows = store.samples(store.dataset_of(run.run.id));
    const std::set<std::string> chosen = chosen_samples(rows, task.limit);
    for (const SampleRow& sample : rows) samples[sample.key] = sample;
    for (const StoredGeneration& answer : answers.at(run.run.id)) {
      if (!chosen.contains(answer.row.sample)) continue;
      const StoredGeneration* other = nullptr;
      if (against) {
        const auto found = others.find({answer.row.sample, answer.repeat});
        if (found != others.end() && !found->second->row.error) other = found->second;
      }
      if (answer.row.error || (against && !other)) {
        ++out.left_out[answer.row.error ? "they failed" : "the baseline has no answer"];
        continue;
      }
      JudgeUnit unit;
      unit.run = run.run.id;
      unit.generation = answer.row.id;
      unit.baseline = other ? other->row.id : 0;
      unit.run_uuid = run.run.uuid;
      if (against) unit.baseline_uuid = against->run.uuid;
      unit.sample = answer.row.sample;
      unit.repeat = answer.repeat;
      unit.subject = subject_of(samples.at(answer.row.sample), answer, other);
      const bool turns = run.run.form == "free" && !task.protocol.asks_for<ClassVerdict>();
      if (const std::string lacks = task.protocol.lacks(unit.subject); !lacks.empty()) {
        ++out.left_out[str("they lack ", lacks)];
        continue;
      }
      for (size_t turn = 0; turn < (turns ? unit.subject.fields.size() : 1); ++turn) {
        JudgeUnit& one = out.units.emplace_back(unit);
        if (turns) {
          one.subject.turn = turn;
          one.field = unit.subject.fields[turn].name;
        }
        one.equal = compares && shown_equal(task.protocol, one.subject);
      }
    }
  }
  if (out.units.empty()) {
    std::vector<std::string> reasons;
    for (const auto& [reason, count] : out.left_out)
      reasons.push_back(str(counted(count, "answer"), ": ", reason));
    throw ConfigError(
        str("run ", task.invocation.substr(0, 8), " has nothing for protocol ", task.protocol.name,
            reasons.empty() ? ": no arm is compared with another one; name one by `baseline`"
                            : "; " + join(reasons, "; ")));
  }
  return out;
}

std::string protocol_for(std::string_view total) {
  for (const TaskMetric& metric : task_metrics())
    if (const auto* judged = metric.by<ByJudge>();
        judged &&
        std::find(metric.totals.begin(), metric.totals.end(), total) != metric.totals.end())
      for (const std::string& name : protocol_names())
        if (find_protocol(name).score == judged->rows) return name;
  return "";
}

std::string protocol_for(const DatasetEntry& dataset) {
  for (const std::string_view total : dataset.metrics)
    if (std::string protocol = protocol_for(total); !protocol.empty()) return protocol;
  return "";
}

JudgePlan plan_judging(Store& store, const JudgeTask& task, const JudgeUnits& units,
                       const std::function<chat::WorstCase(const chat::Call&)>& worst_case) {
  JudgePlan plan;
  const auto id_of = [&](const std::map<RowId, NamedRecord>& all, const NamedRecord& wanted) {
    for (const auto& [id, one] : all)
      if (one.name == wanted.name && one.json == wanted.json) return id;
    return RowId{0};
  };
  const RowId judge = id_of(judges_of(store), task.judge),
              protocol = id_of(protocols_of(store), {task.protocol.name, task.protocol.record});
  const DoneVotes done = done_votes(store, task, units, judge, protocol);
  std::set<std::string> asked;
  for (const WantedVote& wanted : wanted_votes(task, units)) {
    ++plan.progress.votes;
    if (is_done(done, task, wanted)) {
      ++plan.progress.before;
      continue;
    }
    if (wanted.unit->equal) {
      ++plan.progress.equal;
      continue;
    }
    const chat::Call call = call_of(task.judge, question_of(task, wanted), task.max_tokens);
    if (const auto reply = find_reply(store, call.key); reply && reply->valid) {
      ++plan.progress.cached;
      continue;
    }
    if (!asked.insert(call.key).second) {
      ++plan.shared;
      continue;
    }
    ++plan.calls;
    const chat::WorstCase worst = worst_case(call);
    plan.worst.tokens += worst.tokens;
    plan.worst.cost += worst.cost;
  }
  return plan;
}

JudgeProgress judge_answers(Store& store, const JudgeTask& task, const JudgeUnits& units,
                            const AskService& ask,
                            const std::function<void(const JudgeProgress&)>& progress) {
  Judging judging(store, task, units, progress);
  try {
    ask([&] { return judging.asking().next(); }, judging.asking());
  } catch (...) {
    store_judged_scores(store, task);
    throw;
  }
  store_judged_scores(store, task);
  return judging.counts();
}

std::string shared_family(const std::string& judge, const std::string& model) {
  constexpr std::array<std::string_view, 16> kFamilies{
      "claude",  "command", "deepseek", "falcon", "gemini", "gemma", "glm",    "gpt",
      "granite", "llama",   "mistral",  "olmo",   "phi",    "qwen",  "smollm", "vicuna"};
  const std::string a = lower_ascii(judge), b = lower_ascii(model);
  for (const std::string_view family : kFamilies)
    if (a.find(family) != std::string::npos && b.find(family) != std::string::npos)
      return std::string(family);
  return "";
}

std::optional<JudgeVerdict> verdict_of(const std::vector<VoteRow>& votes) {
  std::vector<const VoteRow*> scored;
  for (const VoteRow& vote : votes)
    if (vote.state == VoteState::scored) scored.push_back(&vote);
  if (scored.empty()) return std::nullopt;
  JudgeVerdict verdict{scored.front()->field, ""};
  std::map<std::string, int> counts;
  double sum = 0;
  for (const VoteRow* vote : scored) {
    ++counts[vote->label];
    sum += vote->value.value_or(std::nan(""));
  }
  verdict.value = sum / static_cast<double>(scored.size());
  for (const VoteRow* vote : scored)
    if (verdict.label.empty() || counts[vote->label] > counts[verdict.label])
      verdict.label = vote->label;
  return verdict;
}

std::vector<PairVerdict> pair_verdicts(const std::vector<JudgmentRow>& rows) {
  std::map<int, PairVerdict> by_vote;
  for (const JudgmentRow& row : rows) {
    PairVerdict& pair = by_vote[row.vote.vote];
    if (row.vote.state != VoteState::scored) continue;
    (row.method_first ? pair.method_first : pair.method_second) =
        row.vote.label == "method"     ? Winner::method
        : row.vote.label == "baseline" ? Winner::baseline
                                       : Winner::tie;
  }
  std::vector<PairVerdict> pairs;
  for (const auto& [vote, pair] : by_vote) pairs.push_back(pair);
  return pairs;
}

bool are_equal(const std::vector<JudgmentRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const JudgmentRow& row) { return row.vote.reason == kEqualAnswers; });
}

std::optional<Winner> winner_of(const std::vector<JudgmentRow>& rows, bool one_order) {
  if (are_equal(rows)) return Winner::tie;
  std::int64_t whole = 0, lead = 0;
  for (const PairVerdict& pair : pair_verdicts(rows)) {
    auto winner = pair.winner();
    if (!winner && one_order) winner = pair.method_first ? pair.method_first : pair.method_second;
    if (!winner) continue;
    ++whole;
    lead += *winner == Winner::method ? 1 : *winner == Winner::baseline ? -1 : 0;
  }
  if (whole == 0) return std::nullopt;
  return lead > 0 ? Winner::method : lead < 0 ? Winner::baseline : Winner::tie;
}

void store_judged_scores(Store& store, const JudgeTask& task) {
  const std::string metric = task.protocol.score;
  if (metric.empty()) return;
  const std::vector<RunSummary> runs = whole_run(store, task.invocation);
  std::vector<RowId> judged;
  for (const RunSummary& run : runs)
    if (!run.run.oracle &&
        (task.datasets.empty() || std::find(task.datasets.begin(), task.datasets.end(),
                                            run.run.dataset.name) != task.datasets.end()))
      judged.push_back(run.run.id);
  store.replace_scores(metric, judged, [&] { return judged_scores(store, task, runs, judged); });
}

}  // namespace pardec
