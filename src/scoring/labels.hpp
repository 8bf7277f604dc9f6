#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "src/scoring/judging.hpp"

/// Human judges: makes sheets that hide which arm wrote an answer, and reads the verdicts in
/// completed sheets.
namespace pardec {

/// One item to judge. It does not reveal the arm: `id` is a hash, and two answers are in random
/// order.
struct SheetItem {
  /// `category` and `text` are the example's. `question` has the questions that are judged. For a
  /// later turn of a conversation, `question` also has the earlier turns; for pairs, only the
  /// questions of these turns, because the earlier answers are in `answer` and `other`. `reference`
  /// has the accepted answers to the judged turn; it is empty without Subject::turn.
  std::string id, category, text, question, reference;
  std::string answer;  ///< for pairs: answer A
  std::string other;   ///< for pairs: answer B
  /// the possible verdicts on this answer; empty: all verdicts of the sheet
  std::vector<std::string> verdicts;
};

/// A sheet with all items for one person.
struct Sheet {
  std::string protocol, task;  ///< name of the protocol, and instructions for the person
  bool compares = false;       ///< whether the items are pairs of answers
  /// possible verdicts; empty: a number in the range of the protocol's grade (usually 1 to 10)
  std::vector<std::string> verdicts;
  std::vector<SheetItem> items;  ///< in random order
};

/// Makes a sheet of all units, without pairs of equal answers. `seed`: determines the order of the
/// items, and of the two answers in each pair. ConfigError: the protocol is not suitable for people
/// (a template whose verdict is a number, or true or false).
Sheet make_sheet(const JudgeTask& task, const JudgeUnits& units, std::uint64_t seed);

/// A person's verdict on an item.
struct Label {
  std::string item, verdict, comment;  ///< item: SheetItem::id
  std::string file;                    ///< the file from which the label was read
  long line = 0;                       ///< line in this file; 0: not known
};

/// Reads a completed sheet: CSV with the columns item and verdict (and optionally comment), or the
/// JSON file (`.json`) that the sheet's HTML page saves. Items without a verdict are left out; in
/// the JSON file, the verdict of such an item is missing, null or empty. DataError: the file cannot
/// be read or is invalid, or the JSON file belongs to a protocol other than `protocol`.
/// ConfigError: a label in the JSON file lacks `item`, or has a value of the wrong type.
std::vector<Label> read_labels(const std::filesystem::path& file, const std::string& protocol);

/// Stores labels as votes of the task's judge, and pairs of equal answers as ties. A new label for
/// an item replaces the stored label. DataError, before anything is stored: an item is not in
/// `units`, appears twice, or has an invalid verdict. ConfigError: see make_sheet.
void import_labels(Store& store, const JudgeTask& task, const JudgeUnits& units,
                   const std::vector<Label>& labels);

}  // namespace pardec
