#include "src/scoring/labels.hpp"

#include <strings.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "datasets/csv.hpp"
#include "judges/wording.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hashing.hpp"
#include "src/support/number_text.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The target of a label: a unit in one order, or one field of it.
struct LabelPlace {
  const JudgeUnit* unit;
  Order order;
  std::string field;
};

std::string item_id(const JudgeTask& task, const LabelPlace& place) {
  const JudgeUnit& unit = *place.unit;
  const bool baseline_first = place.order == Order::baseline_first;
  return sha256(
             dump(Json{hash_of({task.protocol.name, task.protocol.record}), unit.run_uuid,
                       unit.baseline_uuid, unit.sample, unit.repeat, place.field, baseline_first}))
      .substr(0, 16);
}

/// All targets of one unit in one order.
std::vector<LabelPlace> places_of(const JudgeTask& task, const JudgeUnit& unit, Order order) {
  std::vector<LabelPlace> places;
  for (std::string& field : verdict_fields(task.protocol, unit))
    places.push_back({&unit, order, std::move(field)});
  return places;
}

/// The conversation before the judged turn, or the list of questions.
std::string question_text(const Subject& subject, const std::string& field) {
  if (!subject.turn) {
    std::vector<std::string> lines;
    for (const JudgedField& one : subject.fields)
      if (field.empty() || one.name == field)
        lines.push_back(str(one.name, one.question.empty() ? "" : ": ", one.question));
    return join(lines, "\n");
  }
  std::string text;
  for (size_t t = 0; t < *subject.turn; ++t) {
    const JudgedField& one = subject.fields[t];
    text += str(one.question, "\n\n[answer] ", one.answer, "\n\n");
  }
  return text + subject.fields[*subject.turn].question;
}

std::string answer_text(const Subject& subject, const std::string& field, bool other) {
  const auto said = [&](const JudgedField& one) { return other ? one.other : one.answer; };
  if (subject.turn) {
    // The answers of two arms to earlier turns differ, so each answer is shown with its own
    // history.
    std::string text;
    for (size_t t = 0; t < *subject.turn; ++t)
      text += str("[turn ", t + 1, "] ", said(subject.fields[t]), "\n\n");
    return *subject.turn == 0
               ? said(subject.fields[0])
               : str(text, "[turn ", *subject.turn + 1, "] ", said(subject.fields[*subject.turn]));
  }
  std::vector<std::string> lines;
  for (const JudgedField& one : subject.fields) {
    if (!field.empty() && one.name != field) continue;
    const std::string answer = said(one).empty() ? "(none)" : said(one);
    lines.push_back(field.empty() ? str(one.name, ": ", answer) : answer);
  }
  return join(lines, "\n");
}

/// The possible verdicts; empty: a number in the range of the protocol's grade.
std::vector<std::string> allowed_verdicts(const JudgeProtocol& protocol) {
  if (const auto* classes = protocol.asks_for<ClassVerdict>()) return classes->classes;
  const auto* grade = protocol.asks_for<GradeVerdict>();
  if (!grade) return {"A", "B", "tie"};
  if (grade->labels.empty() && !grade->range)
    throw ConfigError(str("protocol ", protocol.name,
                          " has no labels that people could be asked for; expected an enum"));
  return grade->labels;
}

/// What is expected of a verdict without labels.
std::string number_text(const JudgeProtocol& protocol) {
  const auto range = *protocol.asks_for<GradeVerdict>()->range;
  return str("a number from ", range.least, " to ", range.most);
}

/// The verdicts that are possible for the target's answer.
std::vector<std::string> fitting_verdicts(const JudgeTask& task, const LabelPlace& place) {
  if (const auto* classes = task.protocol.asks_for<ClassVerdict>())
    for (const JudgedField& field : place.unit->subject.fields)
      if (field.name == place.field) return classes->fitting(field);
  return allowed_verdicts(task.protocol);
}

SheetItem item_of(const JudgeTask& task, const LabelPlace& place) {
  const Subject& subject = place.unit->subject;
  const bool by_field = task.protocol.asks_for<ClassVerdict>(),
             compares = task.protocol.asks_for<PreferenceVerdict>(),
             swapped = place.order == Order::baseline_first;
  const std::string field = by_field ? place.field : "";
  SheetItem item;
  item.id = item_id(task, place);
  item.category = subject.category;
  item.text = subject.text;
  // For two answers to a later turn, no history is shown with the question, since each has its own.
  item.question = compares && subject.turn ? "" : question_text(subject, field);
  if (compares && subject.turn) {
    std::vector<std::string> asked;
    for (size_t t = 0; t <= *subject.turn; ++t) asked.push_back(subject.fields[t].question);
    item.question = join(asked, "\n\n");
  }
  if (subject.turn) item.reference = join(subject.fields[*subject.turn].references, "\nor: ");
  const bool single_turn = subject.turn && !compares;
  item.answer =
      single_turn ? subject.fields[*subject.turn].answer : answer_text(subject, field, swapped);
  if (by_field) item.verdicts = fitting_verdicts(task, place);
  if (compares) item.other = answer_text(subject, field, !swapped);
  return item;
}

/// Instructions for a person who only sees the sheet.
std::string task_of(const JudgeProtocol& protocol) {
  if (const auto prompt = protocol.record.find("prompt"); prompt != protocol.record.end())
    return str("A template's task; words in braces stand for what is shown below.\n\n",
               prompt->get<std::string>());
  if (protocol.asks_for<PreferenceVerdict>())
    return "Which answer is better, in the light of what was asked? Say tie where neither is.";
  if (protocol.asks_for<ClassVerdict>())
    return "Judge the value by the text alone. correct: the text tells it, in these or other "
           "words. "
           "incorrect: the text tells another one, or more. missing: the text tells one, and none "
           "was given. correct null: the text tells none, and none was given. hallucination: the "
           "text tells none, and one was given.";
  return "How good is the answer, from 1 (of no use) to 10 (as good as can be)?";
}

/// A label as a vote; none: it is not allowed.
std::optional<VoteRow> vote_of(const JudgeTask& task, const LabelPlace& place, const Label& label) {
  VoteRow vote;
  vote.field = place.field;
  vote.reason = label.comment;
  const auto allowed = fitting_verdicts(task, place);
  if (allowed.empty()) {
    const auto number = number_in<double>(label.verdict);
    const auto range = *task.protocol.asks_for<GradeVerdict>()->range;
    if (!number || !(*number >= range.least && *number <= range.most)) return std::nullopt;
    vote.value = *number;
  } else {
    const auto said = std::find_if(allowed.begin(), allowed.end(), [&](const std::string& one) {
      return strcasecmp(one.c_str(), label.verdict.c_str()) == 0;
    });
    if (said == allowed.end()) return std::nullopt;
    vote.label =
        task.protocol.asks_for<PreferenceVerdict>() ? winner_label(*said, place.order) : *said;
  }
  vote.state = VoteState::scored;
  return vote;
}

}  // namespace

Sheet make_sheet(const JudgeTask& task, const JudgeUnits& units, std::uint64_t seed) {
  Sheet sheet{task.protocol.name,
              task_of(task.protocol),
              task.protocol.asks_for<PreferenceVerdict>() != nullptr,
              allowed_verdicts(task.protocol),
              {}};
  for (const JudgeUnit& unit : units.units) {
    if (unit.equal) continue;  // a tie without judging
    Order order = Order::method_first;
    if (task.protocol.orders().size() > 1) {
      const LabelPlace first{&unit, order, unit.field};
      if (Rng(derive_seed(seed, item_id(task, first))).below(2) == 1) order = Order::baseline_first;
    }
    for (const LabelPlace& place : places_of(task, unit, order))
      sheet.items.push_back(item_of(task, place));
  }
  Rng rng(derive_seed(seed, "sheet"));
  for (size_t i = sheet.items.size(); i > 1; --i)
    std::swap(sheet.items[i - 1], sheet.items[rng.below(i)]);
  return sheet;
}

std::vector<Label> read_labels(const std::filesystem::path& file, const std::string& protocol) {
  std::vector<Label> labels;
  const auto add = [&](std::string item, std::string verdict, std::string comment, long line) {
    verdict = strip(verdict);
    if (!verdict.empty())
      labels.push_back(
          {std::string(strip(item)), std::move(verdict), std::move(comment), file.string(), line});
  };
  if (file.extension() == ".json") {
    const std::string content = read_file(file);
    const Json json = parse_json(content, file.string(), 0);
    if (const std::string key = repeated_key(content); !key.empty())
      throw DataError(file.string(), 0, str("'", key, "' occurs twice in one object"));
    JsonReader read(json, file.string());
    if (const auto theirs = read.optional<std::string>("protocol", protocol); theirs != protocol)
      throw DataError(file.string(), 0,
                      str("is of protocol ", theirs, ", expected one of ", protocol));
    const Json& all = read.any("labels");
    if (!all.is_array()) throw DataError(file.string(), 0, "has no list 'labels'");
    for (const Json& one : all) {
      JsonReader label(one, str(file.string(), ": labels"));
      const Json& verdict = label.any("verdict");
      std::string text;  // empty: there is no verdict
      if (!verdict.is_null())
        text = verdict.is_string() ? verdict.get<std::string>() : dump(verdict);
      add(label.required<std::string>("item"), std::move(text),
          label.optional<std::string>("comment", ""), 0);
    }
    return labels;
  }
  each_row(file, {"item", "verdict"}, nullptr, [&](const CsvRow& row) {
    const auto comment = row.fields.find("comment");
    add(row.fields.at("item"), row.fields.at("verdict"),
        comment == row.fields.end() ? "" : comment->second, row.line);
  });
  return labels;
}

void import_labels(Store& store, const JudgeTask& task, const JudgeUnits& units,
                   const std::vector<Label>& labels) {
  std::map<std::string, LabelPlace> places;
  for (const JudgeUnit& unit : units.units)
    for (const Order order : task.protocol.orders())
      for (const LabelPlace& place : places_of(task, unit, order))
        places.emplace(item_id(task, place), place);
  std::vector<JudgmentRow> rows;
  std::set<std::string> seen;
  for (const Label& label : labels) {
    const auto place = places.find(label.item);
    if (place == places.end())
      throw DataError(label.file, label.line,
                      str("item '", label.item, "' is not of this run and protocol ",
                          task.protocol.name, " with its wording; give the `run`, `baseline`, ",
                          "`protocol` and `references` of the sheet"));
    if (!seen.insert(label.item).second)
      throw DataError(label.file, label.line, str("item '", label.item, "' occurs twice"));
    JudgmentRow& row = rows.emplace_back();
    auto vote = vote_of(task, place->second, label);
    if (!vote) {
      const auto allowed = fitting_verdicts(task, place->second);
      throw DataError(label.file, label.line,
                      str("verdict '", label.verdict, "', expected ",
                          allowed.empty() ? number_text(task.protocol) : join(allowed, ", ")));
    }
    row.vote = *std::move(vote);
    row.generation = place->second.unit->generation;
    row.baseline = place->second.unit->baseline;
    row.method_first = place->second.order == Order::method_first;
  }
  const RowId judge = put_judge(store, task.judge),
              protocol = put_protocol(store, {task.protocol.name, task.protocol.record});
  for (JudgmentRow& row : rows) {
    row.judge = judge;
    row.protocol = protocol;
  }
  for (JudgmentRow& row : equal_ties(task, units, judge, protocol))
    if (row.method_first) rows.push_back(std::move(row));  // people see only one order
  put_votes(store, judge, {}, std::move(rows));
}

}  // namespace pardec
