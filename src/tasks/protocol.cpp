#include "src/tasks/protocol.hpp"

#include <algorithm>

#include "src/prompt/prompt_choice.hpp"
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

std::vector<Shot> make_shots(const std::vector<Example>& shown) {
  std::vector<Shot> shots;
  for (const Example& example : shown) {
    std::vector<const ExampleField*> fields;
    for (const auto& field : example.fields)
      if (answered(field)) fields.push_back(&field);
    const ExampleField& field =
        *fields.at(Rng(derive_seed(kShotSeed, "shot " + example.id)).below(fields.size()));
    shots.push_back(
        {example.text,
         (field.question.empty() ? field.name : field.question) + lettered(field.choices),
         field.references.front()});
  }
  return shots;
}

std::string hash_of(const std::vector<Shot>& shots) {
  OrderedJson list = OrderedJson::array();
  for (const Shot& shot : shots) list.push_back({shot.context, shot.field, shot.answer});
  return sha256(dump(list));
}

Protocol default_protocol(const DatasetEntry& entry, const Dataset& dataset,
                          const std::function<Dataset()>& train, std::vector<std::string>& notes) {
  Protocol protocol{load_prompt(std::string(prompt_name(entry, dataset))), {}, entry.answer_ids};
  if (entry.shots > 0) try {
      protocol.shots = make_shots(examples_shown(train(), entry.shots));
    } catch (const ConfigError& error) {
      notes.push_back(str(entry.name, ": its prompt has ", entry.shots,
                          " worked examples, here it has none: ", error.what()));
    }
  return protocol;
}

}  // namespace pardec
