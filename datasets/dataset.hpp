#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// One question about a text, and its accepted answers.
struct ExampleField {
  std::string name;
  std::string question;
  std::vector<std::string> choices;
  /// False if the annotators did not label this field. ExtractGPT's count skips such fields; the
  /// strict count treats them as absent.
  bool annotated = true;
  /// Accepted answers in file order; empty: the right answer is that there is none.
  std::vector<std::string> references;
  std::string id;  ///< the publisher's id of a question, for its scorer; may be empty
  /// for code: a program to run after text and answer, which fails if the answer is wrong
  std::string test;
};

/// One item of a dataset. All datasets have this form, so that decoders do not depend on datasets.
struct Example {
  std::string id;  ///< unique in its dataset and split, e.g. "test-17"
  std::string category;
  std::string text;
  std::vector<ExampleField> fields;
  std::string cluster;        ///< shared by examples with the same text, which are not independent
  bool conversation = false;  ///< fields are a user's turns, each asked after the answers so far
  bool unfinished = false;  ///< the last reference was cut at a limit, so its end is not a real end
  /// Content of a system message before the user's first turn. Present but empty: the message is
  /// there without text.
  std::optional<std::string> system = {};
};

/// A column of a user's own records that is not read.
struct UnreadColumn {
  std::string name;
  std::string first;  ///< message for its first occurrence: `file:line: unknown key ...`
  std::int64_t records = 0;
};

/// The kind of a dataset's questions, which decides how examples become jobs.
enum class Shape {
  attributes,  ///< each text is asked for the attributes of its category
  questions,   ///< each text has its own questions, with or without choices
  open,        ///< one open prompt (text, question or both), or the turns of a conversation
};

struct Dataset {
  std::string name, split;
  bool sample = false;   ///< the project's small sample, not the publisher's file
  bool standin = false;  ///< generated words with the published lengths (datasets/standin.hpp)
  Shape shape = Shape::attributes;
  std::vector<std::filesystem::path> files;  ///< files that were read, for the hash of the run
  std::vector<Example> examples;             ///< in file order
  std::vector<UnreadColumn> unread = {};     ///< in order of first occurrence
};

/// The result of inspecting a dataset's files.
struct Inspection {
  std::vector<std::string> faults;  ///< records that a run would refuse: `file:line: what`
  std::vector<std::string> notes;   ///< accepted peculiarities: byte order mark, CRLF
};

/// One entry of the registry.
struct DatasetEntry {
  std::string_view name;
  /// names of its folder under --data-root; the first existing one is read
  std::vector<std::string_view> folders;
  std::string_view prompt;                ///< prompt file in datasets/prompts, without ".txt"
  std::string_view unit;                  ///< name of its examples in tables, e.g. "products"
  std::vector<std::string_view> metrics;  ///< its task metrics, the headline metric first
  std::vector<std::string_view> splits;   ///< its splits, the default one first
  /// For fields that are asked one by one (IPPD, section B.3): maximum number of ids of an answer,
  /// and number of worked examples from split train in the prompt; 0: not specified.
  int answer_ids = 0, shots = 0;
  /// Reads `folder`. ConfigError: the split does not exist, or a file of it is missing. DataError:
  /// an invalid record; with an inspection, it is noted there and left out.
  Dataset (*load)(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);
};

/// A folder with this file contains the data of a stand-in.
inline constexpr const char* kStandinNote = "standin.json";

const std::vector<DatasetEntry>& datasets();
/// ConfigError, with similar names: there is no such dataset.
const DatasetEntry& find_dataset(std::string_view name);

/// The entry for a name stored by a run. Names that are not in the registry belong to user files.
const DatasetEntry& stored_dataset(std::string_view name);

/// A user's own file, given as `--dataset NAME=FILE`, or FILE[:COLUMN[:COLUMN]] for csv and tsv.
struct OwnFile {
  std::string name;
  std::filesystem::path file;
  std::string prompt, reference;  ///< columns; empty: the default names (load_own_file)
};
/// None: the text has no `=`. ConfigError: a part is empty, or the name is in the registry.
std::optional<OwnFile> parse_own_file(std::string_view text);
/// The split is `test`. Errors as in load_dataset.
Dataset load_own_file(const OwnFile& own, Inspection* inspection = nullptr);

/// The folder of a dataset under `root`; none if it does not exist.
std::optional<std::filesystem::path> dataset_folder(const DatasetEntry& entry,
                                                    const std::filesystem::path& root);

/// Reads a dataset from `data_root`, or the project's sample of it if no data root is given.
/// `samples`: the folder datasets/samples. An empty split is the entry's default. ConfigError,
/// which names the missing paths: the folder or split does not exist. DataError: an invalid record,
/// a repeated id, or no record at all; with an inspection, DataErrors are noted there instead.
Dataset load_dataset(const DatasetEntry& entry,
                     const std::optional<std::filesystem::path>& data_root, std::string_view split,
                     const std::filesystem::path& samples, Inspection* inspection = nullptr);

/// Removes examples from `examples` whose text is also in `seen` (same cluster). Returns their
/// number.
std::int64_t leave_out_seen(std::vector<Example>& examples, const std::vector<Example>& seen);

/// A seeded sample that is spread evenly over categories, returned in file order. It is the same
/// for equal arguments, on every machine and for all decoders of a run. The examples of each
/// category are shuffled, and so are the categories, each with its own seed (derive_seed of `seed`
/// and the category's name). Then `together` examples are taken from each category in turn, where
/// `together` is the number of examples of one category in a prompt; exhausted categories are
/// skipped. Of this order, the first `offset` examples are skipped, and the next `limit` are kept.
/// Thus the sample of a larger limit contains that of a smaller one, samples at consecutive offsets
/// are disjoint, and counts per category differ by at most `together` until a category is
/// exhausted. limit 0: all examples after the offset. If fewer examples are left, fewer are
/// returned. ConfigError: limit or offset is negative.
std::vector<Example> select(const std::vector<Example>& examples, std::int64_t limit,
                            std::int64_t offset, std::uint64_t seed, int together = 1);

}  // namespace pardec
