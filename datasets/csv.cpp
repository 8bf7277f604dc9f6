#include "datasets/csv.hpp"

#include <csv.h>  // libcsv

#include <algorithm>
#include <memory>

#include "datasets/reading.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// libcsv's parser; records that a call completes lie in `rows` afterwards.
class Parser {
 public:
  Parser() {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  /// False: the text is no CSV, or ends inside quotes.
  bool feed(const std::string& text) {
    return csv_parse(&parser_, text.data(), text.size(), on_field, on_row, this) == text.size();
  }
  void separate_by(char separator) {
    csv_set_delim(&parser_, static_cast<unsigned char>(separator));
  }
  bool finish() { return csv_fini(&parser_, on_field, on_row, this) == 0; }
  const char* error() { return csv_strerror(csv_error(&parser_)); }

  std::vector<std::vector<std::string>> rows;

 private:
  static void on_field(void* text, size_t size, void* self) {
    static_cast<Parser*>(self)->row_.emplace_back(static_cast<const char*>(text), size);
  }
  static void on_row(int, void* self) {
    auto* parser = static_cast<Parser*>(self);
    parser->rows.push_back(std::move(parser->row_));
    parser->row_.clear();
  }

  csv_parser parser_;
  std::vector<std::string> row_;
};

}  // namespace

const std::string& CsvRow::text(const std::string& column) const {
  const std::string& text = fields.at(column);
  if (strip(text).empty())
    throw DataError(file, line, str("column '", column, "' is empty, expected some text"));
  return text;
}

void each_row(const std::filesystem::path& file, const std::vector<std::string>& columns,
              Inspection* inspection, const std::function<void(const CsvRow&)>& take) {
  const std::string name = file.string();
  Parser parser;
  std::vector<std::string> header;
  long begin = 1;  // line of the record that is open
  const auto take_row = [&](const std::vector<std::string>& row) {
    if (header.empty()) {
      for (const auto& column : columns)
        if (std::find(row.begin(), row.end(), column) == row.end())
          throw DataError(name, begin,
                          str("has no column '", column, "'", known_names(column, row)));
        else if (std::count(row.begin(), row.end(), column) > 1)
          throw DataError(name, begin, str("has column '", column, "' twice, expected it once"));
      header = row;
      return;
    }
    if (row.size() != header.size())
      throw DataError(
          name, begin,
          str("has ", counted(std::ssize(row), "field"), ", the header ", header.size()));
    CsvRow out{{}, name, begin};
    for (size_t i = 0; i < row.size(); ++i) out.fields[header[i]] = row[i];
    take(out);
  };
  const auto take_rows = [&](long next) {
    for (const auto& row : std::exchange(parser.rows, {})) {
      if (header.empty())
        take_row(row);  // nothing can be read without a header
      else
        guarded(inspection, [&] { take_row(row); });
      begin = next;
    }
  };
  guarded(inspection, [&] {
    long last = 0;
    const auto broken = [&] {
      throw DataError(name, begin,
                      str("is not valid CSV from here on (", parser.error(),
                          "); expected quotes around fields that hold quotes, each "
                          "written twice, and a closing one"));
    };
    std::size_t open = 0;  // bytes of the record that is open
    each_raw_line(file, inspection, [&](std::string& line, long number) {
      last = number;
      if (number == 1 && line.find(',') == std::string::npos)
        for (const char separator : {';', '\t'})
          if (line.find(separator) != std::string::npos) {
            parser.separate_by(separator);
            break;
          }
      if ((open += line.size() + 1) > kLongestLine)
        throw DataError(name, begin,
                        str("begins a record longer than ", kLongestLine >> 20,
                            " MiB; expected a closing quote (is one missing?)"));
      if (!parser.feed(line + "\n")) broken();
      if (!parser.rows.empty()) open = 0;
      take_rows(number + 1);
    });
    if (!parser.finish()) broken();
    take_rows(last + 1);
    note_open_end(file, inspection);
    if (header.empty()) throw DataError(name, 0, "is empty, expected a header and records");
  });
}

}  // namespace pardec
