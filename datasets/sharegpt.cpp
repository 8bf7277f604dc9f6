#include "datasets/sharegpt.hpp"

#include <algorithm>

#include "datasets/reading.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr int kFewestPoints = 3;
constexpr std::size_t kShortestDetail = 10;  // characters

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Code, mathematics and addresses make the structure of a response uncertain.
bool is_confusing(std::string_view response) {
  for (const std::string_view mark : {"```", "http://", "https://", "www.", "$$", "\\frac", "\\[",
                                      "\\(", "\\begin{", "def ", "#include", "</"})
    if (response.find(mark) != std::string_view::npos) return true;
  return false;
}

/// The detail of a point "1. title: detail"; empty: the line is no point.
std::string_view detail_of(std::string_view line) {
  line = strip(line);
  std::size_t at = 0;
  while (at < line.size() && is_digit(line[at])) ++at;
  if (at == 0 || at + 1 >= line.size() || line[at] != '.' || line[at + 1] != ' ') return {};
  const std::size_t colon = line.find(':', at + 2);
  if (colon == std::string_view::npos || strip(line.substr(at + 2, colon - at - 2)).empty())
    return {};
  return strip(line.substr(colon + 1));
}

int points(std::string_view response) {
  int count = 0;
  for (const std::string& line : split(std::string(response), '\n')) {
    const std::string_view detail = detail_of(line);
    if (detail.empty()) continue;
    if (detail.size() < kShortestDetail) return 0;  // a list of short facts has no details
    ++count;
  }
  return count;
}

bool has_several_sentences(std::string_view paragraph) {
  for (std::size_t i = 0; i + 2 < paragraph.size(); ++i)
    if (std::string_view(".!?").find(paragraph[i]) != std::string_view::npos &&
        (paragraph[i + 1] == ' ' || paragraph[i + 1] == '\n'))
      return true;
  return false;
}

int detailed_paragraphs(std::string_view response) {
  int count = 0;
  std::string paragraph;
  const auto end = [&] {
    count += has_several_sentences(strip(paragraph));
    paragraph.clear();
  };
  for (const std::string& line : split(std::string(response), '\n'))
    if (strip(line).empty())
      end();
    else
      paragraph += line + "\n";
  end();
  return count;
}

}  // namespace

std::string_view name(ResponseForm form) {
  switch (form) {
    case ResponseForm::ordered_list:
      return "ordered list";
    case ResponseForm::paragraphs:
      return "paragraphs";
    case ResponseForm::unstructured:
      break;
  }
  return "unstructured";
}

ResponseForm form_of(std::string_view response) {
  if (is_confusing(response)) return ResponseForm::unstructured;
  if (points(response) >= kFewestPoints) return ResponseForm::ordered_list;
  if (detailed_paragraphs(response) >= kFewestPoints) return ResponseForm::paragraphs;
  return ResponseForm::unstructured;
}

Dataset load_sharegpt(const std::filesystem::path& folder, std::string_view split,
                      Inspection* inspection) {
  Dataset dataset = open_dataset("sharegpt", split, {"test"});
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".json" && entry.path().filename() != kStandinNote)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty()) files = {find_file("sharegpt", split, folder, {"*.json"})};
  const std::filesystem::path& file = files.front();
  dataset.files = {file};
  guarded(inspection, [&] {
    const OrderedJson list = read_record(file, inspection);
    if (!list.is_array())
      throw DataError(file.string(), 0,
                      str("is ", list.type_name(), ", expected a list of conversations"));
    for (std::size_t i = 0; i < list.size(); ++i)
      guarded(inspection, [&] {
        const Record record(list[i], file.string(), 0, str("[", i, "]"));
        Example example;
        example.id = record.text("id");
        const char* expected = "human";
        for (const Record& turn : record.records("conversations")) {
          const std::string from = turn.text("from");
          const std::string who = from == "user" ? "human" : from == "chatgpt" ? "gpt" : from;
          if (example.fields.empty() && who != "human") continue;
          if (who != expected) break;
          const std::string value = turn.plain("value");
          if (strip(value).empty()) break;
          if (who == "human") {
            ExampleField field;
            field.name = str("turn ", example.fields.size() + 1);
            field.question = value;
            example.fields.push_back(std::move(field));
            expected = "gpt";
          } else {
            example.fields.back().references = {value};
            expected = "human";
          }
        }
        if (!example.fields.empty() && example.fields.back().references.empty())
          example.fields.pop_back();
        if (example.fields.empty()) return;
        if (example.fields.size() == 1) example.fields.front().name = "answer";
        example.conversation = example.fields.size() > 1;
        const bool structured =
            form_of(example.fields.front().references.front()) != ResponseForm::unstructured;
        example.category = structured ? "structured" : "unstructured";
        example.cluster = cluster_of(example.fields.front().question);
        dataset.examples.push_back(std::move(example));
      });
  });
  return dataset;
}

}  // namespace pardec
