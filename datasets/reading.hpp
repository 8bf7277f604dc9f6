#pragma once
// Helpers of the loaders: lines and records of files, and errors with their places.
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/support/error.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// Longer lines are refused; otherwise a file without line breaks would be read into memory as a
/// whole.
inline constexpr std::size_t kLongestLine = 64u << 20;

/// Calls `read`. A DataError is thrown, or noted if there is an inspection.
template <typename Read>
void guarded(Inspection* inspection, Read read) {
  try {
    read();
  } catch (const DataError& error) {
    if (!inspection) throw;
    inspection->faults.emplace_back(error.what());
  }
}

/// Throws the error, or notes it if there is an inspection.
void complain(Inspection* inspection, const DataError& error);

/// Opens a file for reading piece by piece. DataError: it cannot be opened, or is a folder.
std::ifstream open_data(const std::filesystem::path& file);

/// Calls `take(text, number)` for each line of a file, one at a time. Line ends (LF or CRLF) and a
/// byte order mark are removed; CRLF and the mark are noted. The lines of a Parquet file are its
/// rows as JSON, converted by from_parquet.py. ConfigError: no Python with pyarrow is found.
/// DataError: a line is longer than kLongestLine; it is left out. Returns false if the file is
/// empty.
bool each_raw_line(const std::filesystem::path& file, Inspection* inspection,
                   const std::function<void(std::string& text, long number)>& take);

/// The same for lines that are records. Empty lines are skipped, and noted if they are between
/// others. DataErrors of `take` are guarded. DataError: the file has no record.
void each_line(const std::filesystem::path& file, Inspection* inspection,
               const std::function<void(const std::string& text, long number)>& take);

/// Parses JSON, keeping the order of keys. DataError: invalid JSON, or a key that occurs twice in
/// one object (the library would keep only one). `line` 0: the text is a whole file.
OrderedJson parse_record(std::string_view text, const std::string& file, long line);

/// Notes that an inspected file ends without a line break. This is the only sign that a CSV file
/// was cut inside its last column.
void note_open_end(const std::filesystem::path& file, Inspection* inspection);

/// Notes a byte order mark and CRLF of an inspected file.
void note_encoding(const std::filesystem::path& file, Inspection* inspection);

/// Reads a JSON file as a whole, and notes its encoding.
OrderedJson read_record(const std::filesystem::path& file, Inspection* inspection);

/// A part of a record, with its place. Members are checked; each error is a DataError with the
/// file, the line if there are lines, and the member.
class Record {
 public:
  /// `place`: the path of this part inside the line or file, e.g. "data[2]"; may be empty.
  /// REQUIRES: `object` outlives this. DataError: it is not an object.
  Record(const OrderedJson& object, std::string file, long line, std::string place = "");

  DataError error(std::string_view what) const;
  [[noreturn]] void fail(std::string_view what) const { throw error(what); }
  bool has(const char* key) const;
  /// DataError: the member is missing.
  const OrderedJson& at(const char* key) const;
  std::string text(const char* key) const;   ///< a string that is not blank
  std::string plain(const char* key) const;  ///< any string
  std::int64_t integer(const char* key) const;
  std::vector<std::string> texts(const char* key) const;  ///< a list of strings that are not blank
  std::vector<std::string> texts_or_none(const char* key) const;
  std::vector<std::string> plains(const char* key) const;  ///< a list of any strings
  std::vector<Record> records(const char* key) const;      ///< a list of objects
  Record record(const char* key) const;                    ///< an object
  const OrderedJson& json() const { return object_; }
  std::string place(std::string_view member) const;

 private:
  const OrderedJson& object_;
  std::string file_;
  long line_;
  std::string place_;
};

/// Builds examples whose questions are in separate rows, each row with the key of its example.
class ExamplesByKey {
 public:
  /// `dataset` must outlive this object.
  explicit ExamplesByKey(Dataset& dataset) : dataset_(dataset) {}

  /// The example of the key, and whether it is new; a new example is empty.
  std::pair<Example&, bool> of(const std::string& key);
  /// Adds a question with the name q1, q2, ... to its example.
  static void add(Example& example, ExampleField field);

 private:
  Dataset& dataset_;
  std::map<std::string, std::size_t> places_;
};

/// The cluster of examples with this text: a hash, because texts can be long.
std::string cluster_of(std::string_view text);

/// The first existing file of `names` under `folder`. ConfigError, which lists all names: none
/// exists.
std::filesystem::path find_file(std::string_view dataset, std::string_view split,
                                const std::filesystem::path& folder,
                                const std::vector<std::string>& names);

bool is_parquet(const std::filesystem::path& file);

/// Calls `take` for the record on each line of each file, like each_line.
void each_record(const std::vector<std::filesystem::path>& files, Inspection* inspection,
                 const std::function<void(const Record& record)>& take);

/// The files with the rows of a split, as published on the Hugging Face Hub: NAME.jsonl for the
/// first of `names` that exists, otherwise the Parquet files NAME.parquet, or
/// NAME-00000-of-00002.parquet and so on, in order. Empty: there are none.
std::vector<std::filesystem::path> find_rows(const std::filesystem::path& folder,
                                             const std::vector<std::string>& names);

/// The same files; if there are none, `own`, a file of the publisher. ConfigError, which lists all
/// names: none exists. `name`: that of the rows. `own` may be empty: there is no such file.
std::vector<std::filesystem::path> rows_of(const Dataset& dataset,
                                           const std::filesystem::path& folder,
                                           const std::string& name, const std::string& own = "");

/// ConfigError, with similar names: `split` is not one of `splits`.
void check_split(std::string_view dataset, std::string_view split,
                 const std::vector<std::string>& splits);
/// A dataset of open prompts without examples. ConfigError as check_split.
Dataset open_dataset(std::string_view name, std::string_view split,
                     const std::vector<std::string>& splits);

}  // namespace pardec
