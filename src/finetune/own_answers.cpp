#include "src/finetune/own_answers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "src/scoring/dataset_rows.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The run of the given invocation and arm on this dataset.
RunRow chosen_run(Store& store, const OwnAnswers& from, const Dataset& dataset) {
  const std::string invocation = find_invocation(store, from.run);
  std::vector<RunRow> of_dataset;
  std::set<std::string> others, arms;
  for (RunRow& run : store.find_runs({.invocation = invocation})) {
    if (run.dataset.name != dataset.name) {
      others.insert(run.dataset.name);
      continue;
    }
    arms.insert(run.label);
    if (from.arm.empty() || run.label == from.arm) of_dataset.push_back(std::move(run));
  }
  const std::string where = str(from.db, ": run ", invocation.substr(0, 8));
  if (arms.empty())
    throw ConfigError(str(where, " has no answers to dataset ", dataset.name, "; it has ",
                          join({others.begin(), others.end()}, ", ")));
  if (of_dataset.size() != 1)
    throw ConfigError(str(where, " has the arms ", join({arms.begin(), arms.end()}, ", "), " for ",
                          dataset.name, "; expected one of them as `from_arm`",
                          from.arm.empty() ? "" : str(", found '", from.arm, "'")));
  const RunRow& run = of_dataset.front();
  if (run.oracle)
    throw ConfigError(str(where, ": answers of ", run.label, " were forced by an oracle (",
                          *run.oracle, "), expected the network's own"));
  const DatasetRow here = dataset_row(dataset);
  if (!same_split(run.dataset, here) || run.dataset.sha256 != here.sha256)
    throw ConfigError(str(where, " read split ", run.dataset.split_text(), " of ", dataset.name,
                          " from files that are not those of split ", here.split_text(),
                          " here; expected the same `data_root` and `split`"));
  return run;
}

bool finished(const GenerationRow& answer) {
  return std::none_of(answer.fields.begin(), answer.fields.end(), [](const FieldAnswer& field) {
    return field.stop == "limit" || field.stop == "context";
  });
}

}  // namespace

double sequence_repetition(const Tokens& ids) {
  if (ids.size() < 4) return 0;
  std::set<std::array<Token, 4>> seen;
  const size_t grams = ids.size() - 3;
  for (size_t i = 0; i < grams; ++i) seen.insert({ids[i], ids[i + 1], ids[i + 2], ids[i + 3]});
  return 1 - static_cast<double>(seen.size()) / static_cast<double>(grams);
}

OrderedJson OwnAnswerCount::json() const {
  return {{"kept", kept},     {"cut", cut},          {"absent", absent}, {"unfinished", unfinished},
          {"length", length}, {"repeated", repeated}};
}

OwnAnswerCount answer_by_run(Dataset& dataset, const OwnAnswers& from) {
  Store store(from.db, {.read_only = true});
  std::map<std::string, GenerationRow> answers;
  for (StoredGeneration& stored : store.generations(chosen_run(store, from, dataset).id))
    if (stored.repeat == 0 && !stored.row.error)
      answers.emplace(stored.row.sample, std::move(stored.row));
  OwnAnswerCount count;
  std::vector<Example> kept;
  for (Example& example : dataset.examples) {
    const auto found = answers.find(example.id);
    if (found == answers.end() || found->second.fields.size() != example.fields.size()) {
      ++count.absent;
      continue;
    }
    const GenerationRow& answer = found->second;
    const std::int64_t ids = std::ssize(answer.tokens);
    const bool whole = finished(answer);
    if (!whole && !(from.cut && dataset.shape == Shape::open)) {
      ++count.unfinished;
    } else if (ids < from.least || (from.most > 0 && ids > from.most)) {
      ++count.length;
    } else if (sequence_repetition(answer.tokens) > from.repetition) {
      ++count.repeated;
    } else {
      for (size_t i = 0; i < example.fields.size(); ++i) {
        const std::string& text = answer.fields[i].text;
        example.fields[i].references =
            text.empty() ? std::vector<std::string>() : std::vector<std::string>{text};
        example.fields[i].annotated = true;
      }
      example.unfinished = !whole;
      kept.push_back(std::move(example));
      ++count.kept;
      count.cut += !whole;
    }
  }
  dataset.examples = std::move(kept);
  return count;
}

}  // namespace pardec
