#include "datasets/reading.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

#include "src/support/child_program.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hashing.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

void note(Inspection* inspection, const std::string& file, std::string_view what) {
  if (inspection) inspection->notes.push_back(str(file, ": ", what));
}

constexpr std::string_view kMarkNote = "begins with a byte order mark, which is left out";
constexpr std::string_view kCrlfNote = "has lines that end in CRLF, read as LF";

/// Reads the lines of a file, keeping at most one in memory.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file)
      : name_(file.string()), in_(open_data(file)) {}

  /// False at the end. `too_long`: the line exceeds the limit and is left out; the next call skips
  /// its rest.
  bool next(std::string& line, bool& too_long) {
    line.clear();
    too_long = false;
    bool any = false;
    while (fill()) {
      const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
      const size_t stop = rest.find('\n');
      const std::string_view part = rest.substr(0, stop);
      begin_ += stop == std::string_view::npos ? part.size() : stop + 1;
      if (in_rest_) {
        in_rest_ = stop == std::string_view::npos;
        continue;
      }
      any = true;
      too_long = line.size() + part.size() > kLongestLine;
      in_rest_ = too_long && stop == std::string_view::npos;
      if (too_long) return true;
      line += part;
      if (stop != std::string_view::npos) return true;
    }
    return any;
  }

 private:
  bool fill() {
    if (begin_ < end_) return true;
    if (!in_) return false;
    in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    if (in_.bad()) throw DataError(name_, 0, "cannot be read to its end");
    begin_ = 0, end_ = static_cast<size_t>(in_.gcount());
    return end_ > 0;
  }

  std::string name_;
  std::ifstream in_;
  std::vector<char> buffer_ = std::vector<char>(1u << 16);
  size_t begin_ = 0, end_ = 0;
  bool in_rest_ = false;  // inside the rest of a line that was too long
};

}  // namespace

namespace {

/// The rows of a Parquet file as JSON lines, in a temporary file that this object owns.
class JsonLines {
 public:
  explicit JsonLines(const std::filesystem::path& parquet) {
    const std::string script = project_file("datasets/from_parquet.py").string();
    const ChildRun converted = run_child({project_python(), "-I", script, parquet.string()}, "");
    if (!converted.good())
      throw ConfigError(str(parquet.string(), ": is Parquet, and cannot be read: ",
                            converted.error ? "there is no " + project_python()
                                            : std::string(strip(converted.complaint)),
                            "; expected a Python with pyarrow (.venv/bin/pip install pyarrow), or "
                            "JSON lines"));
    std::string name = (std::filesystem::temp_directory_path() / "pardec-XXXXXX").string();
    const int file = ::mkstemp(name.data());
    if (file < 0) throw RunError(str(name, ": cannot be made: ", std::strerror(errno)));
    ::close(file);
    path_ = name;
    std::ofstream out(path_, std::ios::binary);
    out << converted.out;
    out.close();
    if (out) return;
    std::filesystem::remove(path_);
    throw RunError(str(name, ": cannot be written; expected ", converted.out.size() >> 20,
                       " MB of free space for the rows of ", parquet.string()));
  }
  ~JsonLines() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

std::ifstream open_data(const std::filesystem::path& file) {
  check_regular(file);
  std::ifstream in(file, std::ios::binary);
  if (!in) throw DataError(file.string(), 0, str("cannot be read: ", std::strerror(errno)));
  return in;
}

void complain(Inspection* inspection, const DataError& error) {
  guarded(inspection, [&] { throw error; });
}

bool each_raw_line(const std::filesystem::path& file, Inspection* inspection,
                   const std::function<void(std::string& text, long number)>& take) {
  const std::string name = file.string();
  const std::optional<JsonLines> rows =
      is_parquet(file) ? std::optional<JsonLines>(std::in_place, file) : std::nullopt;
  LineReader reader(rows ? rows->path() : file);
  long number = 0;
  bool crlf = false, too_long = false;
  for (std::string line; reader.next(line, too_long);) {
    ++number;
    if (number == 1 && line.starts_with(kMark)) {
      line.erase(0, kMark.size());
      note(inspection, name, kMarkNote);
    }
    if (too_long) {
      complain(inspection,
               DataError(name, number,
                         str("is longer than ", kLongestLine >> 20,
                             " MiB; expected one record a line (are its line breaks missing?)")));
      continue;
    }
    if (line.ends_with('\r')) line.pop_back(), crlf = true;
    take(line, number);
  }
  if (crlf) note(inspection, name, kCrlfNote);
  return number > 0;
}

void each_line(const std::filesystem::path& file, Inspection* inspection,
               const std::function<void(const std::string& text, long number)>& take) {
  const std::string name = file.string();
  long empty_line = 0;  // an empty line before further records
  bool any = false;
  each_raw_line(file, inspection, [&](std::string& line, long number) {
    if (strip(line).empty()) {
      if (!empty_line) empty_line = number;
      return;
    }
    any = true;
    if (empty_line) note(inspection, str(name, ":", empty_line), "is empty, and ignored");
    empty_line = 0;
    guarded(inspection, [&] { take(line, number); });
  });
  if (!any)
    complain(inspection, DataError(name, 0, "has no record, expected one JSON object a line"));
}

OrderedJson parse_record(std::string_view text, const std::string& file, long line) {
  std::vector<std::set<std::string>> open_objects;
  std::string twice;
  const auto watch = [&](int, OrderedJson::parse_event_t event, OrderedJson& parsed) {
    if (event == OrderedJson::parse_event_t::object_start) open_objects.emplace_back();
    if (event == OrderedJson::parse_event_t::object_end) open_objects.pop_back();
    if (event == OrderedJson::parse_event_t::key)
      if (const auto key = parsed.get<std::string>(); !open_objects.back().insert(key).second)
        twice = key;
    return true;
  };
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  if (too_deep(text) != std::string_view::npos) parse_json(text, file, line);  // throws the error
  OrderedJson json = OrderedJson::parse(text, watch, /*allow_exceptions=*/false);
  if (json.is_discarded()) parse_json(text, file, line);  // throws the error
  if (!twice.empty())
    throw DataError(file, line, str("key '", twice, "' occurs twice in one object"));
  return json;
}

void note_open_end(const std::filesystem::path& file, Inspection* inspection) {
  if (!inspection) return;
  std::ifstream in = open_data(file);
  in.seekg(-1, std::ios::end);
  if (const int last = in.get(); last != '\n' && last != '\r' && in)
    note(inspection, file.string(), "ends without a line break; is it whole?");
}

void note_encoding(const std::filesystem::path& file, Inspection* inspection) {
  if (!inspection) return;
  const std::string text = read_file(file);
  if (text.starts_with(kMark)) note(inspection, file.string(), kMarkNote);
  if (text.find("\r\n") != std::string::npos) note(inspection, file.string(), kCrlfNote);
}

OrderedJson read_record(const std::filesystem::path& file, Inspection* inspection) {
  note_encoding(file, inspection);
  return parse_record(read_file(file), file.string(), 0);
}

// --- Record ---

Record::Record(const OrderedJson& object, std::string file, long line, std::string place)
    : object_(object), file_(std::move(file)), line_(line), place_(std::move(place)) {
  if (!object_.is_object()) fail(str("is ", object_.type_name(), ", expected an object"));
}

std::string Record::place(std::string_view member) const {
  return place_.empty() ? std::string(member) : str(place_, ".", member);
}

DataError Record::error(std::string_view what) const {
  return DataError(file_, line_, place_.empty() ? std::string(what) : str(place_, ": ", what));
}

bool Record::has(const char* key) const {
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

const OrderedJson& Record::at(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) {
    std::vector<std::string> keys;
    for (const auto& [name, value] : object_.items()) keys.push_back(name);
    fail(str("has no '", key, "'", known_names(key, keys)));
  }
  return *found;
}

std::string Record::plain(const char* key) const {
  const OrderedJson& value = at(key);
  if (!value.is_string()) fail(str("'", key, "' is ", value.type_name(), ", expected a string"));
  return value.get<std::string>();
}

std::string Record::text(const char* key) const {
  std::string text = plain(key);
  if (strip(text).empty()) fail(str("'", key, "' is empty, expected some text"));
  return text;
}

std::int64_t Record::integer(const char* key) const {
  const OrderedJson& value = at(key);
  if (!value.is_number_integer())
    fail(str("'", key, "' is ", value.type_name(), ", expected a whole number"));
  return value.get<std::int64_t>();
}

std::vector<std::string> Record::texts_or_none(const char* key) const {
  return has(key) ? texts(key) : std::vector<std::string>{};
}

std::vector<std::string> Record::plains(const char* key) const {
  const OrderedJson& list = at(key);
  if (!list.is_array())
    fail(str("'", key, "' is ", list.type_name(), ", expected a list of strings"));
  std::vector<std::string> texts;
  for (const auto& item : list) {
    if (!item.is_string())
      fail(str(key, "[", texts.size(), "] is ", item.type_name(), ", expected a string"));
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::vector<std::string> Record::texts(const char* key) const {
  std::vector<std::string> texts = plains(key);
  for (size_t i = 0; i < texts.size(); ++i)
    if (strip(texts[i]).empty()) fail(str(key, "[", i, "] is empty, expected some text"));
  return texts;
}

std::vector<Record> Record::records(const char* key) const {
  const OrderedJson& list = at(key);
  if (!list.is_array())
    fail(str("'", key, "' is ", list.type_name(), ", expected a list of objects"));
  std::vector<Record> records;
  for (const auto& item : list)
    records.emplace_back(item, file_, line_, place(str(key, "[", records.size(), "]")));
  return records;
}

Record Record::record(const char* key) const { return {at(key), file_, line_, place(key)}; }

// --- Files ---

std::pair<Example&, bool> ExamplesByKey::of(const std::string& key) {
  const auto [found, fresh] = places_.emplace(key, dataset_.examples.size());
  if (fresh) dataset_.examples.emplace_back();
  return {dataset_.examples[found->second], fresh};
}

void ExamplesByKey::add(Example& example, ExampleField field) {
  field.name = str("q", example.fields.size() + 1);
  example.fields.push_back(std::move(field));
}

std::string cluster_of(std::string_view text) { return sha256(strip(text)).substr(0, 16); }

std::filesystem::path find_file(std::string_view dataset, std::string_view split,
                                const std::filesystem::path& folder,
                                const std::vector<std::string>& names) {
  std::vector<std::string> wanted;
  for (const auto& name : names) {
    if (std::error_code ignored; std::filesystem::exists(folder / name, ignored))
      return folder / name;
    wanted.push_back((folder / name).string());
  }
  throw ConfigError(str("dataset '", dataset, "'",
                        split.empty() ? "" : str(", split '", split, "'"), ": ",
                        join(wanted, " or "), " is missing"));
}

void each_record(const std::vector<std::filesystem::path>& files, Inspection* inspection,
                 const std::function<void(const Record& record)>& take) {
  for (const std::filesystem::path& file : files)
    each_line(file, inspection, [&](const std::string& text, long number) {
      const OrderedJson json = parse_record(text, file.string(), number);
      take(Record(json, file.string(), number));
    });
}

bool is_parquet(const std::filesystem::path& file) {
  return lower_ascii(file.extension().string()) == ".parquet";
}

std::vector<std::filesystem::path> find_rows(const std::filesystem::path& folder,
                                             const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const std::string& name : names)
    if (const auto file = folder / (name + ".jsonl"); std::filesystem::exists(file, ignored))
      return {file};
  for (const std::string& name : names) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string stem = entry.path().stem().string();
      if (is_parquet(entry.path()) && (stem == name || stem.starts_with(name + "-")))
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (!files.empty()) return files;
  }
  return {};
}

std::vector<std::filesystem::path> rows_of(const Dataset& dataset,
                                           const std::filesystem::path& folder,
                                           const std::string& name, const std::string& own) {
  auto files = find_rows(folder, {name});
  if (!files.empty()) return files;
  std::vector<std::string> names{name + ".jsonl", name + ".parquet"};
  if (!own.empty()) names.insert(names.begin(), own);
  return {find_file(dataset.name, dataset.split, folder, names)};
}

void check_split(std::string_view dataset, std::string_view split,
                 const std::vector<std::string>& splits) {
  for (const auto& known : splits)
    if (split == known) return;
  throw ConfigError(
      str("dataset '", dataset, "' has no split '", split, "'", known_names(split, splits)));
}

Dataset open_dataset(std::string_view name, std::string_view split,
                     const std::vector<std::string>& splits) {
  check_split(name, split, splits);
  Dataset dataset{std::string(name), std::string(split)};
  dataset.shape = Shape::open;
  return dataset;
}

}  // namespace pardec
