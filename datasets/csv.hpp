#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace pardec {

/// One record of a CSV file.
struct CsvRow {
  std::map<std::string, std::string> fields;  ///< column -> value
  std::string file;
  long line = 0;  ///< first line of the record; quoted fields may span several lines

  /// The value of a column. DataError: it is blank.
  const std::string& text(const std::string& column) const;
};

/// Calls `take` for each record of a CSV file. The format is RFC 4180: quoted fields may contain
/// commas, doubled quotes, and line breaks. The first record is the header. The separator is a
/// comma. If the header has no comma, it is a tab or semicolon, as spreadsheets write in many
/// countries. `columns`: columns that must exist. DataError: a line is not UTF-8; the header lacks
/// a column or has it twice; a record has another number of fields than the header; a quote is not
/// closed, or is inside an unquoted field. Reading stops after an error in quotes.
void each_row(const std::filesystem::path& file, const std::vector<std::string>& columns,
              Inspection* inspection, const std::function<void(const CsvRow&)>& take);

/// The same for a file without a header. All records have these columns, separated by commas.
void each_row_without_header(const std::filesystem::path& file,
                             const std::vector<std::string>& columns, Inspection* inspection,
                             const std::function<void(const CsvRow&)>& take);

}  // namespace pardec
