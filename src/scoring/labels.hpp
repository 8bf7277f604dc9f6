#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "src/scoring/judging.hpp"

/// People as judges: sheets that do not say who wrote what, and what comes back on them.
namespace pardec {

/// One thing to judge. Nothing in it tells the arm: `id` is a hash, and which of two answers is A
/// was drawn.
struct SheetItem {
  std::string id, category, text, question, reference;
  std::string answer;                 ///< A, where two are compared
  std::string other;                  ///< B
  std::vector<std::string> verdicts;  ///< those of the sheet's that fit the answer; empty: all
};

struct Sheet {
  std::string protocol, task;  ///< `task`: what is to be said of each item, for who judges
  bool compares = false;
  std::vector<std::string> verdicts;  ///< that may be given; empty: a number from 1 to 10
  std::vector<SheetItem> items;       ///< in a drawn order
};

/// Without pairs of equal answers. ConfigError for a protocol that people cannot be asked by: a
/// template without labels.
Sheet make_sheet(const JudgeTask& task, const JudgeUnits& units, std::uint64_t seed);

/// What somebody said of an item.
struct Label {
  std::string item, verdict, comment;
  std::string file;
  long line = 0;
};

/// Reads a sheet that was filled in: CSV (columns item and verdict, others are ignored), or the
/// file that the page writes. Items without a verdict are left out. DataError, also for a page's
/// file of another protocol.
std::vector<Label> read_labels(const std::filesystem::path& file, const std::string& protocol);

/// Stores labels as the verdicts of the task's judge; of an item that was labelled before, the new
/// one counts; pairs of equal answers are ties. DataError, before any is stored: an item that is
/// not of these units, one that stands twice, a verdict that may not be given.
void import_labels(Store& store, const JudgeTask& task, const JudgeUnits& units,
                   const std::vector<Label>& labels);

}  // namespace pardec
