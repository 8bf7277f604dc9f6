#include "datasets/amazon_reviews.hpp"

#include <algorithm>
#include <set>

#include "datasets/reading.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kPrefix = "meta_";

std::vector<ExampleField> read_attributes(const std::filesystem::path& file,
                                          Inspection* inspection) {
  const OrderedJson json = read_record(file, inspection);
  std::vector<ExampleField> fields;
  std::set<std::string> names;
  for (const Record& attribute : Record(json, file.string(), 0).records("attributes")) {
    ExampleField& field = fields.emplace_back();
    field.name = attribute.text("name");
    field.question = attribute.text("definition");
    field.annotated = false;
    if (!names.insert(field.name).second)
      attribute.fail(str("attribute '", field.name, "' is defined twice"));
  }
  if (fields.empty()) throw DataError(file.string(), 0, "'attributes' is empty, expected some");
  return fields;
}

/// Title, description and bullets, as far as present, each with its name.
std::string product_text(const Record& product) {
  std::string text = str("Title: ", strip(product.text("title")));
  if (const auto parts = product.texts_or_none("description"); !parts.empty())
    text += "\nDescription: " + join(parts, " ");
  if (const auto bullets = product.texts_or_none("features"); !bullets.empty())
    text += "\nBullets:\n- " + join(bullets, "\n- ");
  return text;
}

}  // namespace

Dataset load_amazon_reviews(const std::filesystem::path& folder, std::string_view split,
                            Inspection* inspection) {
  check_split("amazon-reviews", split, {"test"});
  Dataset dataset{"amazon-reviews", std::string(split)};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".jsonl" &&
        entry.path().filename().string().starts_with(kPrefix))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw ConfigError(str("dataset 'amazon-reviews': ", folder.string(),
                          " has no meta_CATEGORY.jsonl, expected one or more"));
  for (const auto& file : files) {
    const std::string category = file.stem().string().substr(kPrefix.size());
    const auto definitions =
        find_file("amazon-reviews", split, folder, {str("attributes/", category, ".json")});
    std::vector<ExampleField> fields;
    guarded(inspection, [&] { fields = read_attributes(definitions, inspection); });
    if (fields.empty()) continue;  // the fault has been noted
    dataset.files.insert(dataset.files.end(), {file, definitions});
    std::int64_t untitled = 0;
    each_line(file, inspection, [&](const std::string& text, long number) {
      const OrderedJson json = parse_record(text, file.string(), number);
      const Record product(json, file.string(), number);
      if (!product.has("title") || strip(product.plain("title")).empty()) {
        ++untitled;
        return;
      }
      Example example;
      example.id = product.text("parent_asin");
      example.category = category;
      example.text = product_text(product);
      example.fields = fields;
      example.cluster = cluster_of(example.text);
      dataset.examples.push_back(std::move(example));
    });
    if (untitled && inspection)
      inspection->notes.push_back(
          str(file.string(), ": ", untitled, " products without a title are left out"));
  }
  return dataset;
}

}  // namespace pardec
