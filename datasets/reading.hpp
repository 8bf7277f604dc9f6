#pragma once
// Functions that the loaders share: they read the lines and records of files, and make errors that
// name the place.
//
// `inspection` is null in a run. In `data check`, it collects peculiarities of files as notes, and,
// where a function says so, DataErrors as faults.
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

/// The maximum length of a line in bytes. Without this limit, a file without line breaks would be
/// read into memory as a whole.
inline constexpr std::size_t kLongestLine = 64u << 20;

/// Calls `read`. With an inspection, a DataError that `read` throws is noted there (as a fault);
/// otherwise it is rethrown.
template <typename Read>
void guarded(Inspection* inspection, Read read) {
  try {
    read();
  } catch (const DataError& error) {
    if (!inspection) throw;
    inspection->faults.emplace_back(error.what());
  }
}

/// Notes the error in the inspection; if `inspection` is null, throws it.
void complain(Inspection* inspection, const DataError& error);

/// Opens a file for reading. DataError: the file cannot be opened, or is not a regular file.
std::ifstream open_data(const std::filesystem::path& file);

/// Calls `take(text, number)` for each line of a file; numbers count from 1. Line ends (LF or CRLF)
/// and a byte order mark are removed from the text; CRLF and the mark are noted. A Parquet file is
/// converted first (datasets/from_parquet.py): each row becomes a line of JSON. Returns false if
/// the file is empty.
///
/// ConfigError: the file is Parquet and cannot be converted, e.g. because there is no Python with
/// pyarrow. RunError: the temporary file for the rows cannot be created or written. DataError: the
/// file cannot be read (open_data), or a line is longer than kLongestLine. With an inspection, a
/// line that is too long is a fault, and is left out. Exceptions of `take` pass through.
bool each_raw_line(const std::filesystem::path& file, Inspection* inspection,
                   const std::function<void(std::string& text, long number)>& take);

/// Calls `take(text, number)` for each line of each_raw_line that is not blank. Blank lines between
/// other lines are noted. DataError: `take` throws a DataError, or all lines are blank; with an
/// inspection, both are faults. Other errors: see each_raw_line.
void each_line(const std::filesystem::path& file, Inspection* inspection,
               const std::function<void(const std::string& text, long number)>& take);

/// Parses JSON, and keeps the order of keys. `file` and `line`: the place, for errors; `line` is 0
/// if the text is a whole file. DataError: the JSON is invalid or nested too deeply, or a key
/// occurs twice in an object (the parser would keep only one of the two values).
OrderedJson parse_record(std::string_view text, const std::string& file, long line);

/// Makes a note if the file does not end with a line break. This is the only sign that a CSV file
/// was cut within its last column. Does nothing without an inspection. DataError: see open_data.
void note_open_end(const std::filesystem::path& file, Inspection* inspection);

/// Makes a note if the file has a byte order mark, and if it has CRLF. Does nothing without an
/// inspection. DataError: see read_file.
void note_encoding(const std::filesystem::path& file, Inspection* inspection);

/// Reads a file that is one JSON value, and calls note_encoding. DataError: see read_file and
/// parse_record.
OrderedJson read_record(const std::filesystem::path& file, Inspection* inspection);

/// A JSON object in a file, and the object's place, for errors. The functions return members of the
/// object. They throw a DataError if the member is missing or has another type. The message names
/// the file, the line (if the file has lines), and the path of the member.
class Record {
 public:
  /// `line`: 0 if the file has no lines, but is one JSON value. `place`: the path of the object
  /// within the line or the file, e.g. "data[2]"; may be empty. `object` must outlive this Record
  /// and the Records made from it. DataError: `object` is not a JSON object.
  Record(const OrderedJson& object, std::string file, long line, std::string place = "");

  /// An error about this object, with its place.
  DataError error(std::string_view what) const;
  [[noreturn]] void fail(std::string_view what) const { throw error(what); }
  /// Whether the object has a member `key`, and the member is not null.
  bool has(const char* key) const;
  /// The value of a member, which may be null.
  const OrderedJson& at(const char* key) const;
  std::string text(const char* key) const;   ///< a string that is not blank
  std::string plain(const char* key) const;  ///< any string
  std::int64_t integer(const char* key) const;
  std::vector<std::string> texts(const char* key) const;  ///< a list of strings that are not blank
  /// Like texts(); empty if the member is missing or null.
  std::vector<std::string> texts_or_none(const char* key) const;
  std::vector<std::string> plains(const char* key) const;  ///< a list of any strings
  std::vector<Record> records(const char* key) const;      ///< a list of objects
  Record record(const char* key) const;                    ///< an object
  const OrderedJson& json() const { return object_; }
  /// The path of a member within the line or the file, e.g. "data[2].title".
  std::string place(std::string_view member) const;

 private:
  const OrderedJson& object_;
  std::string file_;
  long line_;
  std::string place_;
};

/// Builds examples from rows with one question each. Rows with the same key belong to the same
/// example.
class ExamplesByKey {
 public:
  /// `dataset` must outlive this object.
  explicit ExamplesByKey(Dataset& dataset) : dataset_(dataset) {}

  /// The example for a key, and whether the example is new. A new example is empty, and is the last
  /// example of the dataset. The reference is valid until the next call.
  std::pair<Example&, bool> of(const std::string& key);
  /// Adds a question to an example. The questions of an example have the names q1, q2, ..., in the
  /// order in which they are added.
  static void add(Example& example, ExampleField field);

 private:
  Dataset& dataset_;
  std::map<std::string, std::size_t> places_;
};

/// The cluster of an example with this text: 16 hexadecimal digits of a hash of the stripped text,
/// because texts can be long.
std::string cluster_of(std::string_view text);

/// Finds a file of a dataset, which may have one of several names. Returns the path of the first
/// file of `names` that exists in `folder`. `dataset` and `split` are for the message; `split` may
/// be empty. ConfigError, which lists all names: none of the files exists.
std::filesystem::path find_file(std::string_view dataset, std::string_view split,
                                const std::filesystem::path& folder,
                                const std::vector<std::string>& names);

/// Whether the file's name ends with .parquet.
bool is_parquet(const std::filesystem::path& file);

/// Calls `take` for each record of each file. Each line of the files that is not blank is a record:
/// a JSON object. `record` is valid only during the call. Errors: see each_line; DataError: a line
/// is not a valid record (parse_record, Record). With an inspection, this is a fault.
void each_record(const std::vector<std::filesystem::path>& files, Inspection* inspection,
                 const std::function<void(const Record& record)>& take);

/// The files with the rows of a split, as published on the Hugging Face Hub. `names`: possible
/// names of the split. If a file NAME.jsonl exists for one of the names, the result is the first
/// such file. Otherwise, the result is all Parquet files of the first name for which there are any
/// (NAME.parquet, NAME-00000-of-00002.parquet, ...), sorted. Empty: there are no such files.
std::vector<std::filesystem::path> find_rows(const std::filesystem::path& folder,
                                             const std::vector<std::string>& names);

/// The files with the rows of a dataset. `name`: name of the split in file names. The result is the
/// files that find_rows finds for `name`, or, if there are none, the publisher's file `own` (empty:
/// the publisher has no such file). ConfigError, which lists all names: none exists.
std::vector<std::filesystem::path> rows_of(const Dataset& dataset,
                                           const std::filesystem::path& folder,
                                           const std::string& name, const std::string& own = "");

/// ConfigError: `split` is not one of `splits`; the message suggests similar names.
void check_split(std::string_view dataset, std::string_view split,
                 const std::vector<std::string>& splits);
/// An empty dataset of open prompts with this name and split. ConfigError: see check_split.
Dataset open_dataset(std::string_view name, std::string_view split,
                     const std::vector<std::string>& splits);

}  // namespace pardec
