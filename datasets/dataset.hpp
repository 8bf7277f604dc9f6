#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// One field of an example: a question about the example's text (or the name of an attribute), and
/// the accepted answers.
struct ExampleField {
  std::string name;      ///< unique in its example: an attribute, or e.g. "q1", "turn 2", "answer"
  std::string question;  ///< the question or prompt; empty: there is only a name
  std::vector<std::string> choices;  ///< for multiple-choice questions; otherwise empty
  /// Whether annotators labelled this field. ExtractGPT's F1 skips fields without annotation; the
  /// strict F1 treats them as absent.
  bool annotated = true;
  /// Accepted answers, in file order. If the list is empty and `annotated` is true, the right
  /// answer is that there is no value. If the list is empty and `annotated` is false, the right
  /// answer is not known.
  std::vector<std::string> references;
  std::string id;  ///< the publisher's id of the question, for its scorer; may be empty
  /// for programming tasks: code that is run after text and answer, and fails if the answer is
  /// wrong
  std::string test;
};

/// One example of a dataset. All datasets have this form, so that decoders do not depend on
/// datasets.
struct Example {
  std::string id;        ///< unique in its dataset and split, e.g. "test-17"
  std::string category;  ///< e.g. a product category or a subject
  std::string text;      ///< the text that the fields ask about; empty: there is none
  std::vector<ExampleField> fields;
  std::string cluster;        ///< equal for examples with the same text, which are not independent
  bool conversation = false;  ///< fields are the user's turns, asked one after another
  bool unfinished = false;    ///< the last reference is incomplete, because it was cut at a limit
  /// Content of a system message before the user's first turn. None: there is no system message.
  /// (An empty text is a system message without text.)
  std::optional<std::string> system = {};
};

/// A column (key) of the user's own records that is not read.
struct UnreadColumn {
  std::string name;
  std::string first;  ///< message about the first occurrence, e.g. `file:line: unknown key ...`
  std::int64_t records = 0;  ///< number of records that have the column
};

/// The kind of fields that a dataset has. It decides how examples become jobs.
enum class Shape {
  attributes,  ///< the fields of a text are the attributes of its category
  questions,   ///< each text has its own questions, with or without choices
  open,        ///< one open prompt (text, question or both) per example, or a conversation
};

/// The examples of one split of a dataset.
struct Dataset {
  std::string name, split;
  bool sample = false;   ///< the project's small sample, not the publisher's data
  bool standin = false;  ///< generated words with the published lengths (datasets/standin.hpp)
  Shape shape = Shape::attributes;
  std::vector<std::filesystem::path> files;  ///< files that were read; a run stores their hash
  std::vector<Example> examples;             ///< in file order
  std::vector<UnreadColumn> unread = {};     ///< in order of first occurrence
};

/// Problems found in a dataset's files (`data check`).
struct Inspection {
  std::vector<std::string> faults;  ///< errors that a run would throw: `file:line: what`
  std::vector<std::string> notes;   ///< accepted peculiarities, e.g. a byte order mark or CRLF
};

/// An entry of the registry of datasets.
struct DatasetEntry {
  std::string_view name;
  /// possible names of the dataset's folder in --data-root; the first that exists is read
  std::vector<std::string_view> folders;
  std::string_view prompt;  ///< name of the prompt file in datasets/prompts
  std::string_view unit;    ///< what tables call the examples, e.g. "products"
  /// names of totals (TaskMetric::totals), the main total first
  std::vector<std::string_view> metrics;
  std::vector<std::string_view> splits;  ///< names of splits, the default split first
  /// For fields that are asked one by one (IPPD paper, section B.3): the default maximum number of
  /// tokens of an answer, and the default number of few-shot examples from split train. 0: the
  /// dataset has no such default.
  int answer_ids = 0, shots = 0;
  /// Reads a split from `folder`. ConfigError: there is no such split, a file is missing, or a
  /// Parquet file cannot be converted. RunError: see each_raw_line (reading.hpp). DataError: a
  /// record is invalid; with an inspection, the error is noted there, and the record is left out.
  /// `inspection` may be null.
  Dataset (*load)(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);
};

/// A file that marks a folder as the data of a stand-in.
inline constexpr const char* kStandinNote = "standin.json";

/// The registry of datasets.
const std::vector<DatasetEntry>& datasets();
/// Finds a dataset by name. ConfigError: there is no such dataset; the message suggests similar
/// names.
const DatasetEntry& find_dataset(std::string_view name);

/// The entry for a dataset name that a run stored. A name that is not in the registry belongs to a
/// user's own file. For this name, the result is the entry of `jsonl`.
const DatasetEntry& stored_dataset(std::string_view name);

/// A user's own file, given as `--dataset NAME=FILE`. FILE may be followed by `:PROMPT` or
/// `:PROMPT:REFERENCE`, the columns (or keys of JSON records) with the prompts and references.
struct OwnFile {
  std::string name;
  std::filesystem::path file;
  std::string prompt;     ///< column of prompts; empty: the column named "prompt"
  std::string reference;  ///< column of references; empty: the user named no column
};
/// Parses the value of --dataset. None: the text has no `=`. ConfigError: the name or the file is
/// empty, more than two columns are named, or the name is in the registry.
std::optional<OwnFile> parse_own_file(std::string_view text);
/// Reads a user's own file (read_own_file), and checks its ids. The split is "test". ConfigError:
/// see read_own_file. DataError: a record is invalid, an id occurs twice, or there are no records.
/// With an inspection, DataErrors are noted there and not thrown.
Dataset load_own_file(const OwnFile& own, Inspection* inspection = nullptr);

/// The folder of a dataset in `root`; none: there is no such folder.
std::optional<std::filesystem::path> dataset_folder(const DatasetEntry& entry,
                                                    const std::filesystem::path& root);

/// Reads a split of a dataset from `data_root`, or, if `data_root` is none, the project's sample
/// from `samples` (the folder datasets/samples). `split`: empty means the default split.
/// ConfigError: the split does not exist, its folder or files are missing (the message has their
/// paths), or a Parquet file cannot be converted. RunError: see each_raw_line (reading.hpp).
/// DataError: a record is invalid, an id occurs twice, or there are no records. With an inspection,
/// DataErrors are noted there and not thrown.
Dataset load_dataset(const DatasetEntry& entry,
                     const std::optional<std::filesystem::path>& data_root, std::string_view split,
                     const std::filesystem::path& samples, Inspection* inspection = nullptr);

/// Removes all examples with a cluster that also occurs in `seen`. Returns the number of removed
/// examples.
std::int64_t leave_out_seen(std::vector<Example>& examples, const std::vector<Example>& seen);

/// Draws a random sample that is spread evenly over categories. The result is in file order, and is
/// the same for equal arguments on every machine.
///
/// First, all examples are put into an order. The categories are shuffled, and the examples of each
/// category too, each with a seed derived from `seed` and the category's name. Then `together`
/// examples are taken from each category in turn; exhausted categories are skipped. (`together` is
/// the number of examples of one category in a prompt; values below 1 count as 1.) Of this order,
/// the first `offset` examples are skipped, and the next `limit` are the sample (0: all after the
/// offset; fewer if there are not enough).
///
/// Thus the sample for a larger limit contains the sample for a smaller limit. Samples with offsets
/// 0, `limit`, 2 `limit`, ... are disjoint. The categories' numbers of examples differ by at most
/// `together`, until a category is exhausted. ConfigError: `limit` or `offset` is negative.
std::vector<Example> select(const std::vector<Example>& examples, std::int64_t limit,
                            std::int64_t offset, std::uint64_t seed, int together = 1);

}  // namespace pardec
