#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "src/scoring/judging.hpp"

/// People as judges: sheets that hide which arm wrote an answer, and reading the verdicts on them.
namespace pardec {

/// One item to judge. It does not reveal the arm: `id` is a hash, and the order of two answers is
/// random.
struct SheetItem {
  std::string id, category, text, question, reference;
  std::string answer;  ///< for pairs: answer A
  std::string other;   ///< for pairs: answer B
  /// the verdicts of the sheet that are possible for this answer; empty: all
  std::vector<std::string> verdicts;
};

struct Sheet {
  std::string protocol, task;  ///< `task`: the instructions for the judge
  bool compares = false;
  std::vector<std::string> verdicts;  ///< possible verdicts; empty: a number from 1 to 10
  std::vector<SheetItem> items;       ///< in random order
};

/// Leaves out pairs of equal answers. ConfigError: the protocol is not suitable for people (a
/// template without labels).
Sheet make_sheet(const JudgeTask& task, const JudgeUnits& units, std::uint64_t seed);

/// A person's verdict on an item.
struct Label {
  std::string item, verdict, comment;
  std::string file;
  long line = 0;
};

/// Reads a completed sheet: CSV (columns item and verdict; others are ignored), or the file written
/// by the page. Items without a verdict are left out. DataError: the file is invalid, or is a
/// page's file of another protocol.
std::vector<Label> read_labels(const std::filesystem::path& file, const std::string& protocol);

/// Stores labels as verdicts of the task's judge. A new label for an item replaces the old one;
/// pairs of equal answers are ties. DataError, before anything is stored: an item is not one of
/// these units, appears twice, or has an invalid verdict.
void import_labels(Store& store, const JudgeTask& task, const JudgeUnits& units,
                   const std::vector<Label>& labels);

}  // namespace pardec
