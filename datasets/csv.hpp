#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace pardec {

/// One record of a CSV file, by column names.
struct CsvRow {
  std::map<std::string, std::string> fields;
  std::string file;
  long line = 0;  ///< line where the record begins; quoted fields may span several lines

  /// The value of a column. DataError: it is blank.
  const std::string& text(const std::string& column) const;
};

/// Calls `take` for each record of a CSV file, one at a time. The format is RFC 4180: quoted fields
/// may contain commas, doubled quotes, and line breaks. The first record is the header. Fields are
/// separated by commas; if the header contains none, by its tabs or semicolons, as spreadsheets
/// write them in many countries. DataError: a line is not UTF-8; one of `columns` is missing in the
/// header, or occurs twice; a record has another number of fields; quotes are not closed, or occur
/// inside an unquoted field. Reading stops after an error in quotes.
void each_row(const std::filesystem::path& file, const std::vector<std::string>& columns,
              Inspection* inspection, const std::function<void(const CsvRow&)>& take);

/// The same for a file without a header: all its records have these columns, separated by commas.
void each_row_without_header(const std::filesystem::path& file,
                             const std::vector<std::string>& columns, Inspection* inspection,
                             const std::function<void(const CsvRow&)>& take);

}  // namespace pardec
