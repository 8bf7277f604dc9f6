#include "datasets/attribute_extraction.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kAbsent = "n/a";

struct Annotation {
  std::string attribute;
  std::vector<std::string> references;
};

struct Record {
  std::string title, category;
  std::vector<Annotation> annotations;
};

/// A place in a file, which every complaint starts with.
class Line {
 public:
  Line(const std::string& file, long number) : file_(file), number_(number) {}
  [[noreturn]] void fail(const std::string& what) const { throw DataError(file_, number_, what); }
  const std::string& file() const { return file_; }
  long number() const { return number_; }

 private:
  const std::string& file_;
  long number_;
};

/// Parses one line with the keys in the file's order. The library would silently keep one of two
/// equal keys.
OrderedJson parse_line(const std::string& text, const Line& line) {
  parse_json(text, line.file(), line.number());  // for its errors
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int, OrderedJson::parse_event_t event, OrderedJson& parsed) {
    if (event == OrderedJson::parse_event_t::object_start) open_objects.emplace_back();
    if (event == OrderedJson::parse_event_t::object_end) open_objects.pop_back();
    if (event == OrderedJson::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!open_objects.back().insert(key).second)
        line.fail(str("key '", key, "' stands twice in one object"));
    }
    return true;
  };
  return OrderedJson::parse(text, watch);
}

const OrderedJson& member(const OrderedJson& record, const char* key, const Line& line) {
  const auto found = record.find(key);
  if (found == record.end())
    line.fail(str("has no '", key, "'; expected \"input\", \"category\" and \"target_scores\""));
  return *found;
}

std::string text_member(const OrderedJson& record, const char* key, const Line& line) {
  const OrderedJson& value = member(record, key, line);
  if (!value.is_string())
    line.fail(str("'", key, "' is ", value.type_name(), ", expected a string"));
  auto text = value.get<std::string>();
  if (strip(text).empty()) line.fail(str("'", key, "' is empty, expected some text"));
  return text;
}

Annotation read_annotation(const std::string& attribute, const OrderedJson& values,
                           const Line& line) {
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
    if (std::exchange(first, false)) absent = value == kAbsent;
    auto& kept = annotation.references;
    if (!absent && value != kAbsent && std::find(kept.begin(), kept.end(), reference) == kept.end())
      kept.push_back(reference);
  }
  return annotation;
}

Record read_record(const std::string& text, const Line& line) {
  const OrderedJson json = parse_line(text, line);
  if (!json.is_object()) line.fail(str("is ", json.type_name(), ", expected an object"));
  Record record{text_member(json, "input", line), text_member(json, "category", line), {}};
  const OrderedJson& scores = member(json, "target_scores", line);
  if (!scores.is_object() || scores.empty())
    line.fail(str("'target_scores' is ", scores.empty() ? "empty" : scores.type_name(),
                  ", expected an object of at least one attribute"));
  for (const auto& [attribute, values] : scores.items())
    record.annotations.push_back(read_annotation(attribute, values, line));
  return record;
}

std::vector<Record> read_records(const std::filesystem::path& file) {
  const std::string name = file.string(), content = read_file(file);
  std::string_view rest = content;
  if (rest.substr(0, 3) == "\xEF\xBB\xBF") rest.remove_prefix(3);
  std::vector<Record> records;
  long number = 0, empty_line = 0;
  for (const auto& text : split(rest, '\n')) {
    const Line line(name, ++number);
    if (strip(text).empty()) {
      if (!empty_line) empty_line = number;
      continue;
    }
    if (empty_line)
      Line(name, empty_line).fail("is empty, but records follow; expected one record a line");
    records.push_back(read_record(text, line));
  }
  if (records.empty()) throw DataError(name, 0, "has no record, expected one JSON object a line");
  return records;
}

using AttributeLists = std::map<std::string, std::vector<std::string>>;

/// Appends the attributes that a category has not had yet, in order of appearance.
void add_attributes(AttributeLists& lists, const std::vector<Record>& records) {
  for (const Record& record : records) {
    auto& list = lists[record.category];
    for (const Annotation& annotation : record.annotations)
      if (std::find(list.begin(), list.end(), annotation.attribute) == list.end())
        list.push_back(annotation.attribute);
  }
}

std::vector<ExampleField> make_fields(const std::vector<std::string>& attributes,
                                      const Record& record) {
  std::vector<ExampleField> fields;
  for (const std::string& attribute : attributes) {
    ExampleField& field = fields.emplace_back();
    field.name = attribute;
    const auto found = std::find_if(
        record.annotations.begin(), record.annotations.end(),
        [&](const Annotation& annotation) { return annotation.attribute == attribute; });
    field.annotated = found != record.annotations.end();
    if (field.annotated) field.references = found->references;
  }
  return fields;
}

/// The examples of the last file, under the attribute lists of all.
void read_examples(Dataset& dataset, const std::vector<std::filesystem::path>& files,
                   const std::string& id_prefix) {
  AttributeLists lists;
  std::vector<Record> records;
  for (const auto& file : files) {
    records = read_records(file);
    add_attributes(lists, records);
  }
  for (const Record& record : records) {
    Example& example = dataset.examples.emplace_back();
    example.id = str(id_prefix, "-", dataset.examples.size() - 1);
    example.category = record.category;
    example.text = record.title;
    example.fields = make_fields(lists.at(record.category), record);
    example.cluster = std::string(strip(record.title));
  }
}

}  // namespace

Dataset load_attribute_extraction(std::string_view name, const std::filesystem::path& folder,
                                  std::string_view split) {
  if (split != "train" && split != "test")
    throw ConfigError(str("dataset '", name, "' has no split '", split, "'",
                          known_names(split, {"train", "test"})));
  Dataset dataset{std::string(name), std::string(split)};
  dataset.files = {folder / "train.jsonl"};
  if (split != "train") dataset.files.push_back(folder / str(split, ".jsonl"));
  for (const auto& file : dataset.files)
    if (std::error_code ignored; !std::filesystem::exists(file, ignored))
      throw ConfigError(
          str("dataset '", name, "', split '", split, "': ", file.string(), " is missing",
              file.filename() == "train.jsonl" ? " (each category's attributes are listed by it)"
                                               : ""));

  read_examples(dataset, dataset.files, std::string(split));
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
  read_examples(dataset, read, dataset.name);
  return dataset;
}

}  // namespace pardec
