#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace pardec {

/// One record of a CSV file by its header's names.
struct CsvRow {
  std::map<std::string, std::string> fields;
  std::string file;
  long line = 0;  ///< where the record begins; quoted fields may go over several

  /// The field; DataError where it is empty (white space alone).
  const std::string& text(const std::string& column) const;
};

/// Calls `take` for each record of a CSV file (RFC 4180: quoted fields may hold commas, quotes
/// twice, and line breaks), one at a time. The first record is the header; where it has no comma
/// but semicolons, or tabs, as spreadsheets write them in many countries, these separate.
/// DataError: one of `columns` is not in the header, or there twice; a record with another number
/// of fields; quotes that are not closed or stand inside an unquoted field, after which nothing is
/// read.
void each_row(const std::filesystem::path& file, const std::vector<std::string>& columns,
              Inspection* inspection, const std::function<void(const CsvRow&)>& take);

}  // namespace pardec
