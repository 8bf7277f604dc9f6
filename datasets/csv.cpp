#include "datasets/csv.hpp"

#include <csv.h>  // libcsv

#include <algorithm>
#include <memory>

#include "datasets/reading.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// libcsv's parser. Completed records are in `rows` after each call.
class Parser {
 public:
  Parser() {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  /// False: the text is not valid CSV, or ends inside quotes.
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

/// The first line of a record. Fields that contain quotes but do not begin with one are put in
/// quotes: other programs read `a "b" c` literally.
std::string with_quotes(const std::string& line, char separator) {
  std::string out;
  for (std::size_t at = 0; at <= line.size();) {
    std::size_t end;
    if (at < line.size() && line[at] == '"') {
      for (end = at + 1; end < line.size(); ++end) {
        if (line[end] != '"') continue;
        if (end + 1 >= line.size() || line[end + 1] != '"') break;
        ++end;
      }
      end = line.find(separator, std::min(end, line.size()));
      if (end == std::string::npos) return out + line.substr(at);
      out += line.substr(at, end - at);
    } else {
      end = std::min(line.find(separator, at), line.size());
      const std::string field = line.substr(at, end - at);
      const bool quotes = field.find('"') != std::string::npos && strip(field)[0] != '"';
      out += quotes ? "\"" + replace_all(field, "\"", "\"\"") + "\"" : field;
    }
    if (end == line.size()) break;
    out += separator;
    at = end + 1;
  }
  return out;
}

void read_rows(const std::filesystem::path& file, const std::vector<std::string>& columns,
               bool has_header, Inspection* inspection,
               const std::function<void(const CsvRow&)>& take) {
  const std::string name = file.string();
  Parser parser;
  std::vector<std::string> header;
  if (!has_header) header = columns;
  long begin = 1;  // line of the unfinished record
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
      throw DataError(name, begin,
                      str("has ", counted(std::ssize(row), "field"),
                          has_header ? ", the header " : ", expected ", header.size()));
    CsvRow out{{}, name, begin};
    for (size_t i = 0; i < row.size(); ++i) out.fields[header[i]] = row[i];
    take(out);
  };
  const auto take_rows = [&](long next) {
    for (const auto& row : std::exchange(parser.rows, {})) {
      if (header.empty())
        take_row(row);  // without a header, nothing can be read
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
    char separator = ',';
    std::size_t open = 0;  // bytes of the unfinished record
    each_raw_line(file, inspection, [&](std::string& line, long number) {
      last = number;
      if (repair_utf8(line) != line)
        throw DataError(name, number,
                        "is not UTF-8, as every file here has to be; spreadsheets save it as 'CSV "
                        "UTF-8', iconv -f LATIN1 -t UTF-8 changes a file");
      const bool begins = open == 0;
      if (begins && line.find_first_not_of(separator == '\t' ? " " : " \t") == std::string::npos) {
        begin = number + 1;  // libcsv gives no row for a blank line
        return;
      }
      const bool tabs = lower_ascii(file.extension().string()) == ".tsv";
      if (begins && header.empty() && (tabs || line.find(',') == std::string::npos))
        for (const char one : {'\t', ';'})
          if (line.find(one) != std::string::npos) {
            parser.separate_by(separator = one);
            break;
          }
      if ((open += line.size() + 1) > kLongestLine)
        throw DataError(name, begin,
                        str("begins a record longer than ", kLongestLine >> 20,
                            " MiB; expected a closing quote (is one missing?)"));
      if (!parser.feed((begins ? with_quotes(line, separator) : line) + "\n")) broken();
      if (!parser.rows.empty()) open = 0;
      take_rows(number + 1);
    });
    if (!parser.finish()) broken();
    take_rows(last + 1);
    note_open_end(file, inspection);
    if (last == 0 || header.empty())
      throw DataError(name, 0,
                      str("is empty, expected ", has_header ? "a header and records" : "records"));
  });
}

}  // namespace

const std::string& CsvRow::text(const std::string& column) const {
  const std::string& text = fields.at(column);
  if (strip(text).empty())
    throw DataError(file, line, str("column '", column, "' is empty, expected some text"));
  return text;
}

void each_row(const std::filesystem::path& file, const std::vector<std::string>& columns,
              Inspection* inspection, const std::function<void(const CsvRow&)>& take) {
  read_rows(file, columns, true, inspection, take);
}

void each_row_without_header(const std::filesystem::path& file,
                             const std::vector<std::string>& columns, Inspection* inspection,
                             const std::function<void(const CsvRow&)>& take) {
  read_rows(file, columns, false, inspection, take);
}

}  // namespace pardec
