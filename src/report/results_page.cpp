#include "src/report/results_page.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <map>

#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/processor.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"

namespace pardec {

namespace {

/// The order of the page's sections.
constexpr std::array kSections{ClaimVerdict::refuted, ClaimVerdict::confirmed,
                               ClaimVerdict::not_contradicted, ClaimVerdict::open,
                               ClaimVerdict::not_testable};

std::string title_of(ClaimVerdict verdict) {
  std::string text(name(verdict));
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string today_utc() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return {text.data(), size};
}

/// The call that measures an item again; its settings are in backquotes.
std::string command_of(const PaperItem& item, const std::string& scale) {
  return str("pardec reproduce ", item.paper, " ", lower_ascii(replace_all(item.item, " ", "")),
             scale == "small" ? "" : str(" `scale=", scale, "`"));
}

/// The texts of a row of a table by the keys of its columns.
std::map<std::string, std::string> texts_of(const Table& table, const std::vector<Cell>& row,
                                            const Wording& wording) {
  std::map<std::string, std::string> texts;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const std::string text = one_line(row[c].text);
    texts[key_of(table.columns[c])] = wording && table.columns[c].messages ? wording(text) : text;
  }
  return texts;
}

/// The members of a row, by their keys in the export.
constexpr std::array<std::pair<const char*, std::string ResultRow::*>, 12> kMembers{{
    {"item", &ResultRow::item},
    {"claim", &ResultRow::claim},
    {"says", &ResultRow::says},
    {"published", &ResultRow::published},
    {"verdict", &ResultRow::verdict},
    {"measured", &ResultRow::measured},
    {"how", &ResultRow::how},
    {"why", &ResultRow::why},
    {"by_construction", &ResultRow::by_construction},
    {"command", &ResultRow::command},
    {"commit", &ResultRow::commit},
    {"measured_utc", &ResultRow::measured_utc},
}};

std::string cell(const std::string& text) {
  return text.empty() ? "-" : replace_all(one_line(text), "|", "\\|");
}

std::string row_text(const ResultRow& row) {
  std::string why = row.why;
  if (!row.by_construction.empty())
    why = str(row.verdict, ": ", row.by_construction, why == "-" ? "" : "; " + why);
  const std::string made =
      row.measured_utc.empty() ? "" : str(row.measured_utc, ", ", row.commit.substr(0, 8));
  return str("| ", cell(row.item), " ", cell(row.claim), " | ", cell(row.says), " | ",
             cell(row.published), " | ", cell(row.measured), " | ", cell(row.how), " | ", cell(why),
             " | `", cell(row.command), "` | ", cell(made), " |\n");
}

constexpr const char* kHeader =
    "| claim | it says | published | measured, with 95 % interval | how | why | command | date, "
    "commit |\n|---|---|---|---|---|---|---|---|\n";

}  // namespace

ResultsPage results_page(const std::vector<ReproducedItem>& items, const std::string& command,
                         const Wording& wording) {
  ResultsPage page{.command = command,
                   .made_utc = today_utc(),
                   .commit = version().commit,
                   .machine = processor_name()};
  if (const auto gpus = gpu_names(); !gpus.empty()) page.machine = join(gpus, ", ");
  for (const ReproducedItem& item : items) {
    const Table claims = claims_table({item}, "");
    for (const auto& row : claims.rows) {
      auto texts = texts_of(claims, row, wording);
      page.rows.push_back({.item = item.item->name,
                           .claim = texts["claim"],
                           .says = texts["says"],
                           .published = texts["published"],
                           .verdict = texts["verdict"],
                           .measured = texts["measured"],
                           .how = texts["qualified"],
                           .why = texts["why"],
                           .by_construction = texts["by_construction"] == no_cell().text
                                                  ? ""
                                                  : texts["by_construction"],
                           .command = wording ? wording(command_of(*item.item, texts["scale"]))
                                              : command_of(*item.item, texts["scale"]),
                           .commit = item.commit,
                           .measured_utc = item.measured_utc});
    }
  }
  return page;
}

OrderedJson json_of(const ResultsPage& page) {
  OrderedJson rows = OrderedJson::array();
  for (const ResultRow& row : page.rows) {
    OrderedJson& one = rows.emplace_back(OrderedJson::object());
    for (const auto& [key, member] : kMembers) one[key] = row.*member;
  }
  return {{"command", page.command},
          {"made_utc", page.made_utc},
          {"commit", page.commit},
          {"machine", page.machine},
          {"rows", rows}};
}

ResultsPage read_results(const Json& json, const std::string& where) {
  JsonReader read(json, where);
  ResultsPage page;
  page.command = read.required<std::string>("command");
  page.made_utc = read.required<std::string>("made_utc");
  page.commit = read.required<std::string>("commit");
  page.machine = read.required<std::string>("machine");
  const Json rows = read.any("rows");
  read.finish();
  if (!rows.is_array())
    throw ConfigError(str(where, ": 'rows' is ", rows.type_name(), ", expected a list"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    JsonReader of_row(rows[i], str(where, ": 'rows'[", i, "]"));
    ResultRow& row = page.rows.emplace_back();
    for (const auto& [key, member] : kMembers) row.*member = of_row.required<std::string>(key);
    of_row.finish();
  }
  return page;
}

std::string render_results(const ResultsPage& page) {
  const auto chosen = [&](const auto& is) {
    std::vector<const ResultRow*> rows;
    for (const ResultRow& row : page.rows)
      if (is(row)) rows.push_back(&row);
    return rows;
  };
  std::vector<std::string> counts;
  std::string sections;
  const auto section = [&](const std::string& title, const std::string& lead,
                           const std::vector<const ResultRow*>& rows) {
    if (rows.empty()) return;
    sections += str("\n## ", title, "\n\n", lead, kHeader);
    for (const ResultRow* row : rows) sections += row_text(*row);
  };
  for (const ClaimVerdict verdict : kSections) {
    const auto rows = chosen([&](const ResultRow& row) {
      return row.verdict == name(verdict) && row.by_construction.empty();
    });
    if (!rows.empty()) counts.push_back(str(rows.size(), " ", name(verdict)));
    section(title_of(verdict), "", rows);
  }
  const auto cannot = chosen([](const ResultRow& row) { return !row.by_construction.empty(); });
  section(
      "By construction",
      "These claims cannot fail where they were tested, for the reason that column *why* gives. "
      "They are not counted with the other verdicts.\n\n",
      cannot);
  return str(
      "# The papers' claims: verdicts\n\n<!-- made by `reproduce` from the export beside "
      "it; not to be edited -->\n\n`",
      page.command, "` made this page on ", page.made_utc, " (UTC), by pardec at commit ",
      page.commit.substr(0, 8), ", on ", page.machine.empty() ? "a machine" : page.machine,
      ".\n\nClaims: ", counts.empty() ? "none" : join(counts, ", "),
      cannot.empty()
          ? ""
          : str("; apart from them ", cannot.size(), " that cannot fail by construction"),
      ".\nWhat the verdicts and the words of column *how* mean is on [the page of the "
      "papers](README.md#verdicts).\n",
      sections);
}

}  // namespace pardec
