#pragma once
// What loaders share: lines and records of files, and complaints that name their place.
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

/// Lines beyond this are refused: a file without line breaks would else be read whole.
inline constexpr std::size_t kLongestLine = 64u << 20;

/// Calls `read`. Its DataError is thrown, or noted where the files are inspected.
template <typename Read>
void guarded(Inspection* inspection, Read read) {
  try {
    read();
  } catch (const DataError& error) {
    if (!inspection) throw;
    inspection->faults.emplace_back(error.what());
  }
}

/// Throws, or notes where the files are inspected.
void complain(Inspection* inspection, const DataError& error);

/// A file to be read piece by piece. DataError: it cannot be opened, or is a folder.
std::ifstream open_data(const std::filesystem::path& file);

/// Calls `take(text, number)` for each line of a file, one at a time, without its end (LF or CRLF)
/// and without a byte order mark, and notes these. Of a Parquet file the lines are its rows as
/// JSON, by from_parquet.py; ConfigError where no Python with pyarrow is found. DataError: a line
/// beyond kLongestLine, which is left out. False: the file is empty.
bool each_raw_line(const std::filesystem::path& file, Inspection* inspection,
                   const std::function<void(std::string& text, long number)>& take);

/// The same for lines that are records: empty ones are passed over, and DataErrors of `take` are
/// guarded, empty lines between others noted. DataError: a file without any record.
void each_line(const std::filesystem::path& file, Inspection* inspection,
               const std::function<void(const std::string& text, long number)>& take);

/// Parses JSON with the keys in the file's order. DataError: no JSON, or a key that stands twice in
/// one object (the library would keep one of the two). `line` 0: the text is a whole file.
OrderedJson parse_record(std::string_view text, const std::string& file, long line);

/// Notes that a file which is inspected ends without a line break: a CSV file that was cut inside
/// its last column looks whole but for that.
void note_open_end(const std::filesystem::path& file, Inspection* inspection);

/// Notes a byte order mark and CRLF of a file that is inspected.
void note_encoding(const std::filesystem::path& file, Inspection* inspection);

/// A JSON file as a whole. Notes its encoding.
OrderedJson read_record(const std::filesystem::path& file, Inspection* inspection);

/// Part of a record with its place. Members are checked; each complaint is a DataError that names
/// the file, the line where there are lines, and the member.
class Record {
 public:
  /// `place` leads to this part inside the line or file, e.g. "data[2]"; may be empty.
  /// REQUIRES: the value outlives this. DataError: no object.
  Record(const OrderedJson& object, std::string file, long line, std::string place = "");

  DataError error(std::string_view what) const;
  [[noreturn]] void fail(std::string_view what) const { throw error(what); }
  bool has(const char* key) const;
  /// DataError: missing.
  const OrderedJson& at(const char* key) const;
  std::string text(const char* key) const;   ///< a string with more than white space in it
  std::string plain(const char* key) const;  ///< any string
  std::int64_t integer(const char* key) const;
  std::vector<std::string> texts(const char* key) const;  ///< a list of such as text()
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

/// Examples whose questions stand in rows apart, each with the key of its example.
class ExamplesByKey {
 public:
  /// `dataset` outlives this.
  explicit ExamplesByKey(Dataset& dataset) : dataset_(dataset) {}

  /// The example of the key, and whether the row is the first of it: then it is empty.
  std::pair<Example&, bool> of(const std::string& key);
  /// Adds a question, which is named q1, q2, ... in its example.
  static void add(Example& example, ExampleField field);

 private:
  Dataset& dataset_;
  std::map<std::string, std::size_t> places_;
};

/// What examples with the same text share: a hash, as texts can be long.
std::string cluster_of(std::string_view text);

/// The files of a dataset that exist, of which one is read: the first of `names` under `folder`.
/// ConfigError that names all of them where there is none.
std::filesystem::path find_file(std::string_view dataset, std::string_view split,
                                const std::filesystem::path& folder,
                                const std::vector<std::string>& names);

bool is_parquet(const std::filesystem::path& file);

/// Calls `take` for each line of each file, as each_line.
void each_record(const std::vector<std::filesystem::path>& files, Inspection* inspection,
                 const std::function<void(const Record& record)>& take);

/// The files of rows that a split is published as on the Hugging Face Hub: NAME.jsonl of the first
/// of `names` that has one, else its Parquet files, NAME.parquet or NAME-00000-of-00002.parquet and
/// so on, in order. Empty: there are none.
std::vector<std::filesystem::path> find_rows(const std::filesystem::path& folder,
                                             const std::vector<std::string>& names);

/// ConfigError with the near names where `split` is none of `splits`.
void check_split(std::string_view dataset, std::string_view split,
                 const std::vector<std::string>& splits);

}  // namespace pardec
