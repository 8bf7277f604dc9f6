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

  /// The value of a column. DataError: the value is blank. REQUIRES: the file has this column.
  const std::string& text(const std::string& column) const;
};

/// Calls `take` for each record of a CSV file. The format is RFC 4180: quoted fields may contain
/// commas, doubled quotes, and line breaks. Quotes inside a field that does not begin with a quote
/// are read literally. Between records, blank lines are skipped; if tabs separate the fields, a
/// line of tabs is a record. The first record is the header. The separator is a comma in a file
/// with a comma in the header, except in a .tsv file. In all other files, the separator is the tab
/// if the header has a tab, or else the semicolon if the header has one, or else the comma. (In
/// many countries, spreadsheets write semicolons.) `columns`: columns that must exist.
///
/// DataError: the file cannot be read or is empty; a line is not UTF-8; the header lacks one of the
/// columns or has it twice; a record has another number of fields than the header; a line or a
/// record is longer than kLongestLine; quotes are not closed, or text follows the closing quote; or
/// `take` throws a DataError. With an inspection, the error is noted there and not thrown. In that
/// case, reading continues after a wrong number of fields, after a line that is too long, and after
/// errors of `take`. Reading stops after any other error.
void each_row(const std::filesystem::path& file, const std::vector<std::string>& columns,
              Inspection* inspection, const std::function<void(const CsvRow&)>& take);

/// Calls `take` for each record of a CSV file without a header. All records have the columns
/// `columns`, in this order, separated by commas. Errors: see each_row.
void each_row_without_header(const std::filesystem::path& file,
                             const std::vector<std::string>& columns, Inspection* inspection,
                             const std::function<void(const CsvRow&)>& take);

}  // namespace pardec
