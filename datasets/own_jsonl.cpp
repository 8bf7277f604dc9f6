#include "datasets/own_jsonl.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "datasets/csv.hpp"
#include "datasets/reading.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A text, or a number converted to text.
std::string plain_of(const Record& record, const OrderedJson& value, const std::string& key) {
  if (value.is_number()) return dump(value);
  if (!value.is_string() || strip(value.get_ref<const std::string&>()).empty())
    record.fail(str(key, " is ", value.is_string() ? "empty" : value.type_name(),
                    ", expected some text, or a number"));
  return value.get<std::string>();
}

/// A list of such values, or a single one.
std::vector<std::string> plains_of(const Record& record, const char* key) {
  std::vector<std::string> texts;
  if (!record.has(key)) return texts;
  const OrderedJson& value = record.at(key);
  if (!value.is_array()) return {plain_of(record, value, str("'", key, "'"))};
  for (const OrderedJson& item : value)
    texts.push_back(plain_of(record, item, str(key, "[", texts.size(), "]")));
  return texts;
}

/// A text, or an integer converted to text.
std::string name_at(const Record& record, const char* key) {
  const OrderedJson& value = record.at(key);
  return value.is_number_integer() ? dump(value) : record.text(key);
}

void read_references(const Record& record, ExampleField& field) {
  field.annotated = record.has("references");
  field.references = plains_of(record, "references");
}

/// Counts a record with a key that is not read. `what()` is the message for the first record.
template <typename What>
void count_unread(Dataset& dataset, const Record& record, const std::string& key,
                  const What& what) {
  auto unread = std::find_if(dataset.unread.begin(), dataset.unread.end(),
                             [&](const UnreadColumn& column) { return column.name == key; });
  if (unread == dataset.unread.end())
    unread = dataset.unread.insert(unread, {key, record.error(what()).what()});
  ++unread->records;
}

/// A field's choices, and the labels that references use for them. Formats: a list of texts; {"A":
/// "red", "B": "blue"}; or {"label": ["A", "B"], "text": ["red", "blue"]}, as in ARC.
struct Choices {
  std::vector<std::string> texts, labels;
};

Choices choices_of(const Record& field) {
  Choices choices;
  if (!field.has("choices")) return choices;
  if (!field.at("choices").is_object()) {
    choices.texts = plains_of(field, "choices");
    return choices;
  }
  const Record named = field.record("choices");
  if (named.has("text") && named.has("label")) {
    choices.texts = plains_of(named, "text");
    choices.labels = plains_of(named, "label");
  } else {
    for (const auto& [label, text] : named.json().items()) {
      choices.labels.push_back(label);
      choices.texts.push_back(plain_of(named, text, str("'", label, "'")));
    }
  }
  if (choices.labels.size() != choices.texts.size())
    named.fail(str("has ", choices.labels.size(), " labels and ", choices.texts.size(),
                   " texts, expected as many"));
  return choices;
}

/// The content of a chat message: a text, or the parts of type "text". `may_be_empty`: empty
/// content is allowed for this role.
std::string content_of(const Record& message, const char* key, bool may_be_empty = false) {
  if (!message.at(key).is_array()) return may_be_empty ? message.plain(key) : message.text(key);
  std::vector<std::string> texts;
  for (const Record& part : message.records(key)) {
    if (part.has("type") && part.text("type") != "text")
      part.fail(str("is of type '", part.text("type"), "', expected only text"));
    texts.push_back(part.text("text"));
  }
  if (texts.empty()) message.fail(str("'", key, "' is empty, expected what is said"));
  return join(texts, "\n");
}

/// Reads the records of one file.
class OwnRecords {
 public:
  explicit OwnRecords(Dataset& dataset) : dataset_(dataset) {}

  void add(const Record& record) {
    Example example;
    example.id = str(dataset_.split, "-", records_++);
    const Shape shape = read_example(record, example);
    if (first_ && shape != *first_)
      record.fail(
          "is of another shape than the records before; expected all with questions, all with "
          "names only, or all open prompts");
    if (shape == Shape::attributes) {
      std::vector<std::string> names;
      for (const auto& field : example.fields) names.push_back(field.name);
      if (attributes_.emplace(example.category, names).first->second != names)
        record.fail(str("has other fields than the records of category '", example.category,
                        "' before; expected the same names in the same order"));
    }
    first_ = shape;
    dataset_.shape = shape;
    example.cluster =
        cluster_of(str(example.text, example.text.empty() ? example.fields[0].question : ""));
    dataset_.examples.push_back(std::move(example));
  }

 private:
  /// Notes the keys that are not read.
  void check_keys(const Record& record, const std::vector<std::string>& known) {
    for (const auto& [key, value] : record.json().items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      if (key == "references")
        record.fail(
            "'references' is where it is not read: together with messages, or with 'fields', which "
            "have their own");
      count_unread(dataset_, record, key, [&name = key, &known] {
        return str("unknown key '", name, "'", known_names(name, known));
      });
    }
  }

  ExampleField read_field(const Record& record, size_t number) {
    check_keys(record, {"id", "name", "question", "choices", "references"});
    ExampleField field;
    if (record.has("id")) field.id = name_at(record, "id");
    if (record.has("question")) field.question = record.text("question");
    if (record.has("name"))
      field.name = record.text("name");
    else if (!field.question.empty())
      field.name = str("q", number);
    else
      record.fail("has neither 'name' nor 'question', expected one of them");
    const Choices choices = choices_of(record);
    field.choices = choices.texts;
    read_references(record, field);
    if (field.choices.size() > kMostChoices)
      record.fail(str("has ", field.choices.size(), " choices, expected at most ", kMostChoices));
    if (field.choices.empty()) return field;
    for (std::string& reference : field.references) {
      const auto label = std::find(choices.labels.begin(), choices.labels.end(), reference);
      const auto letter =
          label == choices.labels.end()
              ? reference_letter(reference, field.choices)
              : std::optional(static_cast<char>('A' + (label - choices.labels.begin())));
      if (!letter)
        record.fail(str("'references' has '", reference,
                        "', expected the letter of a choice (A to ",
                        static_cast<char>('A' + field.choices.size() - 1), ") or a choice's text"));
      reference = std::string(1, *letter);
    }
    return field;
  }

  /// Reads the turns of a record with "prompt" or "turns".
  void read_turns(const Record& record, Example& example) {
    const bool one = record.has("prompt");
    check_keys(record, {"id", "category", "system", one ? "prompt" : "turns", "references"});
    const auto turns = one ? std::vector{record.text("prompt")} : record.texts("turns");
    if (turns.empty()) record.fail("'turns' is empty, expected what the user says");
    for (size_t t = 0; t < turns.size(); ++t) {
      ExampleField& field = example.fields.emplace_back();
      field.name = turns.size() == 1 ? "answer" : str("turn ", t + 1);
      field.question = turns[t];
      field.annotated = false;
    }
    if (turns.size() == 1)
      read_references(record, example.fields.front());
    else if (record.has("references"))
      record.fail("'references' is given for several turns, expected none");
    example.conversation = turns.size() > 1;
  }

  /// Reads the turns from a list of messages, as in chat services ("role", "content") or ShareGPT
  /// ("from", "value"): an optional system message, then user and assistant alternate.
  void read_messages(const Record& record, const char* all, Example& example) {
    check_keys(record, {"id", "category", "system", all});
    const std::map<std::string, std::string> others{
        {"developer", "system"},  {"human", "user"},      {"gpt", "assistant"},
        {"chatgpt", "assistant"}, {"model", "assistant"}, {"bot", "assistant"}};
    for (const Record& message : record.records(all)) {
      const bool shared = message.has("from") && !message.has("role");
      const char* who = shared ? "from" : "role";
      const char* what = shared ? "value" : "content";
      check_keys(message, {who, what});
      std::string role = message.text(who);
      if (const auto other = others.find(role); other != others.end()) role = other->second;
      const bool asked = !example.fields.empty() && !example.fields.back().annotated;
      if (role == "system" && example.fields.empty()) {
        const std::string said = content_of(message, what, /*may_be_empty=*/true);
        example.system = example.system ? *example.system + "\n\n" + said : said;
        continue;
      }
      if (role != (asked ? "assistant" : "user"))
        message.fail(str("'", who, "' is '", message.text(who), "', expected ",
                         asked ? "assistant" : "user",
                         ": the two take turns, and the user begins, after the system's message "
                         "where there is one"));
      if (asked) {
        example.fields.back().annotated = true;
        example.fields.back().references = {content_of(message, what)};
        continue;
      }
      ExampleField& field = example.fields.emplace_back();
      field.question = content_of(message, what);
      field.annotated = false;
    }
    if (example.fields.empty())
      record.fail(str("'", all, "' is empty, expected what the user says"));
    const bool one = example.fields.size() == 1;
    for (size_t t = 0; t < example.fields.size(); ++t)
      example.fields[t].name = one ? "answer" : str("turn ", t + 1);
    example.conversation = !one;
  }

  Shape read_example(const Record& record, Example& example) {
    if (record.has("id")) example.id = name_at(record, "id");
    example.category = record.has("category") ? name_at(record, "category") : "all";
    // Next to a prompt, an empty "system" means that there is none; in a list of messages, an empty
    // one counts.
    if (record.has("system") && !record.plain("system").empty())
      example.system = record.plain("system");
    const bool of_messages = record.has("prompt") && record.at("prompt").is_array();
    if (!of_messages && (record.has("prompt") || record.has("turns"))) {
      read_turns(record, example);
      return Shape::open;
    }
    for (const char* messages : {of_messages ? "prompt" : "messages", "conversations"})
      if (record.has(messages)) {
        read_messages(record, messages, example);
        return Shape::open;
      }
    check_keys(record, {"id", "category", "system", "text", "fields"});
    if (!record.has("text") && !record.has("fields"))
      record.fail(
          "has neither 'prompt', 'turns', 'messages' nor 'text' and 'fields', expected one of "
          "them");
    example.text = record.text("text");
    for (const Record& field : record.records("fields")) {
      ExampleField read = read_field(field, example.fields.size() + 1);
      for (size_t other = 0; other < example.fields.size(); ++other)
        if (example.fields[other].name == read.name)
          field.fail(
              str("is named '", read.name, "' as field ", other + 1,
                  " of the record is (without a name, the second is q2); expected one name each"));
      example.fields.push_back(std::move(read));
    }
    if (example.fields.empty()) record.fail("'fields' is empty, expected at least one");
    const auto asks = [](const ExampleField& field) {
      return !field.question.empty() || !field.choices.empty();
    };
    const auto asked = std::count_if(example.fields.begin(), example.fields.end(), asks);
    if (asked != 0 && asked != std::ssize(example.fields))
      record.fail("has fields with and without 'question' or 'choices', expected all or none");
    return asked ? Shape::questions : Shape::attributes;
  }

  Dataset& dataset_;
  std::int64_t records_ = 0;
  std::optional<Shape> first_;
  std::map<std::string, std::vector<std::string>> attributes_;  // per category
};

void note_unread(const Dataset& dataset, Inspection* inspection) {
  if (!inspection) return;
  for (const UnreadColumn& column : dataset.unread)
    inspection->notes.push_back(str(dataset.files.front().string(), ": key '", column.name, "' of ",
                                    column.records, column.records == 1 ? " record" : " records",
                                    " is not read"));
}

/// Renames the user's columns for prompt (and reference) to the standard names. Other columns with
/// these names are noted as unread.
OrderedJson with_columns(const Record& record, const OwnFile& own, Dataset& dataset) {
  if (own.prompt.empty() && own.reference.empty()) return record.json();
  OrderedJson json = OrderedJson::object();
  if (!own.prompt.empty()) json["prompt"] = record.at(own.prompt.c_str());
  if (!own.reference.empty()) json["references"] = record.at(own.reference.c_str());
  for (const auto& [key, value] : record.json().items()) {
    if (key == own.prompt || key == own.reference) continue;
    if (key != "references" && (key != "prompt" || own.prompt.empty())) {
      json[key] = value;
      continue;
    }
    count_unread(dataset, record, key,
                 [&name = key] { return str("key '", name, "' is not read"); });
  }
  return json;
}

void read_lines(Dataset& dataset, Inspection* inspection, const OwnFile& own = {}) {
  OwnRecords records(dataset);
  const std::filesystem::path file = dataset.files.front();
  each_line(file, inspection, [&](const std::string& text, long number) {
    const OrderedJson json = parse_record(text, file.string(), number);
    const OrderedJson named = with_columns(Record(json, file.string(), number), own, dataset);
    records.add(Record(named, file.string(), number));
  });
  note_unread(dataset, inspection);
}

/// Whether a file contains a single JSON list, whatever its name.
bool is_list(const std::filesystem::path& file) {
  std::ifstream in = open_data(file);
  for (std::string bytes(3, '\0'); in.read(bytes.data(), 1);) {
    const char c = bytes[0];
    if (c == '\xEF' && in.read(bytes.data(), 2)) continue;  // a byte order mark
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return c == '[';
  }
  return false;
}

/// Reads a JSON file that is one list of records.
void read_list(Dataset& dataset, Inspection* inspection, const OwnFile& own) {
  OwnRecords records(dataset);
  const std::filesystem::path file = dataset.files.front();
  guarded(inspection, [&] {
    const OrderedJson json = read_record(file, inspection);
    if (!json.is_array())
      throw DataError(file.string(), 0,
                      str("is ", json.type_name(), ", expected a list of records"));
    for (size_t i = 0; i < json.size(); ++i)
      guarded(inspection, [&] {
        const std::string place = str("[", i, "]");
        const OrderedJson named =
            with_columns(Record(json[i], file.string(), 0, place), own, dataset);
        records.add(Record(named, file.string(), 0, place));
      });
  });
  note_unread(dataset, inspection);
}

/// Reads the prompts of a table.
void read_table(const OwnFile& own, Dataset& dataset, Inspection* inspection) {
  OwnRecords records(dataset);
  const std::string prompt = own.prompt.empty() ? "prompt" : own.prompt;
  std::vector<std::string> wanted{prompt};
  if (!own.reference.empty()) wanted.push_back(own.reference);
  std::map<std::string, std::int64_t> unread;
  const std::vector<std::string> read{prompt, own.reference, "id", "category", "system"};
  each_row(own.file, wanted, inspection, [&](const CsvRow& row) {
    OrderedJson json = OrderedJson::object();
    json["prompt"] = row.text(prompt);
    if (!own.reference.empty()) json["references"] = {row.text(own.reference)};
    for (const char* key : {"id", "category", "system"})
      if (const auto found = row.fields.find(key);
          found != row.fields.end() && key != prompt && !strip(found->second).empty())
        json[key] = found->second;
    for (const auto& [column, value] : row.fields)
      if (std::find(read.begin(), read.end(), column) == read.end()) ++unread[column];
    records.add(Record(json, row.file, row.line));
  });
  for (const auto& [column, count] : unread)
    dataset.unread.push_back(
        {column, str(own.file.string(), ": column '", column, "' is not read"), count});
  note_unread(dataset, inspection);
}

}  // namespace

Dataset load_own_jsonl(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection) {
  Dataset dataset{"jsonl", std::string(split)};
  dataset.shape = Shape::open;
  dataset.files = {find_file("jsonl", split, folder, {str(split, ".jsonl")})};
  read_lines(dataset, inspection);
  return dataset;
}

std::optional<OwnFile> parse_own_file(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  OwnFile own;
  own.name = std::string(text.substr(0, equals));
  const auto parts = pardec::split(text.substr(equals + 1), ':');
  own.file = parts[0];
  if (parts.size() > 1) own.prompt = parts[1];
  if (parts.size() > 2) own.reference = parts[2];
  if (own.name.empty() || parts[0].empty() || parts.size() > 3)
    throw ConfigError(str("`dataset` is '", text,
                          "', expected NAME=FILE.jsonl, or NAME=FILE.csv:COLUMN or "
                          "NAME=FILE.csv:COLUMN:REFERENCE with the columns of prompts and of "
                          "references"));
  for (const DatasetEntry& entry : datasets())
    if (entry.name == own.name)
      throw ConfigError(str("`dataset` is '", text, "', but ", own.name,
                            " is a dataset of 'pardec list datasets'; expected another name"));
  return own;
}

Dataset read_own_file(const OwnFile& own, Inspection* inspection) {
  Dataset dataset{own.name, "test"};
  dataset.shape = Shape::open;
  dataset.files = {own.file};
  const std::string kind = lower_ascii(own.file.extension().string());
  if (std::error_code ignored; !std::filesystem::exists(own.file, ignored))
    throw ConfigError(str("dataset '", own.name, "': ", own.file.string(), " is missing"));
  if (kind == ".csv" || kind == ".tsv")
    read_table(own, dataset, inspection);
  else if (!is_parquet(own.file) && is_list(own.file))
    read_list(dataset, inspection, own);
  else
    read_lines(dataset, inspection, own);
  return dataset;
}

}  // namespace pardec
