#include "src/findings/corpus.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "decoders/branch_markup.hpp"
#include "decoders/training_text.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/prompt/pieces.hpp"
#include "src/support/error.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/decode_options.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

namespace {

/// Mean number of attributes annotated in this split, over its categories.
void count_attributes(const Dataset& dataset, SplitStats& stats) {
  std::map<std::string, std::set<std::string>> attributes;
  for (const auto& example : dataset.examples) {
    auto& of_category = attributes[example.category];
    for (const auto& field : example.fields)
      if (field.annotated) of_category.insert(field.name);
  }
  stats.categories = static_cast<std::int64_t>(attributes.size());
  if (dataset.shape != Shape::attributes) return;
  Mean mean;
  for (const auto& [category, names] : attributes) mean.add(static_cast<double>(names.size()));
  stats.attributes_per_category = mean.value();
}

void add(Mean& mean, std::size_t size) { mean.add(static_cast<double>(size)); }

/// Tokens of text in the parts of an answer.
ParallelCounts text_counts(const std::vector<MarkupPart>& parts, const Tokenizer& tokenizer) {
  const auto ids = [&](const std::string& text) {
    return std::ssize(tokenizer.encode_piece(text, false));
  };
  ParallelCounts counts;
  for (const MarkupPart& part : parts) {
    counts.generated += ids(part.serial);
    counts.groups += part.branches.empty() ? 0 : 1;
    for (const MarkupPart::Branch& branch : part.branches) {
      ++counts.branches;
      const std::int64_t title = ids(branch.title);
      counts.generated += title;
      counts.branch_tokens += title + ids(":") + ids(branch.content);
    }
  }
  counts.generated += counts.branch_tokens;
  return counts;
}

/// Tokens of text in a tree whose details are the branches of one group.
ParallelCounts text_counts(const ParagraphTree& tree) {
  ParallelCounts counts{.groups = 1};
  for (int n = 0; n < tree.size(); ++n) {
    const auto tokens = std::ssize(tree.node(n).tokens);
    counts.generated += tokens;
    const int parent = tree.node(n).parent;
    if (parent < 0 || tree.node(parent).first_child != n) continue;
    ++counts.branches;
    counts.branch_tokens += tokens;
  }
  return counts;
}

/// Adds lengths of one example's prompt and reference answer in the form used by extraction
/// decoders.
void count_json_tokens(const Example& example, const Protocol& protocol, const Tokenizer& tokenizer,
                       SplitStats& stats) {
  const Job job = make_job(example.id, {&example}, Form::json, protocol, DecodeOptions{});
  const Pieces pieces =
      make_pieces(job, Form::json, protocol.prompt, find_chat_template("plain"), tokenizer);
  add(stats.instruction, pieces.prefix.size());
  add(stats.prompt, pieces.whole_prompt().size());
  std::size_t answer = 0;
  for (const auto& segment : pieces.segments) answer += segment.size();
  const auto references = references_of({&example}).front();
  for (std::size_t f = 0; f < references.size(); ++f) {
    const std::size_t size =
        tokenizer.encode_piece(json_value(references[f], f + 1 == references.size()), false).size();
    answer += size;
    if (references[f]) add(stats.value, size);
  }
  add(stats.answer, answer);
}

/// Adds lengths of the prompts and reference answers of an example whose fields are asked one by
/// one.
void count_field_tokens(const Example& example, Form form, const Protocol& protocol,
                        const Tokenizer& tokenizer, SplitStats& stats) {
  const Job job = make_job(example.id, {&example}, form, protocol, DecodeOptions{});
  const Pieces pieces =
      make_pieces(job, form, protocol.prompt, find_chat_template("plain"), tokenizer);
  add(stats.instruction, pieces.prefix.size());
  const auto references = references_of({&example}).front();
  for (std::size_t f = 0; f < references.size(); ++f) {
    if (!example.conversation || f == 0) add(stats.prompt, pieces.field_prompt(0, f).size());
    add(stats.asked, pieces.fields[0][f].size());
    const ExampleField& field = example.fields[f];
    std::size_t question = tokenizer.encode(field.question, false).size();
    for (const auto& choice : field.choices) question += tokenizer.encode(choice, false).size();
    add(stats.question, question);
    if (!field.annotated) continue;
    add(stats.answer,
        answer_ids(references[f].value_or("null"), !field.choices.empty(), tokenizer));
  }
}

void add(StagedCost& to, const StagedCost& more) {
  to.prefill.flops += more.prefill.flops, to.prefill.accesses += more.prefill.accesses;
  to.decode.flops += more.decode.flops, to.decode.accesses += more.decode.accesses;
}

}  // namespace

SplitStats stats_of(const Dataset& dataset, const Protocol& protocol, const Tokenizer& tokenizer) {
  SplitStats stats;
  stats.examples = std::ssize(dataset.examples);
  count_attributes(dataset, stats);
  for (const auto& example : dataset.examples) {
    double present = 0;
    for (const auto& field : example.fields) {
      present += !field.references.empty();
      stats.unanswerable += field.annotated && field.references.empty();
    }
    stats.all_fields += std::ssize(example.fields);
    add(stats.fields, example.fields.size());
    stats.present.add(present);
    add(stats.text, tokenizer.encode(example.text, false).size());
    if (dataset.shape == Shape::attributes)
      count_json_tokens(example, protocol, tokenizer, stats);
    else
      count_field_tokens(example, dataset.shape == Shape::open ? Form::free : Form::value, protocol,
                         tokenizer, stats);
  }
  return stats;
}

AttentionStats attention_of(const Dataset& dataset, const Protocol& protocol,
                            const Tokenizer& tokenizer, int contexts) {
  AttentionStats stats;
  const bool across = !speaks_of_category(protocol.prompt);
  std::map<std::string, std::vector<CommonContext>> stacks;  // by category, not full yet
  std::map<std::string, std::int64_t> p_of;
  const auto close = [&](const std::string& category, std::vector<CommonContext>& stack) {
    if (!stack.empty()) add(stats.ippd, ippd_cost(p_of[category], stack));
    stack.clear();
  };
  for (const auto& example : dataset.examples) {
    const Job job = make_job(example.id, {&example}, Form::value, protocol, DecodeOptions{});
    const Pieces pieces =
        make_pieces(job, Form::value, protocol.prompt, find_chat_template("plain"), tokenizer);
    const auto p = static_cast<std::int64_t>(pieces.prefix.size());
    CommonContext context{static_cast<std::int64_t>(pieces.contexts[0].size()), {}, {}};
    const auto references = references_of({&example}).front();
    for (std::size_t f = 0; f < references.size(); ++f) {
      context.x.push_back(static_cast<std::int64_t>(pieces.fields[0][f].size()));
      context.y.push_back(
          static_cast<std::int64_t>(answer_ids(references[f].value_or(std::string(kAbsent)),
                                               !example.fields[f].choices.empty(), tokenizer)));
      stats.x.add(static_cast<double>(context.x.back()));
      stats.y.add(static_cast<double>(context.y.back()));
    }
    ++stats.examples;
    stats.m.add(static_cast<double>(context.x.size()));
    stats.p.add(static_cast<double>(p));
    stats.c.add(static_cast<double>(context.c));
    add(stats.pcpa, pcpa_cost(p, context));
    const std::string category = across ? "" : example.category;
    p_of[category] = p;
    auto& stack = stacks[category];
    stack.push_back(std::move(context));
    if (static_cast<int>(stack.size()) == contexts) close(category, stack);
  }
  for (auto& [category, stack] : stacks) close(category, stack);
  return stats;
}

AttentionRatios attention_ratios(double m, double p, double c, double x, double y) {
  const double sum_x = m * x, half = y / 2;
  return {prefill_flop_factor(p, c, x, sum_x),
          prefill_access_ratio(p, c, x, sum_x, m),
          decode_flop_factor(p, c, x, half, sum_x, m * half),
          pcpa_subsequent_prefill(p, c, x).intensity(),
          ippd_prefill(p, c, sum_x).intensity(),
          pcpa_decode(p, c, x, half).intensity(),
          ippd_decode(p, c, sum_x, m * half, m).intensity()};
}

double total_flop_factor(const AttentionStats& stats) {
  return (stats.ippd.prefill.flops + stats.ippd.decode.flops) /
         (stats.pcpa.prefill.flops + stats.pcpa.decode.flops);
}

double total_access_ratio(const AttentionStats& stats) {
  return (stats.pcpa.prefill.accesses + stats.pcpa.decode.accesses) /
         (stats.ippd.prefill.accesses + stats.ippd.decode.accesses);
}

std::size_t answer_ids(const std::string& answer, bool choices, const Tokenizer& tokenizer) {
  return tokenizer.encode_piece(" " + answer, false).size() + (choices ? 0 : 1);
}

namespace {

Dataset load_split(const DatasetEntry& entry, const CorpusFiles& files, const std::string& split,
                   Inspection* inspection = nullptr) {
  return load_dataset(entry,
                      files.data_root.empty()
                          ? std::nullopt
                          : std::optional<std::filesystem::path>(files.data_root),
                      split, project_file("datasets/samples"), inspection);
}

}  // namespace

std::vector<Dataset> load_splits(const DatasetEntry& entry, const CorpusFiles& files,
                                 std::vector<Inspection>* inspections) {
  std::vector<std::string> splits(entry.splits.begin(), entry.splits.end());
  if (!files.split.empty()) splits = {files.split};
  std::vector<Dataset> loaded;
  std::optional<ConfigError> first;
  for (const auto& split : splits) try {
      Inspection inspection;
      loaded.push_back(load_split(entry, files, split, inspections ? &inspection : nullptr));
      if (inspections) inspections->push_back(std::move(inspection));
    } catch (const ConfigError& error) {
      if (!first) first = error;
    }
  if (loaded.empty()) throw *first;
  return loaded;
}

Protocol protocol_of(const DatasetEntry& entry, const Dataset& dataset, const CorpusFiles& files,
                     std::vector<std::string>& notes) {
  return default_protocol(
      entry, dataset, [&] { return load_split(entry, files, "train"); }, notes);
}

Tokenizer tokenizer_of(const CorpusFiles& files) {
  if (files.tokenizer.empty())
    return Tokenizer::load(project_file("experiments/quickstart/tokenizer.json"));
  const std::filesystem::path path = files.tokenizer;
  return Tokenizer::load(std::filesystem::is_directory(path) ? path / "tokenizer.json" : path);
}

StructureStats structure_of(const Dataset& dataset, const Tokenizer& tokenizer) {
  StructureStats stats;
  std::vector<ParallelCounts> all;
  for (const Example& example : dataset.examples)
    for (const ExampleField& field : example.fields) {
      if (field.references.empty()) continue;
      const std::string& answer = field.references.front();
      ParallelCounts& counts = all.emplace_back(text_counts(
          parse_markup(answer, str(dataset.name, ", ", example.id, ", ", field.name)), tokenizer));
      stats.marked += counts.groups > 0;
      if (counts.groups == 0)
        if (const auto tree = paragraph_tree(answer, tokenizer)) {
          counts = text_counts(*tree);
          ++stats.by_rules;
        }
      ++stats.answers;
      stats.tokens.add(static_cast<double>(counts.generated));
    }
  stats.metrics = parallel_metrics(all);
  return stats;
}

}  // namespace pardec
