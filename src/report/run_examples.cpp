#include "src/report/run_examples.hpp"

#include <algorithm>
#include <map>

#include "metrics/attribute_f1.hpp"
#include "src/report/table.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Generations = std::map<std::string, StoredGeneration>;

/// The first repeat of each sample.
Generations first_answers(Store& store, RowId run) {
  Generations out;
  for (auto& generation : store.generations(run))
    if (generation.repeat == 0) out.emplace(generation.row.sample, std::move(generation));
  return out;
}

bool absent(const std::string& text) { return text.empty() || text == "n/a" || text == "None"; }

const FieldAnswer* answer_to(const StoredGeneration& generation, const std::string& field) {
  for (const auto& answer : generation.row.fields)
    if (answer.name == field) return &answer;
  return nullptr;
}

/// `judged`: values may be held against the annotation (never under an oracle).
ReportField report_field(const SampleRow& sample, const Json& field,
                         const std::vector<const StoredGeneration*>& arms, bool judged) {
  ReportField out;
  out.name = field.at("name").get<std::string>();
  out.annotated = field.value("annotated", true);
  for (const auto& reference : field.value("references", std::vector<std::string>()))
    if (!absent(reference)) out.gold.push_back(reference);
  for (const StoredGeneration* arm : arms) {
    if (arm->row.error) {
      out.answers.push_back({.failed = true});
      continue;
    }
    const FieldAnswer* answer = answer_to(*arm, out.name);
    const std::string text = answer ? answer->text : "";
    ReportAnswer shown{absent(text) ? "" : text};
    if (!out.answers.empty()) {
      const FieldAnswer* first = answer_to(*arms.front(), out.name);
      shown.differs = (first ? first->text : "") != text;
    }
    if (judged && out.annotated && !(shown.text.empty() && out.gold.empty())) {
      const AttributeCounts one =
          count(AttributePrediction{sample.category, out.name, true, out.gold,
                                    text.empty() ? std::nullopt : std::optional(text)});
      shown.correctness = one.vc || one.nn ? Correctness::right : Correctness::wrong;
    }
    out.answers.push_back(std::move(shown));
  }
  return out;
}

ReportExample report_example(const SampleRow& sample, const StoredGeneration& baseline,
                             const StoredGeneration& method, bool judged) {
  ReportExample out;
  out.key = sample.key;
  out.category = sample.category;
  out.text = sample.text;
  const auto& error = method.row.error ? method.row.error : baseline.row.error;
  if (error) {
    out.kind = ExampleKind::failed;
    out.note = "Failed: " + *error;
  }
  Json fields = sample.fields;
  if (fields.empty())  // a database that holds no references
    for (const auto& answer : method.row.fields)
      fields.push_back({{"name", answer.name}, {"annotated", false}});
  for (const auto& field : fields)
    out.fields.push_back(report_field(sample, field, {&baseline, &method}, judged));
  if (error) return out;
  const bool differs = std::any_of(out.fields.begin(), out.fields.end(),
                                   [](const auto& field) { return field.answers.back().differs; });
  out.kind = differs ? ExampleKind::differing : ExampleKind::identical;
  if (const auto& identity = method.row.identity; differs && identity && identity->gap)
    out.note = str("First differing token: number ", identity->first_difference.value_or(0) + 1,
                   " of the values; the network's two best choices there lay ",
                   number_cell(*identity->gap, 3).text, " logits apart.");
  return out;
}

}  // namespace

ExampleGroup example_group(Store& store, const RunSummary& baseline, const RunSummary& method,
                           int count, std::uint64_t seed) {
  const bool judged = !method.run.oracle;
  const Generations theirs = first_answers(store, baseline.run.id),
                    ours = first_answers(store, method.run.id);
  std::map<ExampleKind, std::vector<ReportExample>> found;
  for (const auto& sample : store.samples(store.dataset_of(method.run.id))) {
    const auto their = theirs.find(sample.key), our = ours.find(sample.key);
    if (their == theirs.end() || our == ours.end()) continue;
    ReportExample example = report_example(sample, their->second, our->second, judged);
    found[example.kind].push_back(std::move(example));
  }
  ExampleGroup group;
  group.heading =
      str(method.run.dataset.name, ": ", method.run.label, " beside ", baseline.run.label);
  group.arms = {baseline.run.label, method.run.label};
  std::vector<std::string> parts;
  for (const auto kind : {ExampleKind::failed, ExampleKind::differing, ExampleKind::identical}) {
    auto& examples = found[kind];
    const auto most = static_cast<std::size_t>(kind == ExampleKind::differing ? 2 * count : count);
    std::vector<std::size_t> order(examples.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    Rng rng(derive_seed(seed, group.heading));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    const std::size_t shown = std::min(most, order.size());
    std::sort(order.begin(), order.begin() + static_cast<long>(shown));
    for (std::size_t i = 0; i < shown; ++i) group.examples.push_back(std::move(examples[order[i]]));
    const char* name = kind == ExampleKind::failed      ? "failed"
                       : kind == ExampleKind::differing ? "differing"
                                                        : "identical";
    if (!examples.empty() || kind != ExampleKind::failed)
      parts.push_back(examples.empty() ? str("none ", name)
                                       : str(shown, " of ", examples.size(), " ", name));
  }
  group.note = str("Drawn with seed ", seed, ": ", join(parts, ", "), ".");
  if (method.run.oracle == "references")
    group.note += " The answers were forced, so they are the gold values.";
  return group;
}

}  // namespace pardec
