#include "src/finetune/training_start.hpp"

#include <algorithm>
#include <set>

#include "datasets/attribute_extraction.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/gguf.hpp"
#include "src/support/hashing.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/request.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

TrainingStart read_start(const TrainingSpec& spec) {
  TrainingStart start;
  const std::filesystem::path model = spec.model;
  std::error_code ignored;
  if (gguf_file(model))
    throw ModelError(spec.model,
                     "is a GGUF file, which is not trained; expected a config.json or a "
                     "Hugging Face checkpoint folder");
  const bool folder = std::filesystem::is_directory(model, ignored);
  if (folder) start.weights = model;
  const std::filesystem::path config = folder ? model / "config.json" : model;
  start.config = read_json(config);
  if (!start.config.is_object())
    throw ModelError(config.string(), str("is ", start.config.type_name(), ", expected an object"));
  start.config.erase("quantization_config");  // of the widened weights, it would be wrong
  start.tokenizer = !spec.tokenizer.empty() ? std::filesystem::path(spec.tokenizer)
                    : folder                ? model / "tokenizer.json"
                                            : project_file("experiments/quickstart/tokenizer.json");
  if (std::filesystem::is_directory(start.tokenizer, ignored)) start.tokenizer /= "tokenizer.json";
  if (folder) {
    start.parsed = read_model_config(model);
    if (!start.parsed.eos.empty() && !start.config.contains("eos_token_id"))
      start.config["eos_token_id"] = start.parsed.eos;
    if (!start.parsed.tied_head && start.config.value("tie_word_embeddings", Json()) == true)
      start.config["tie_word_embeddings"] = false;  // the weights have a separate head
    return start;
  }
  const Tokenizer tokenizer = Tokenizer::load(start.tokenizer);
  if (!start.config.contains("vocab_size"))
    start.config["vocab_size"] = (tokenizer.vocab_size() + 63) / 64 * 64;
  for (const char* end : {"<|im_end|>", "</s>", "<|endoftext|>", "<|end_of_text|>"})
    if (const auto id = tokenizer.id(end); id && !start.config.contains("eos_token_id"))
      start.config["eos_token_id"] = *id;
  start.parsed = parse_model_config(start.config, config.string());
  return start;
}

TrainingData read_data(const TrainingSpec& spec) {
  TrainingData data;
  std::vector<std::filesystem::path> lists;
  std::set<std::string> held;
  const auto note = [&](const Dataset& dataset) {
    for (const auto& file : dataset.files)
      data.files.push_back({{"dataset", dataset.name},
                            {"split", dataset.split},
                            {"file", file.filename().string()},
                            {"sha256", sha256_file(file)},
                            {"examples", dataset.examples.size()}});
  };
  const auto of = [&](Shape shape, const std::string& task,
                      double unannotated) -> TrainingExamples& {
    for (TrainingExamples& examples : data.examples)
      if (examples.shape == shape && examples.task == task && examples.unannotated == unannotated)
        return examples;
    return data.examples.emplace_back(
        TrainingExamples{.shape = shape, .task = task, .unannotated = unannotated});
  };
  for (size_t at = 0; at < spec.dataset.size(); ++at) {
    const std::string& name = spec.dataset[at];
    Dataset dataset =
        load_dataset(find_dataset(name),
                     spec.data_root.empty() ? std::nullopt
                                            : std::optional<std::filesystem::path>(spec.data_root),
                     spec.split, project_file("datasets/samples"));
    note(dataset);
    if (spec.own_answers.there())
      data.own_answers.emplace_back(name, answer_by_run(dataset, spec.own_answers));
    if (dataset.shape == Shape::attributes) lists.push_back(dataset.files.front());
    if (dataset.shape == Shape::open)
      std::erase_if(dataset.examples, [](const Example& example) {
        return example.fields.front().references.empty();
      });
    if (dataset.examples.empty())
      throw ConfigError(str("dataset ", name, " has no answers to learn from; expected ",
                            spec.own_answers.there()
                                ? "answers of the run that pass the filters"
                                : "references, or a run that answered it (`from_run`)"));
    TrainingExamples& examples =
        of(dataset.shape, std::string(prompt_name(find_dataset(name), dataset)),
           spec.unannotated_in(at));
    if (spec.limit > 0) dataset.examples = select(dataset.examples, spec.limit, 0, spec.seed);
    for (Example& example : hold_out(dataset.examples, spec.validation, spec.seed)) {
      held.insert(example.cluster);
      examples.held_out.push_back(std::move(example));
    }
    std::move(dataset.examples.begin(), dataset.examples.end(), std::back_inserter(examples.train));
  }
  if (!spec.extra.empty() && lists.empty())
    throw ConfigError("`extra` has more titles of a dataset of attributes; expected one");
  for (const std::string& file : spec.extra) {
    Dataset dataset = load_attribute_extraction_file(file, lists);
    note(dataset);
    for (TrainingExamples& examples : data.examples) {
      if (examples.shape != Shape::attributes) continue;
      for (Example& example : dataset.examples)
        if (!held.contains(example.cluster)) examples.train.push_back(std::move(example));
      break;
    }
  }
  for (const TrainingExamples& examples : data.examples)
    if (!examples.train.empty()) return data;
  throw ConfigError("no example is left to train on; use a smaller `validation`");
}

}  // namespace pardec
