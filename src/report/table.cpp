#include "src/report/table.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "src/report/text_table.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

const Cell& cell_at(const std::vector<Cell>& row, std::size_t column, const Cell& none) {
  return column < row.size() ? row[column] : none;
}

std::string pad(const std::string& text, int width, Align align) {
  const std::string spaces(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return align == Align::right ? spaces + text : text + spaces;
}

/// Keys of the columns in json and jsonl; a key that is already used gets a number.
std::vector<std::string> keys(const Table& table) {
  std::vector<std::string> out;
  for (const Column& column : table.columns) {
    const std::string& wanted = key_of(column);
    std::string key = wanted;
    for (int n = 2; std::find(out.begin(), out.end(), key) != out.end(); ++n)
      key = str(wanted, "_", n);
    out.push_back(key);
  }
  return out;
}

// Markdown --------------------------------------------------------------------

std::string md_cell(const std::string& text) { return replace_all(one_line(text), "|", "\\|"); }

std::string render_md(const Table& table, const Wording& wording) {
  const Cell none("");
  std::vector<std::vector<std::string>> lines(table.rows.size() + 1);
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    lines[0].push_back(md_cell(table.columns[c].header));
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      lines[r + 1].push_back(md_cell(cell_at(table.rows[r], c, none).text));
    int width = 3;  // at least the width of the rule below the header
    for (const auto& line : lines) width = std::max(width, display_width(line[c]));
    widths.push_back(width);
  }
  std::string out;
  if (!table.title.empty()) out += "### " + one_line(table.title) + "\n\n";
  for (std::size_t l = 0; l < lines.size() && !table.columns.empty(); ++l) {
    out += "|";
    for (std::size_t c = 0; c < widths.size(); ++c)
      out += " " + pad(lines[l][c], widths[c], table.columns[c].align) + " |";
    out += "\n";
    if (l > 0) continue;
    out += "|";
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string rule(static_cast<std::size_t>(widths[c]), '-');
      out += table.columns[c].align == Align::right ? " " + rule + ":|" : " " + rule + " |";
    }
    out += "\n";
  }
  for (const std::string& line : table.conclusion) out += "\n" + one_line(line) + "\n";
  if (!table.notes.empty() || !table.warnings.empty()) out += "\n";
  for (const MergedWarning& warning : merge_warnings(table))
    out += "- " + one_line(warning_line(warning, wording)) + "\n";
  for (const std::string& note : table.notes) out += "- " + one_line(note) + "\n";
  return out;
}

// CSV -------------------------------------------------------------------------

std::string csv_cell(const std::string& text, bool safe) {
  const bool formula = safe && text.find_first_of("=+-@\t\r") == 0;
  const std::string clean = (formula ? "'" : "") + repair_utf8(text);
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  return "\"" + replace_all(clean, "\"", "\"\"") + "\"";
}

/// A cell's value as a single number, text, true, false or null.
Json flat_value(const Cell& cell) {
  if (!cell.value) return cell.text;
  const Json& value = *cell.value;
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return {};
  if (!value.is_structured()) return value;
  if (value.is_array() &&
      std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_string(); }))
    return join(value.get<std::vector<std::string>>(), ", ");
  return dump(value);
}

/// A column of csv: a column of the table, or a part of its values, given by a JSON pointer.
struct CsvColumn {
  std::string header;
  std::size_t column;
  std::optional<Json::json_pointer> part = {};
};

/// The length of the longest list of numbers in a column; 0: it has other values than lists of
/// numbers.
std::size_t most_items(const Table& table, std::size_t column) {
  std::size_t most = table.columns[column].parts.size();
  for (const auto& row : table.rows) {
    if (column >= row.size() || (row[column].value && row[column].value->is_null())) continue;
    const auto& value = row[column].value;
    if (!value || !value->is_array() ||
        !std::all_of(value->begin(), value->end(),
                     [](const Json& item) { return item.is_number() || item.is_null(); }))
      return 0;
    most = std::max(most, value->size());
  }
  return most;
}

/// All columns by their keys in json. Intervals, differences and lists of numbers become several
/// columns.
std::vector<CsvColumn> csv_columns(const Table& table) {
  constexpr std::string_view kInterval = "_interval", kDifference = "_difference";
  const auto pointer = [](const char* text) { return Json::json_pointer(text); };
  std::vector<CsvColumn> out;
  const std::vector<std::string> names = keys(table);
  for (std::size_t c = 0; c < names.size(); ++c) {
    const std::string& name = names[c];
    if (name.ends_with(kInterval)) {
      const std::string of = name.substr(0, name.size() - kInterval.size());
      out.push_back({of + "_low", c, pointer("/0")});
      out.push_back({of + "_high", c, pointer("/1")});
    } else if (name.ends_with(kDifference)) {
      out.push_back({name, c, pointer("/estimate")});
      out.push_back({name + "_low", c, pointer("/interval/0")});
      out.push_back({name + "_high", c, pointer("/interval/1")});
      const auto has_p = [&](const auto& row) {
        return c < row.size() && row[c].value && row[c].value->contains("p_mcnemar_holm");
      };
      if (std::any_of(table.rows.begin(), table.rows.end(), has_p))
        out.push_back({name + "_p_mcnemar_holm", c, pointer("/p_mcnemar_holm")});
    } else if (const std::size_t items = most_items(table, c); items > 0) {
      const std::vector<std::string>& parts = table.columns[c].parts;
      for (std::size_t i = 0; i < items; ++i)
        out.push_back(
            {i < parts.size() ? i ? str(name, "_", parts[i]) : name : str(name, "_", i + 1), c,
             Json::json_pointer(str("/", i))});
    } else {
      out.push_back({name, c});
    }
  }
  return out;
}

Cell part_of(const Cell& cell, const Json::json_pointer& part) {
  return {"", cell.value && cell.value->contains(part) ? cell.value->at(part) : Json()};
}

std::string render_csv(const Table& table, bool safe) {
  const FlatTable all = flat(table);
  std::vector<Json> header;
  for (const FlatTable::Column& column : all.columns) header.emplace_back(column.name);
  std::string out = csv_line(header, safe);
  for (const auto& row : all.rows) out += csv_line(row, safe);
  return out;
}

// JSON ------------------------------------------------------------------------

OrderedJson row_json(const std::vector<std::string>& names, const std::vector<Cell>& row) {
  OrderedJson out = OrderedJson::object();
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (c >= row.size()) {
      out[names[c]] = nullptr;
    } else if (row[c].value) {
      out[names[c]] = OrderedJson(*row[c].value);
    } else {
      out[names[c]] = row[c].text;
    }
  }
  return out;
}

std::string render_jsonl(const Table& table) {
  const std::vector<std::string> names = keys(table);
  std::string out;
  for (const auto& row : table.rows) out += dump(row_json(names, row)) + "\n";
  return out;
}

std::string render_json(const Table& table) {
  const std::vector<std::string> names = keys(table);
  OrderedJson rows = OrderedJson::array();
  for (const auto& row : table.rows) rows.push_back(row_json(names, row));
  OrderedJson out;
  out["title"] = table.title;
  out["columns"] = names;
  out["rows"] = std::move(rows);
  out["conclusion"] = table.conclusion;
  std::vector<std::string> notes = table.notes;
  notes.insert(notes.end(), table.wide_notes.begin(), table.wide_notes.end());
  out["notes"] = std::move(notes);
  out["warnings"] = OrderedJson::array();
  for (const Table::Warning& warning : table.warnings)
    out["warnings"].push_back({{"code", warning.code},
                               {"dataset", warning.dataset},
                               {"arm", warning.arm},
                               {"text", warning.text()}});
  return dump(out) + "\n";
}

// LaTeX -----------------------------------------------------------------------

std::string latex_text(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '<':
        out += "\\textless{}";
        break;
      case '>':
        out += "\\textgreater{}";
        break;
      case '|':
        out += "\\textbar{}";
        break;
      case '{':
      case '}':
      case '$':
      case '&':
      case '#':
      case '_':
      case '%':
        out += '\\';
        out += c;
        break;
      default:
        out += c;
    }
  }
  for (const auto& [symbol, command] : {std::pair{"±", "$\\pm$"},
                                        {"×", "$\\times$"},
                                        {"≤", "$\\le$"},
                                        {"≥", "$\\ge$"},
                                        {"−", "$-$"},
                                        {"→", "$\\to$"}}) {
    out = replace_all(out, symbol, command);
  }
  return out;
}

std::string render_latex(const Table& table, const Wording& wording) {
  const Cell none("");
  std::string out = "\\begin{table}\n\\centering\n";
  if (!table.title.empty()) out += "\\caption{" + latex_text(table.title) + "}\n";
  out += "\\begin{tabular}{";
  for (const Column& column : table.columns) out += column.align == Align::right ? 'r' : 'l';
  out += "}\n\\toprule\n";
  std::vector<std::string> line;
  for (const Column& column : table.columns) line.push_back(latex_text(column.header));
  out += join(line, " & ") + " \\\\\n\\midrule\n";
  for (const auto& row : table.rows) {
    line.clear();
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      line.push_back(latex_text(cell_at(row, c, none).text));
    // After \\ an opening bracket would be taken as its argument.
    if (!line.empty() && line[0].starts_with('[')) line[0] = "{" + line[0] + "}";
    out += join(line, " & ") + " \\\\\n";
  }
  out += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& said : table.conclusion) out += "\\par " + latex_text(said) + "\n";
  for (const MergedWarning& warning : merge_warnings(table))
    out += "\\par\\footnotesize " + latex_text(warning_line(warning, wording)) + "\n";
  for (const std::string& note : table.notes)
    out += "\\par\\footnotesize " + latex_text(note) + "\n";
  return out + "\\end{table}\n";
}

// Warnings --------------------------------------------------------------------

template <typename Item, typename Is>
Item& found_or_added(std::vector<Item>& items, Item added, const Is& is) {
  const auto found = std::find_if(items.begin(), items.end(), is);
  return found != items.end() ? *found : items.emplace_back(std::move(added));
}

constexpr std::string_view kAllArms = "(all arms)";

/// The names in `meant`; if fewer names are missing, "all" except these.
std::string labels_of_all(const std::vector<std::string>& meant,
                          const std::vector<std::string>& all) {
  std::vector<std::string> others;
  for (const std::string& label : all)
    if (std::find(meant.begin(), meant.end(), label) == meant.end()) others.push_back(label);
  if (others.empty() && all.size() > 1) return std::string(kAllArms);
  if (!others.empty() && 3 * others.size() < meant.size())
    return str("(all arms but ", join(others, ", "), ")");
  return join(meant, ", ");
}

/// "oa-mine + squad hpd, ippd; race ippd". Datasets with the same arms are combined, and if all
/// arms of a table or dataset are affected, they are not listed.
std::string who_they_are(const Table& table, const std::vector<std::size_t>& warnings) {
  struct Arms {
    std::string dataset;
    std::vector<std::string> labels;
  };
  const auto add = [](std::vector<Arms>& all, const std::string& dataset, const std::string& arm) {
    auto& labels = found_or_added(all, {dataset, {}}, [&](const Arms& one) {
                     return one.dataset == dataset;
                   }).labels;
    if (!arm.empty()) labels.push_back(arm);
  };
  std::vector<Arms> rows, meant;
  for (const auto& [dataset, arm] : table.arms) add(rows, dataset, arm);
  for (const std::size_t w : warnings)
    if (const Table::Warning& one = table.warnings[w]; !one.dataset.empty())
      add(meant, one.dataset, one.arm);
  struct Group {
    std::vector<std::string> datasets;
    std::string arms;
  };
  std::vector<Group> groups;
  std::size_t whole = 0;  // number of datasets with all arms affected
  for (const Arms& one : meant) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const Arms& of) { return of.dataset == one.dataset; });
    const std::string arms =
        row == rows.end() ? join(one.labels, ", ") : labels_of_all(one.labels, row->labels);
    whole += arms == kAllArms ? 1 : 0;
    found_or_added(groups, {{}, arms}, [&](const Group& of) {
      return of.arms == arms;
    }).datasets.push_back(one.dataset);
  }
  if (whole > 0 && whole == rows.size()) return "all arms";
  std::vector<std::string> parts;
  for (const Group& group : groups)
    parts.push_back(str(join(group.datasets, " + "), group.arms.empty() ? "" : " ", group.arms));
  return join(parts, "; ");
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out = replace_all(std::string(text), "\r\n", " ");
  std::replace(out.begin(), out.end(), '\n', ' ');
  std::replace(out.begin(), out.end(), '\r', ' ');
  return visible_text(out);
}

std::string warning_line(const MergedWarning& warning, const Wording& wording) {
  return worded(str("WARNING (", warning.code, ") ", warning.text()), wording);
}

const std::string& key_of(const Column& column) {
  return column.key.empty() ? column.header : column.key;
}

FlatTable flat(const Table& table) {
  const Cell none = no_cell();
  const std::vector<CsvColumn> columns = csv_columns(table);
  FlatTable out;
  for (const CsvColumn& column : columns)
    out.columns.push_back({column.header, column.part || table.columns[column.column].number ||
                                              table.columns[column.column].align == Align::right});
  for (const auto& row : table.rows) {
    std::vector<Json>& values = out.rows.emplace_back();
    for (const auto& [header, column, part] : columns) {
      const Cell& cell = cell_at(row, column, none);
      values.push_back(flat_value(part ? part_of(cell, *part) : cell));
    }
  }
  return out;
}

std::string csv_line(const std::vector<Json>& values, bool safe) {
  std::vector<std::string> cells;
  for (const Json& value : values)
    cells.push_back(value.is_null()     ? ""
                    : value.is_string() ? csv_cell(value.get<std::string>(), safe)
                                        : dump(value));
  // A line of one empty field would be an empty line, which readers skip.
  return (cells.size() == 1 && cells[0].empty() ? "\"\"" : join(cells, ",")) + "\n";
}

namespace {

/// The table with the columns at these indices, in their order.
Table with_columns(const Table& table, const std::vector<std::size_t>& places) {
  Table out = table;
  out.columns.clear();
  for (auto& row : out.rows) row.clear();
  for (const std::size_t c : places) {
    out.columns.push_back(table.columns[c]);
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      out.rows[r].push_back(c < table.rows[r].size() ? table.rows[r][c] : Cell(""));
  }
  return out;
}

Table where(const Table& table, bool (*is)(const Column&)) {
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (is(table.columns[c])) places.push_back(c);
  return with_columns(table, places);
}

/// The columns that people see.
Table for_people(const Table& table) {
  return where(table, [](const Column& column) { return !column.data_only && !column.wide; });
}

}  // namespace

Table without_data_columns(const Table& table) {
  return where(table, [](const Column& column) { return !column.data_only; });
}

Table choose_columns(Table table, const ColumnChoice& choice) {
  if (!choice.wide && choice.names.empty()) return table;
  if (choice.names.empty()) {
    table.notes.insert(table.notes.end(), table.wide_notes.begin(), table.wide_notes.end());
    table.wide_notes.clear();
    for (Column& column : table.columns) {
      column.data_only = column.data_only || column.brief;
      column.wide = false;
    }
    return table;
  }
  const std::vector<std::string> names = keys(table);
  std::vector<std::size_t> places;
  std::vector<std::string> lacking;
  for (const std::string& name : choice.names)
    if (const auto place = std::find(names.begin(), names.end(), name); place != names.end())
      places.push_back(static_cast<std::size_t>(place - names.begin()));
    else
      lacking.push_back(name);
  table = with_columns(table, places);
  for (Column& column : table.columns) column.data_only = column.wide = column.group = false;
  if (!lacking.empty())
    table.notes.push_back(str("columns that this table does not have: ", join(lacking, ", "), "."));
  return table;
}

std::string Table::Warning::text() const { return str(found, advice.empty() ? "" : "; ", advice); }

std::string MergedWarning::text() const {
  constexpr std::size_t kShown = 6;
  std::vector<std::string> parts;
  for (const Finding& finding : findings)
    if (parts.size() < kShown) parts.push_back(finding.text);
  if (findings.size() > kShown)
    parts.push_back(
        str("and ", findings.size() - kShown, " more findings, which `format=json` has"));
  if (!advice.empty()) parts.push_back(advice);
  return join(parts, "; ") + ".";
}

std::vector<MergedWarning> merge_warnings(const Table& table) {
  std::vector<MergedWarning> merged;
  for (std::size_t w = 0; w < table.warnings.size(); ++w) {
    const Table::Warning& warning = table.warnings[w];
    const auto found = [&](const MergedWarning::Finding& one) { return one.text == warning.found; };
    MergedWarning& of_code =
        found_or_added(merged, {warning.code, {}, warning.advice}, [&](const MergedWarning& one) {
          return one.code == warning.code && one.advice == warning.advice;
        });
    found_or_added(of_code.findings, {warning.found, {}}, found).members.push_back(w);
  }
  for (MergedWarning& one : merged)
    for (MergedWarning::Finding& finding : one.findings)
      if (const std::string who = who_they_are(table, finding.members); !who.empty())
        finding.text = str(who, ": ", finding.text);
  return merged;
}

Json json_of(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Cell no_cell() { return {"-", Json()}; }

Cell number_cell(double value, int decimals) {
  if (!std::isfinite(value)) return Cell("n/a", Json());
  return Cell(fixed(value, decimals), Json(value));
}

Cell number_cell(std::int64_t value) { return Cell(std::to_string(value), Json(value)); }

std::string render(const Table& written, TableFormat format, const Screen& screen,
                   const Wording& wording) {
  const Table table = worded(written, wording);
  for ([[maybe_unused]] const auto& row : table.rows) assert(row.size() <= table.columns.size());
  switch (format) {
    case TableFormat::text: {
      Table people = for_people(table);
      if (std::any_of(table.columns.begin(), table.columns.end(),
                      [](const Column& column) { return column.wide && !column.data_only; }))
        people.notes.push_back(worded("all columns: `wide`.", wording));
      return text_table(people, screen, wording);
    }
    case TableFormat::md:
      return render_md(for_people(table), wording);
    case TableFormat::csv:
      return render_csv(table, false);
    case TableFormat::csv_safe:
      return render_csv(table, true);
    case TableFormat::json:
      return render_json(table);
    case TableFormat::jsonl:
      return render_jsonl(table);
    case TableFormat::latex:
      return render_latex(for_people(table), wording);
  }
  return "";
}

}  // namespace pardec
