#include "src/teaching/labelling.hpp"

#include <algorithm>
#include <set>

#include "src/support/json.hpp"
#include "src/support/text.hpp"
#include "src/teaching/teacher.hpp"

namespace pardec {

namespace {

std::vector<WantedValue> wanted_of(const Example& example) {
  std::vector<WantedValue> wanted;
  for (const ExampleField& field : example.fields)
    wanted.push_back({field.name, field.question, field.choices});
  return wanted;
}

/// Why the teacher cannot be asked about the example; empty: it can.
std::string lack_of(const Example& example) {
  if (example.text.empty()) return "it has no text";
  std::set<std::string> names;
  for (const ExampleField& field : example.fields)
    if (!names.insert(field.name).second)
      return str("two of its fields are named '", field.name, "'");
  return "";
}

}  // namespace

std::string_view name(LabelState state) {
  switch (state) {
    case LabelState::labelled:
      return "labelled";
    case LabelState::unreadable:
      return "unreadable";
    case LabelState::refused:
      return "refused";
    case LabelState::left_out:
      return "left out";
    case LabelState::undecided:
      return "undecided";
  }
  return "";
}

std::int64_t LabelResult::count(LabelState state) const {
  return std::count_if(examples.begin(), examples.end(),
                       [&](const LabelledExample& example) { return example.state == state; });
}

LabelResult label_examples(Store* store, const LabelTask& task,
                           const std::vector<Example>& examples, const AskService& ask,
                           const std::function<void(std::int64_t)>& progress) {
  LabelResult result;
  for (const Example& example : examples) {
    const std::string lack = lack_of(example);
    result.examples.push_back({example, lack.empty() ? LabelState::undecided : LabelState::left_out,
                               lack.empty() ? "a reply is missing" : lack});
  }
  const auto take = [&](LabelledExample& labelled, const QuestionOutcome& outcome) {
    labelled.state = outcome.state == VoteState::scored     ? LabelState::labelled
                     : outcome.state == VoteState::unscored ? LabelState::unreadable
                     : outcome.state == VoteState::refused  ? LabelState::refused
                                                            : LabelState::undecided;
    labelled.reason = outcome.problem;
    if (outcome.state != VoteState::scored) return;
    Example& example = labelled.example;
    const auto values = read_values(example.text, wanted_of(example), outcome.reply.text).values;
    for (size_t f = 0; f < example.fields.size(); ++f) {
      ExampleField& field = example.fields[f];
      field.annotated = true;
      field.references.clear();
      if (values[f]) field.references.push_back(*values[f]);
      ++(values[f] ? result.values : result.absent);
    }
  };
  size_t at = 0;
  const auto more = [&]() -> std::optional<Question> {
    while (at < result.examples.size() && result.examples[at].state == LabelState::left_out) ++at;
    if (at == result.examples.size()) return std::nullopt;
    LabelledExample& labelled = result.examples[at++];
    Question question;
    question.inquiry =
        ask_values(labelled.example.category, labelled.example.text, wanted_of(labelled.example));
    question.problem = [&labelled](std::string_view reply) {
      return read_values(labelled.example.text, wanted_of(labelled.example), reply).problem;
    };
    question.ask_again = ask_values_again;
    question.take = [&labelled, &take](const QuestionOutcome& outcome) {
      take(labelled, outcome);
      return std::vector<JudgmentRow>();
    };
    return question;
  };
  std::int64_t heard = 0;
  Questioning asking(store, task.teacher, task.max_tokens, UselessReply::stands, more, [&] {
    if (progress) progress(++heard);
  });
  ask([&] { return asking.next(); }, asking);
  result.calls = asking.calls();
  for (const LabelledExample& labelled : result.examples)
    if (labelled.state != LabelState::labelled)
      ++result.reasons[str(name(labelled.state), ": ", labelled.reason)];
  return result;
}

std::string labelled_lines(const std::vector<LabelledExample>& examples) {
  std::string lines;
  for (const auto& [example, state, reason] : examples) {
    if (state != LabelState::labelled) continue;
    OrderedJson fields = OrderedJson::array();
    for (const ExampleField& field : example.fields) {
      OrderedJson of = {{"name", field.name}};
      if (!field.id.empty()) of["id"] = field.id;
      if (!field.question.empty()) of["question"] = field.question;
      if (!field.choices.empty()) of["choices"] = field.choices;
      of["references"] = field.references;
      fields.push_back(std::move(of));
    }
    lines += dump(OrderedJson{{"id", example.id},
                              {"category", example.category},
                              {"text", example.text},
                              {"fields", std::move(fields)}}) +
             "\n";
  }
  return lines;
}

std::string labelled_details(const std::vector<LabelledExample>& examples) {
  std::string lines;
  for (const auto& [example, state, reason] : examples) {
    OrderedJson line = {{"id", example.id}, {"state", name(state)}};
    if (!reason.empty()) line["reason"] = reason;
    lines += dump(line) + "\n";
  }
  return lines;
}

}  // namespace pardec
