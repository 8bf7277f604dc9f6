#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// One thing asked about a text, and the answers that count as right.
struct ExampleField {
  std::string name;
  std::string question;
  std::vector<std::string> choices;
  /// False where the annotators said nothing of this field. ExtractGPT's count skips such fields,
  /// the strict one takes them as absent.
  bool annotated = true;
  /// Accepted answers in the file's order; empty: the right answer is that there is none.
  std::vector<std::string> references;
  std::string id;    ///< the publisher's own of a question, for its scorer; may be empty
  std::string test;  ///< code: the program that, behind text and answer, fails where it is wrong
};

/// One dataset item: the one shape that every dataset has, so that decoders know no dataset.
struct Example {
  std::string id;  ///< unique in its dataset and split, e.g. "test-17"
  std::string category;
  std::string text;
  std::vector<ExampleField> fields;
  std::string cluster;        ///< examples with the same text share it: they are not independent
  bool conversation = false;  ///< fields are a user's turns, each asked behind the answers so far
  bool unfinished = false;    ///< the last reference was cut at a limit: it does not end there
  /// What a system message says before the user's first words; empty: it is there, and says
  /// nothing.
  std::optional<std::string> system = {};
};

/// A column of a user's own records that nothing is read from.
struct UnreadColumn {
  std::string name;
  std::string first;  ///< a complaint about its first place: `file:line: unknown key ...`
  std::int64_t records = 0;
};

/// What a dataset asks, which decides how its examples become jobs.
enum class Shape {
  attributes,  ///< each text is asked for the attributes of its category
  questions,   ///< each text has questions of its own, with choices or without
  open,        ///< one open prompt (text, question or both), or the turns of a conversation
};

struct Dataset {
  std::string name, split;
  bool sample = false;   ///< the project's own small sample, not the publisher's file
  bool standin = false;  ///< generated words of the published lengths (datasets/standin.hpp)
  Shape shape = Shape::attributes;
  std::vector<std::filesystem::path> files;  ///< what was read, for the hash of the run
  std::vector<Example> examples;             ///< in file order
  std::vector<UnreadColumn> unread = {};     ///< in order of their first places
};

/// What a look at a dataset's files found.
struct Inspection {
  std::vector<std::string> faults;  ///< records that a run would refuse: `file:line: what`
  std::vector<std::string> notes;   ///< what is read all the same: byte order mark, CRLF
};

/// One row of the registry.
struct DatasetEntry {
  std::string_view name;
  std::vector<std::string_view>
      folders;              ///< names of its folder under --data-root, the first found is read
  std::string_view prompt;  ///< prompt file in datasets/prompts, without ".txt"
  std::string_view unit;    ///< what one example is called in tables, e.g. "products"
  std::vector<std::string_view> metrics;  ///< its task metrics, the headline one first
  std::vector<std::string_view> splits;   ///< the one that is evaluated where none is named first
  /// Of fields that are asked one by one (IPPD, section B.3): ids of an answer at most, and worked
  /// examples of split train in the prompt; 0: nothing is stated.
  int answer_ids = 0, shots = 0;
  /// Reads `folder`. ConfigError: no such split, or a file of it is missing. A bad record is a
  /// DataError; with an inspection it is noted there and left out.
  Dataset (*load)(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);
};

/// A file beside the data of a stand-in.
inline constexpr const char* kStandinNote = "standin.json";

const std::vector<DatasetEntry>& datasets();
/// ConfigError with the near names where there is none of that name.
const DatasetEntry& find_dataset(std::string_view name);

/// The entry of a dataset by the name that a run stored: a name that is not in the registry is that
/// of a file of the user's own.
const DatasetEntry& stored_dataset(std::string_view name);

/// A file of the user's own as `--dataset NAME=FILE` names it, FILE[:COLUMN[:COLUMN]] for csv and
/// tsv.
struct OwnFile {
  std::string name;
  std::filesystem::path file;
  std::string prompt, reference;  ///< columns; empty: as columns are called (load_own_file)
};
/// None: the text has no `=`. ConfigError: a part is empty, or the name is one of the registry.
std::optional<OwnFile> parse_own_file(std::string_view text);
/// Its split is `test`. As load_dataset.
Dataset load_own_file(const OwnFile& own, Inspection* inspection = nullptr);

/// The folder of a dataset under `root`; none where there is none.
std::optional<std::filesystem::path> dataset_folder(const DatasetEntry& entry,
                                                    const std::filesystem::path& root);

/// Reads a dataset from `data_root`, or the project's sample of it where no data root is given.
/// `samples` is the folder datasets/samples; an empty split is the entry's first. ConfigError:
/// folder or split missing (names what was looked for); DataError: a bad record, an id that stands
/// twice, or no record at all. With an inspection, DataErrors are noted there instead.
Dataset load_dataset(const DatasetEntry& entry,
                     const std::optional<std::filesystem::path>& data_root, std::string_view split,
                     const std::filesystem::path& samples, Inspection* inspection = nullptr);

/// Takes out of `examples` those whose text is also in `seen` (same cluster). Returns how many.
std::int64_t leave_out_seen(std::vector<Example>& examples, const std::vector<Example>& seen);

/// A seeded sample spread evenly over categories, in file order; the same for equal arguments on
/// every machine and for all decoders of a run. The examples of each category are shuffled, and so
/// are the categories, each with a seed of its own (derive_seed of `seed` and the category's name);
/// then the order of taking is `together` of each category in turn, a category that has no more
/// being left out: as many as a prompt is to have of one category. Of this order the first `offset`
/// are skipped and the next `limit` kept. So a larger limit contains a smaller one, consecutive
/// offsets are disjoint, and counts per category differ by at most `together` while none has run
/// out. limit 0: all that the offset leaves; fewer come back where fewer are there. ConfigError:
/// limit or offset negative.
std::vector<Example> select(const std::vector<Example>& examples, std::int64_t limit,
                            std::int64_t offset, std::uint64_t seed, int together = 1);

}  // namespace pardec
