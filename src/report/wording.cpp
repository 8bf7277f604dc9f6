#include "src/report/wording.hpp"

#include "src/report/report.hpp"

namespace pardec {

namespace {

/// Converts texts in place.
class Words {
 public:
  explicit Words(const Wording& wording) : wording_(wording) {}

  void put(std::string& text) const { text = wording_(text); }
  void put(std::vector<std::string>& texts) const {
    for (std::string& text : texts) put(text);
  }
  /// All texts within a value.
  void put(Json& value) const {
    if (value.is_string())
      value = wording_(value.get_ref<const std::string&>());
    else if (value.is_structured())
      for (Json& item : value) put(item);
  }
  void put(Table& table) const {
    put(table.conclusion);
    put(table.notes);
    put(table.wide_notes);
    for (Table::Warning& warning : table.warnings) {
      put(warning.found);
      put(warning.advice);
    }
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (table.columns[c].messages)
        for (std::vector<Cell>& row : table.rows)
          if (c < row.size()) {
            put(row[c].text);
            if (row[c].value) put(*row[c].value);
          }
  }
  void put(ReportTable& shown) const {
    put(shown.table);
    for (auto& row : shown.warnings)
      for (RowWarning& warning : row) put(warning.text);
  }

 private:
  const Wording& wording_;
};

}  // namespace

std::string worded(std::string text, const Wording& wording) {
  return wording ? wording(text) : text;
}

Table worded(Table table, const Wording& wording) {
  if (wording) Words(wording).put(table);
  return table;
}

Report worded(Report report, const Wording& wording) {
  if (!wording) return report;
  const Words words(wording);
  words.put(report.marks);
  for (ReportWarning& warning : report.warnings) {
    words.put(warning.findings);
    words.put(warning.advice);
  }
  for (Report::Advice& advice : report.advice) {
    words.put(advice.said);
    words.put(advice.more);
  }
  for (ReportTable& table : report.claims) words.put(table);
  for (ReportTable& table : report.tables) words.put(table);
  for (ReportFigure& figure : report.figures) words.put(figure.caption);
  words.put(report.without_figures);
  words.put(report.examples.notes);
  for (ReportExample& example : report.examples.examples)
    for (ReportAnswer& answer : example.answers) words.put(answer.error);
  for (FactGroup& group : report.facts)
    for (Fact& fact : group.facts)
      if (fact.message) words.put(fact.value);
  return report;
}

}  // namespace pardec
