#include "src/tasks/protocol.hpp"

#include <algorithm>

#include "src/prompt/prompt_choice.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

namespace {

// independent of the run's seed, so that prompts are the same under every seed
constexpr std::uint64_t kShotSeed = 1;

bool answered(const ExampleField& field) { return !field.references.empty(); }

}  // namespace

std::vector<Example> examples_shown(const Dataset& train, int count) {
  std::vector<Example> with_answers = train.examples;
  std::erase_if(with_answers, [](const Example& example) {
    return std::none_of(example.fields.begin(), example.fields.end(), answered);
  });
  if (std::ssize(with_answers) < count)
    throw ConfigError(str("split ", train.split, " has ",
                          counted(std::ssize(with_answers), "example"),
                          " with an answer, expected at least ", count));
  return count > 0 ? select(with_answers, count, 0, kShotSeed) : std::vector<Example>{};
}

std::map<std::string, std::vector<Example>> examples_worked(const Dataset& train,
                                                            const std::vector<Example>& evaluated,
                                                            int count) {
  std::map<std::string, std::vector<Example>> worked;
  for (const Example& example : evaluated) {
    if (worked.contains(example.category)) continue;
    Dataset of_category = train;
    std::erase_if(of_category.examples, [&](const Example& one) {
      return one.category != example.category ||
             !std::equal(
                 one.fields.begin(), one.fields.end(), example.fields.begin(), example.fields.end(),
                 [](const ExampleField& a, const ExampleField& b) { return a.name == b.name; });
    });
    try {
      worked[example.category] = examples_shown(of_category, count);
    } catch (const ConfigError& error) {
      throw ConfigError(str("of category '", example.category, "', ", error.what()));
    }
  }
  return worked;
}

std::vector<Shot> make_shots(const std::vector<Example>& shown, const PromptFile& prompt) {
  std::vector<Shot> shots;
  for (const Example& example : shown) {
    std::vector<const ExampleField*> fields;
    for (const auto& field : example.fields)
      if (answered(field)) fields.push_back(&field);
    const ExampleField& field =
        *fields.at(Rng(derive_seed(kShotSeed, "shot " + example.id)).below(fields.size()));
    const std::string& asked = field.question.empty() ? field.name : field.question;
    const std::string& answer = field.references.front();
    if (shows_choices(prompt) || field.choices.empty()) {
      shots.push_back({example.text, asked + lettered(field.choices), answer});
      continue;
    }
    const auto letter = reference_letter(answer, field.choices);
    shots.push_back({example.text, asked,
                     letter ? field.choices[static_cast<std::size_t>(*letter - 'A')] : answer});
  }
  return shots;
}

ShownExamples shown_in(const Protocol& protocol, Form form) {
  OrderedJson list = OrderedJson::array();
  ShownExamples shown;
  if (form != Form::json) {
    shown.count = std::ssize(protocol.shots);
    for (const Shot& shot : protocol.shots) list.push_back({shot.context, shot.field, shot.answer});
  } else if (!protocol.worked.empty()) {
    shown.count = std::ssize(protocol.worked.begin()->second);
    for (const auto& [category, examples] : protocol.worked)
      for (const Example& example : examples) {
        list.push_back(example.text);
        for (const ExampleField& field : example.fields)
          list.push_back({field.name, field.references});
      }
  }
  shown.hash = sha256(dump(list));
  return shown;
}

Protocol default_protocol(const DatasetEntry& entry, const Dataset& dataset,
                          const std::function<Dataset()>& train, std::vector<std::string>& notes) {
  Protocol protocol{load_prompt(std::string(prompt_name(entry, dataset))), {}, entry.answer_ids};
  if (entry.shots > 0) try {
      protocol.shots = make_shots(examples_shown(train(), entry.shots), protocol.prompt);
    } catch (const ConfigError& error) {
      notes.push_back(str(entry.name, ": its prompt has ", entry.shots,
                          " worked examples, here it has none: ", error.what()));
    }
  return protocol;
}

}  // namespace pardec
