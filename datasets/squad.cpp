#include "datasets/squad.hpp"

#include <algorithm>
#include <fstream>
#include <map>

#include "datasets/reading.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A text that can be indexed by code points.
class CodePoints {
 public:
  explicit CodePoints(const std::string& text) : text_(text) {
    for (size_t i = 0; i < text.size(); ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) begins_.push_back(i);
  }
  /// Whether `part` is at code point `at`.
  bool has(const std::string& part, std::int64_t at) const {
    return at >= 0 && at < std::ssize(begins_) &&
           text_.compare(begins_[static_cast<size_t>(at)], part.size(), part) == 0;
  }

 private:
  const std::string& text_;
  std::vector<size_t> begins_;
};

ExampleField read_question(const Record& qa, const CodePoints& context) {
  ExampleField field;
  field.id = qa.text("id");
  field.question = qa.text("question");
  for (const Record& answer : qa.records("answers")) {
    const std::string text = answer.text("text");
    if (const std::int64_t start = answer.integer("answer_start"); !context.has(text, start))
      answer.fail(str("'", text, "' does not occur in the context at code point ", start));
    if (std::find(field.references.begin(), field.references.end(), text) == field.references.end())
      field.references.push_back(text);
  }
  bool impossible = false;
  if (qa.has("is_impossible")) {
    if (!qa.at("is_impossible").is_boolean())
      qa.fail(str("'is_impossible' is ", qa.at("is_impossible").type_name(),
                  ", expected true or false"));
    impossible = qa.at("is_impossible").get<bool>();
  }
  if (impossible && !field.references.empty())
    qa.fail("'is_impossible' is true, but 'answers' has some; expected one or the other");
  if (!impossible && field.references.empty())
    qa.fail("'answers' is empty, expected at least one, or \"is_impossible\": true");
  return field;
}

/// Reads rows of Hugging Face's export, one question per row.
void read_rows(Dataset& dataset, Inspection* inspection) {
  ExamplesByKey examples(dataset);  // by context
  each_record(dataset.files, inspection, [&](const Record& row) {
    const std::string context = row.text("context");
    const CodePoints points(context);
    ExampleField field;
    field.id = row.text("id");
    field.question = row.text("question");
    const Record answers = row.record("answers");
    const auto texts = answers.texts("text");
    const OrderedJson& starts = answers.at("answer_start");
    if (!starts.is_array() || starts.size() != texts.size())
      answers.fail("'answer_start' is no list of as many numbers as 'text' has answers");
    for (size_t a = 0; a < texts.size(); ++a) {
      if (!starts[a].is_number_integer() || !points.has(texts[a], starts[a].get<std::int64_t>()))
        answers.fail(
            str("'", texts[a], "' does not occur in the context at code point ", dump(starts[a])));
      if (std::find(field.references.begin(), field.references.end(), texts[a]) ==
          field.references.end())
        field.references.push_back(texts[a]);
    }
    const std::string title = row.has("title") ? row.text("title") : "all";
    const auto [example, fresh] = examples.of(context);
    if (fresh) {
      example.id = str(dataset.split, "-", dataset.examples.size() - 1);
      example.category = title;
      example.text = context;
      example.cluster = cluster_of(context);
    }
    ExamplesByKey::add(example, std::move(field));
  });
}

void read_article(const Record& article, Dataset& dataset, Inspection* inspection,
                  std::int64_t& paragraphs) {
  const std::string title = article.text("title");
  for (const Record& paragraph : article.records("paragraphs"))
    guarded(inspection, [&] {
      Example example;
      example.id = str(dataset.split, "-", paragraphs++);
      example.category = title;
      example.text = paragraph.text("context");
      example.cluster = cluster_of(example.text);
      const CodePoints context(example.text);
      for (const Record& qa : paragraph.records("qas"))
        guarded(inspection, [&] {
          example.fields.push_back(read_question(qa, context));
          example.fields.back().name = str("q", example.fields.size());
        });
      // SQuAD's train file has paragraphs without questions.
      if (!example.fields.empty()) dataset.examples.push_back(std::move(example));
    });
}

/// Calls `take` for each object of the list "data", and frees it afterwards.
void each_article(const std::filesystem::path& file,
                  const std::function<void(const OrderedJson&, size_t index)>& take) {
  const std::string name = file.string();
  std::ifstream in = open_data(file);
  size_t articles = 0;
  bool in_data = false, any_data = false;
  const auto watch = [&](int depth, OrderedJson::parse_event_t event, OrderedJson& parsed) {
    if (depth > kDeepestJson)
      throw DataError(name, 0,
                      str("is nested too deeply after ", articles, " articles; expected at most ",
                          kDeepestJson, " levels"));
    if (event == OrderedJson::parse_event_t::key && depth == 1)
      in_data = parsed.get<std::string>() == "data", any_data = any_data || in_data;
    if (event != OrderedJson::parse_event_t::object_end || depth != 2 || !in_data) return true;
    take(parsed, articles++);
    return false;
  };
  try {
    // objects were already taken
    [[maybe_unused]] const OrderedJson rest = OrderedJson::parse(in, watch);
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError(name, 0,
                    str("is not valid JSON: ",
                        error.byte > std::filesystem::file_size(file) ? "the text ends"
                                                                      : "unexpected character",
                        " at byte ", error.byte, ", after ", articles,
                        " articles; expected one complete JSON value"));
  } catch (const nlohmann::json::out_of_range&) {
    throw DataError(name, 0, "has a number that no double holds");
  }
  if (!any_data) throw DataError(name, 0, "has no 'data', expected {\"version\", \"data\": [...]}");
}

}  // namespace

Dataset load_squad(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection) {
  check_split("squad", split, {"train", "dev", "train-v1.1", "dev-v1.1", "train-v2.0", "dev-v2.0"});
  Dataset dataset{"squad", std::string(split)};
  dataset.shape = Shape::questions;
  std::vector<std::string> names{str(split, ".json")};
  if (split == "train" || split == "dev")
    names = {str(split, "-v2.0.json"), str(split, "-v1.1.json")};
  const bool published = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    std::error_code ignored;
    return std::filesystem::exists(folder / name, ignored);
  });
  if (!published && (split == "train" || split == "dev")) {
    std::vector<std::string> rows{std::string(split)};
    if (split == "dev") rows.emplace_back("validation");
    dataset.files = find_rows(folder, rows);
    if (!dataset.files.empty()) {
      read_rows(dataset, inspection);
      return dataset;
    }
    for (const std::string& name : rows) names.push_back(name + ".jsonl");
  }
  const std::filesystem::path file = find_file("squad", split, folder, names);
  dataset.files = {file};
  note_encoding(file, inspection);
  std::int64_t paragraphs = 0;
  guarded(inspection, [&] {
    each_article(file, [&](const OrderedJson& json, size_t index) {
      guarded(inspection, [&] {
        read_article(Record(json, file.string(), 0, str("data[", index, "]")), dataset, inspection,
                     paragraphs);
      });
    });
  });
  return dataset;
}

}  // namespace pardec
