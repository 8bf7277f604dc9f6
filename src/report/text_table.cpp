#include "src/report/text_table.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>

#include "src/support/text.hpp"

namespace pardec {

namespace {

using Lines = std::vector<std::string>;

constexpr int kGap = 2;  ///< between columns
/// words up to this width are not broken as long as longer ones can be
constexpr int kNarrow = 16;
constexpr std::size_t kTall = 4;  ///< with more lines per row, bands are better
constexpr std::size_t kFew = 5;   ///< columns that are not split into bands if they fit

// Text in lines.

/// Number of bytes of the longest prefix of at most `width` columns, and at least one character.
std::size_t beginning(std::string_view text, int width) {
  std::size_t end = 0;
  for (std::size_t next = 0; next < text.size();) {
    do ++next;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80);
    if (end > 0 && display_width(text.substr(0, next)) > width) break;
    end = next;
  }
  return end;
}

/// Words separated by spaces; text in square brackets is one word.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  bool bracketed = false;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool end = at == text.size();
    if (!end && text[at] == '[') bracketed = text.find(']', at) != std::string_view::npos;
    if (!end && text[at] == ']') bracketed = false;
    if (!end && (text[at] != ' ' || bracketed)) continue;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  return words;
}

/// The parts of a long word, as wide as possible, preferably broken after a separator in names.
Lines parts_of(std::string_view word, int width) {
  Lines parts;
  while (display_width(word) > width) {
    std::size_t end = beginning(word, width);
    const std::size_t sign = word.substr(0, end).find_last_of(" ,/-_+");
    if (sign != std::string_view::npos && sign > 0 && end < word.size()) end = sign + 1;
    parts.emplace_back(rstrip(word.substr(0, end)));
    word.remove_prefix(end);
  }
  if (!word.empty()) parts.emplace_back(word);
  return parts;
}

int widest(const Lines& lines) {
  int width = 0;
  for (const std::string& line : lines) width = std::max(width, display_width(line));
  return width;
}

/// The least width of a column with this text.
int least_width(std::string_view text) {
  int width = 0;
  for (const std::string_view word : words_of(text)) {
    const int whole = display_width(word);
    width = std::max(width, whole <= kNarrow ? whole : widest(parts_of(word, kNarrow)));
  }
  return width;
}

// Columns.

struct TextColumn {
  std::string header;
  Align align;
  Lines cells;              ///< one line per row
  std::vector<Tone> tones;  ///< one per row
  int natural = 0, least = 0, header_word = 0, width = 0;
};

TextColumn column_of(const Table& table, std::size_t c) {
  TextColumn column{one_line(table.columns[c].header), table.columns[c].align, {}, {}};
  for (const auto& row : table.rows) {
    column.cells.push_back(c < row.size() ? one_line(row[c].text) : "");
    column.tones.push_back(c < row.size() ? row[c].tone : Tone::plain);
    column.natural = std::max(column.natural, display_width(column.cells.back()));
    column.least = std::max(column.least, least_width(column.cells.back()));
  }
  column.header_word = least_width(column.header);
  column.least = std::max({column.least, column.header_word, 1});
  column.natural = std::max(column.natural, column.header_word);
  column.width = std::max(column.natural, display_width(column.header));
  return column;
}

using Band = std::vector<TextColumn*>;

int width_of(const Band& band) {
  int width = -kGap;
  for (const TextColumn* column : band) width += column->width + kGap;
  return width;
}

/// The width that its cells need if they are wrapped at the current width.
int needed(const TextColumn& column) {
  int width = widest(wrapped(column.header, column.width));
  for (const std::string& cell : column.cells)
    width = std::max(width, widest(wrapped(cell, column.width)));
  return width;
}

/// Makes columns narrower until they fit; false: this is not sufficient.
bool fit(const Band& band, int width) {
  if (width_of(band) <= width) return true;
  for (TextColumn* column : band) column->width = std::max(column->natural, column->header_word);
  while (width_of(band) > width) {
    TextColumn* widest = nullptr;
    for (TextColumn* column : band)
      if (column->width > column->least && (!widest || column->width > widest->width))
        widest = column;
    if (!widest) return false;
    --widest->width;
  }
  // Distributes the remaining width to columns that can then avoid breaks.
  for (TextColumn* column : band) column->width = needed(*column);
  std::vector<TextColumn*> by_lack(band);
  std::stable_sort(by_lack.begin(), by_lack.end(), [](const TextColumn* a, const TextColumn* b) {
    return a->natural - a->width < b->natural - b->width;
  });
  for (TextColumn* column : by_lack) {
    const int before = column->width;
    for (const int wanted : {std::max(column->natural, display_width(column->header)),
                             std::max(column->natural, column->header_word)}) {
      column->width = wanted;
      if (wanted >= before && width_of(band) <= width) break;
      column->width = before;
    }
  }
  return true;
}

std::size_t lines_of_rows(const Band& band) {
  std::size_t most = 1;
  for (const TextColumn* column : band)
    for (const std::string& cell : column->cells)
      most = std::max(most, wrapped(cell, column->width).size());
  return most;
}

/// The number of leading columns that identify the rows.
std::size_t naming(const std::vector<TextColumn>& columns, const Lines& groups) {
  const std::size_t rows = groups.size();
  for (std::size_t count = 1; count < std::min<std::size_t>(columns.size(), 4); ++count) {
    std::set<Lines> seen;
    for (std::size_t r = 0; r < rows; ++r) {
      Lines name{groups[r]};
      for (std::size_t c = 0; c < count; ++c) name.push_back(columns[c].cells[r]);
      seen.insert(std::move(name));
    }
    if (seen.size() == rows) return count;
  }
  return 1;
}

/// The bands of columns that are printed one below the other.
std::vector<Band> bands_of(std::vector<TextColumn>& columns, const Lines& groups, int width) {
  Band all;
  for (TextColumn& column : columns) all.push_back(&column);
  if (all.empty() || (fit(all, width) && (lines_of_rows(all) <= kTall || all.size() <= kFew)))
    return {all};
  const std::size_t names = naming(columns, groups);
  Band key(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(names));
  for (TextColumn& column : columns)
    column.width = std::min(std::max(column.natural, column.header_word), width);
  if (!fit(key, width / 2))
    while (width_of(key) > width / 2) {
      TextColumn* widest = *std::max_element(
          key.begin(), key.end(),
          [](const TextColumn* one, const TextColumn* other) { return one->width < other->width; });
      if (widest->width <= 1) break;
      --widest->width;
    }
  std::vector<Band> bands;
  for (std::size_t c = names; c < all.size(); ++c) {
    const int room = width - width_of(key) - kGap;
    all[c]->width = std::min(all[c]->width, std::max(1, room));
    if (bands.empty() || width_of(bands.back()) + kGap + all[c]->width > width)
      bands.push_back(key);
    bands.back().push_back(all[c]);
  }
  return bands;
}

// Printing.

std::string painted(const std::string& text, std::string_view code, bool colour) {
  return !colour || code.empty() ? text : str("\033[", code, "m", text, "\033[0m");
}

std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "32";
    case Tone::bad:
      return "31";
    case Tone::caution:
      return "33";
    case Tone::plain:
      break;
  }
  return "";
}

/// Prints one row of several columns, on as many lines as its tallest cell needs.
void add_row(std::string& out, const Band& band, const Lines& cells, const std::vector<Tone>& tones,
             bool colour, bool from_below = false) {
  std::vector<Lines> columns;
  std::size_t height = 1;
  for (std::size_t c = 0; c < band.size(); ++c) {
    columns.push_back(wrapped(cells[c], band[c]->width));
    height = std::max(height, columns.back().size());
  }
  for (std::size_t l = 0; l < height; ++l) {
    std::string line;
    std::size_t printed = 0;  // length without trailing spaces
    for (std::size_t c = 0; c < band.size(); ++c) {
      const std::size_t skipped = from_below ? height - columns[c].size() : 0;
      const std::string text =
          l >= skipped && l - skipped < columns[c].size() ? columns[c][l - skipped] : "";
      const std::string spaces(
          static_cast<std::size_t>(std::max(0, band[c]->width - display_width(text))), ' ');
      const std::string shown = painted(text, text.empty() ? "" : code_of(tones[c]), colour);
      line += (c ? std::string(kGap, ' ') : "") +
              (band[c]->align == Align::right ? spaces + shown : shown);
      if (!text.empty()) printed = line.size();
      if (band[c]->align == Align::left) line += spaces;
    }
    out += line.substr(0, printed) + "\n";
  }
}

void add_band(std::string& out, const Band& band, const Lines& groups, bool heading,
              const Screen& screen) {
  Lines header, rule;
  for (const TextColumn* column : band) {
    header.push_back(column->header);
    rule.emplace_back(static_cast<std::size_t>(column->width), '-');
  }
  const std::vector<Tone> plain(band.size(), Tone::plain);
  add_row(out, band, header, plain, false, /*from_below=*/true);
  add_row(out, band, rule, plain, false);
  Lines done;
  for (std::size_t first = 0; first < groups.size(); ++first) {
    if (std::find(done.begin(), done.end(), groups[first]) != done.end()) continue;
    done.push_back(groups[first]);
    if (heading)
      for (const std::string& line : wrapped(groups[first], screen.width))
        out += painted(line, "1", screen.colour) + "\n";
    for (std::size_t r = first; r < groups.size(); ++r) {
      if (groups[r] != groups[first]) continue;
      Lines cells;
      std::vector<Tone> tones;
      for (const TextColumn* column : band) {
        cells.push_back(column->cells[r]);
        tones.push_back(column->tones[r]);
      }
      add_row(out, band, cells, tones, screen.colour);
    }
  }
}

/// Whether several rows have the same text in this column.
bool is_worth_groups(const Table& table, std::vector<Column>::const_iterator group) {
  const auto c = static_cast<std::size_t>(group - table.columns.begin());
  std::set<std::string> texts;
  for (const auto& row : table.rows)
    if (c < row.size()) texts.insert(row[c].text);
  return table.columns.size() > 1 && (texts.size() < table.rows.size() || texts.size() == 1);
}

/// Prints a list item: further lines are aligned with the first one's text.
void add_item(std::string& out, const std::string& text, std::string_view code,
              const Screen& screen) {
  bool first = true;
  for (const std::string& line : wrapped(one_line(text), screen.width - 2)) {
    out += (first ? "- " : "  ") + painted(line, code, screen.colour) + "\n";
    first = false;
  }
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, int width) {
  Lines lines;
  const auto fits = [&](const std::string& more) {
    return !lines.empty() && !lines.back().empty() &&
           display_width(lines.back()) + 1 + display_width(more) <= width;
  };
  for (const std::string_view word : words_of(text))
    for (std::string& part : parts_of(word, std::max(1, width)))
      if (fits(part) && part.size() == word.size())
        lines.back() += " " + part;
      else
        lines.push_back(std::move(part));
  if (lines.empty()) lines.emplace_back();
  return lines;
}

std::string text_table(const Table& table, const Screen& screen, const Wording& wording) {
  const auto group = std::find_if(table.columns.begin(), table.columns.end(),
                                  [](const Column& column) { return column.group; });
  const bool grouped = group != table.columns.end() && is_worth_groups(table, group);
  Lines groups(table.rows.size());
  std::vector<TextColumn> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    TextColumn column = column_of(table, c);
    if (grouped && c == static_cast<std::size_t>(group - table.columns.begin()))
      groups = std::move(column.cells);
    else
      columns.push_back(std::move(column));
  }
  std::string out;
  if (!table.title.empty()) {
    for (const std::string& line : wrapped(one_line(table.title), screen.width))
      out += painted(line, "1", screen.colour) + "\n";
    out += "\n";
  }
  const std::vector<Band> bands = bands_of(columns, groups, screen.width);
  for (std::size_t b = 0; b < bands.size() && !columns.empty(); ++b) {
    if (b > 0) out += "\n";
    add_band(out, bands[b], groups, grouped, screen);
  }
  if (!table.conclusion.empty()) out += "\n";
  for (const std::string& text : table.conclusion) {
    for (const std::string& line : wrapped(one_line(text), screen.width))
      out += painted(line, "1", screen.colour) + "\n";
  }
  if (!table.notes.empty() || !table.warnings.empty()) out += "\n";
  for (const MergedWarning& warning : merge_warnings(table))
    add_item(out, warning_line(warning, wording),
             code_of(warning.code == "broken" ? Tone::bad : Tone::caution), screen);
  for (const std::string& note : table.notes) add_item(out, note, "", screen);
  return out;
}

}  // namespace pardec
