#include "datasets/attribute_extraction.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "datasets/reading.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kAbsent = "n/a";

struct Annotation {
  std::string attribute;
  std::vector<std::string> references;
};

struct Product {
  std::string title, category;
  std::vector<Annotation> annotations;
};

Annotation read_annotation(const std::string& attribute, const OrderedJson& values,
                           const Record& line) {
  if (strip(attribute).empty()) line.fail("'target_scores' has an attribute without a name");
  if (!values.is_object() || values.empty())
    line.fail(str("attribute '", attribute, "' is ", values.empty() ? "empty" : values.type_name(),
                  ", expected an object of at least one value, such as {\"", kAbsent, "\": 1}"));
  Annotation annotation{attribute, {}};
  bool first = true, absent = false;
  for (const auto& [value, score] : values.items()) {
    if (!score.is_number() || score.get<double>() != 1)
      line.fail(str("attribute '", attribute, "', value '", value, "' has score ", dump(score),
                    ", expected 1"));
    const std::string reference(strip(value));
    if (reference.empty()) line.fail(str("attribute '", attribute, "' has a blank value"));
    if (std::exchange(first, false)) absent = reference == kAbsent;
    auto& kept = annotation.references;
    if (!absent && reference != kAbsent &&
        std::find(kept.begin(), kept.end(), reference) == kept.end())
      kept.push_back(reference);
  }
  return annotation;
}

Product read_product(const Record& line) {
  Product product{line.text("input"), line.text("category"), {}};
  const OrderedJson& scores = line.at("target_scores");
  if (!scores.is_object() || scores.empty())
    line.fail(str("'target_scores' is ", scores.empty() ? "empty" : scores.type_name(),
                  ", expected an object of at least one attribute"));
  for (const auto& [attribute, values] : scores.items())
    product.annotations.push_back(read_annotation(attribute, values, line));
  return product;
}

std::vector<Product> read_products(const std::filesystem::path& file, Inspection* inspection) {
  std::vector<Product> products;
  each_line(file, inspection, [&](const std::string& text, long number) {
    const OrderedJson json = parse_record(text, file.string(), number);
    products.push_back(read_product(Record(json, file.string(), number)));
  });
  return products;
}

using AttributeLists = std::map<std::string, std::vector<std::string>>;

/// Appends new attributes of each category, in order of appearance.
void add_attributes(AttributeLists& lists, const std::vector<Product>& products) {
  for (const Product& product : products) {
    auto& list = lists[product.category];
    for (const Annotation& annotation : product.annotations)
      if (std::find(list.begin(), list.end(), annotation.attribute) == list.end())
        list.push_back(annotation.attribute);
  }
}

std::vector<ExampleField> make_fields(const std::vector<std::string>& attributes,
                                      const Product& product) {
  std::vector<ExampleField> fields;
  for (const std::string& attribute : attributes) {
    ExampleField& field = fields.emplace_back();
    field.name = attribute;
    const auto found = std::find_if(
        product.annotations.begin(), product.annotations.end(),
        [&](const Annotation& annotation) { return annotation.attribute == attribute; });
    field.annotated = found != product.annotations.end();
    if (field.annotated) field.references = found->references;
  }
  return fields;
}

/// Reads the examples of the last file, with the attribute lists of all files.
void read_examples(Dataset& dataset, const std::vector<std::filesystem::path>& files,
                   const std::string& id_prefix, Inspection* inspection) {
  AttributeLists lists;
  std::vector<Product> products;
  for (const auto& file : files) {
    products = read_products(file, inspection);
    add_attributes(lists, products);
  }
  for (const Product& product : products) {
    Example& example = dataset.examples.emplace_back();
    example.id = str(id_prefix, "-", dataset.examples.size() - 1);
    example.category = product.category;
    example.text = product.title;
    example.fields = make_fields(lists.at(product.category), product);
    example.cluster = std::string(strip(product.title));
  }
}

}  // namespace

Dataset load_attribute_extraction(std::string_view name, const std::filesystem::path& folder,
                                  std::string_view split, Inspection* inspection) {
  check_split(name, split, {"train", "test"});
  Dataset dataset{std::string(name), std::string(split)};
  dataset.files = {folder / "train.jsonl"};
  if (split != "train") dataset.files.push_back(folder / str(split, ".jsonl"));
  for (const auto& file : dataset.files)
    if (std::error_code ignored; !std::filesystem::exists(file, ignored))
      throw ConfigError(
          str("dataset '", name, "', split '", split, "': ", file.string(), " is missing",
              file.filename() == "train.jsonl" ? " (each category's attributes are listed by it)"
                                               : ""));

  read_examples(dataset, dataset.files, std::string(split), inspection);
  return dataset;
}

Dataset load_attribute_extraction_file(const std::filesystem::path& file,
                                       const std::vector<std::filesystem::path>& lists) {
  if (std::error_code ignored; !std::filesystem::exists(file, ignored))
    throw ConfigError(str(file.string(), " is missing, expected records as in train.jsonl"));
  Dataset dataset{file.stem().string(), "train"};
  dataset.files = {file};
  std::vector<std::filesystem::path> read = lists;
  read.push_back(file);
  read_examples(dataset, read, dataset.name, nullptr);
  return dataset;
}

}  // namespace pardec
