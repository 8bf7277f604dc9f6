#pragma once
#include <string>
#include <vector>

#include "src/report/table.hpp"

namespace pardec {

/// A number that the page opens with, e.g. a speedup.
struct Highlight {
  std::string value, range;         ///< "2.46x", "[2.40, 2.49]"
  std::string label;                ///< what it is of
  std::vector<std::string> beside;  ///< what it must not be read without, e.g. "identical 97.1 %"
};

struct ReportTable {
  std::string id;  ///< of the element; the JSON stands in "ID-json"
  std::string heading;
  Table table;
};

struct ReportFigure {
  std::string heading, caption;
  std::string svg;  ///< by inline_svg
};

enum class Correctness { unknown, right, wrong };

/// One arm's answer to one field.
struct ReportAnswer {
  std::string text;  ///< empty: absent
  Correctness correctness = Correctness::unknown;
  bool differs = false;  ///< from the first arm's
  bool failed = false;   ///< there is no answer
};

struct ReportField {
  std::string name;
  std::vector<std::string> gold;  ///< empty: absent
  bool annotated = true;
  std::vector<ReportAnswer> answers;  ///< one an arm
};

enum class ExampleKind { identical, differing, failed };

/// One dataset item with what two arms or more answered.
struct ReportExample {
  ExampleKind kind = ExampleKind::identical;
  std::string key, category, text;
  std::string note;  ///< e.g. the error, or where the answers part; may be empty
  std::vector<ReportField> fields;
};

struct ExampleGroup {
  std::string heading, note;
  std::vector<std::string> arms;
  std::vector<ReportExample> examples;
};

struct Fact {
  std::string name, value;
};

struct FactGroup {
  std::string heading;
  std::vector<Fact> facts;
};

/// Everything that the page shows, as plain values.
struct Report {
  std::string title, subtitle;
  /// What a reader must know before any number, e.g. that the network is untrained.
  std::vector<std::string> marks;
  std::vector<Highlight> highlights;
  std::vector<ReportTable> tables;  ///< the first stands above the figures, the others below
  std::vector<ReportFigure> figures;
  std::string without_figures;  ///< why there are none; empty where they are there
  std::vector<ExampleGroup> examples;
  std::vector<FactGroup> facts;
};

/// One HTML file: style, script and figures inside, nothing read from anywhere. Every table also
/// stands in it as JSON, character by character what render(table, TableFormat::json) gives (with
/// < as \u003c); a cell with a value has it in full precision in its data-value.
std::string render_report(const Report& report);

}  // namespace pardec
