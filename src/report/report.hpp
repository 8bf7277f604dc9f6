#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/report/table.hpp"

namespace pardec {

/// A number at the top of the page, e.g. a speedup.
struct Highlight {
  std::string value, range;         ///< "2.46x", "[2.40, 2.49]"
  std::string label;                ///< meaning of the number
  std::vector<std::string> beside;  ///< facts that must be read with it, e.g. "identical 97.1 %"
};

/// A reason to distrust numbers.
struct ReportWarning {
  std::string title;                  ///< shared by all findings
  std::vector<std::string> findings;  ///< with datasets and arms
  std::string advice = {};            ///< may be empty
};

/// A warning about one row of a table.
struct RowWarning {
  std::size_t warning;  ///< index in Report::warnings
  std::string text;     ///< the finding about this row
};

struct ReportTable {
  std::string id;  ///< id of the element; its JSON has the id "ID-json"
  std::string heading;
  Table table;
  std::vector<std::vector<RowWarning>> warnings = {};  ///< by row; may be empty
  std::string filter = {};  ///< key of a column; buttons select rows by its text
};

struct ReportFigure {
  std::string heading, caption;
  std::string svg;  ///< made by inline_svg
};

/// Whether an answer is right by the dataset's own metric. unknown: the metric is not binary, was
/// not computed, or there was no question.
enum class Correctness { unknown, right, wrong };

/// One question.
struct ReportField {
  std::string name, question;
  std::vector<std::string> choices;
  std::vector<std::string> gold;  ///< empty: absent
  bool annotated = true;
};

/// One arm's answer to one field.
struct ReportValue {
  std::string text;  ///< empty: absent
  Correctness correctness = Correctness::unknown;
  bool differs = false;  ///< from the baseline's answer
};

/// Tokens that were chosen one after the other: a whole answer, or one field of it.
struct TokenLine {
  std::string field;               ///< empty: the whole answer
  std::vector<std::string> texts;  ///< the bytes of each token as text, or "#ID"
  /// The forward pass of the job, counted from 1, that chose each token; empty: not known.
  std::vector<std::int64_t> passes;
  /// Rejected guesses as texts, each with the pass that verified it.
  std::vector<std::pair<std::int64_t, std::string>> rejected = {};
};

/// One arm's answer to one example.
struct ReportAnswer {
  std::string arm;
  bool is_baseline = false;         ///< whether it is the baseline of another arm
  std::string text;                 ///< raw
  std::string stop, error;          ///< empty error: none
  std::vector<std::string> scores;  ///< e.g. "rouge l 0.412"
  bool differs = false;             ///< from the baseline's answer
  bool limit = false;               ///< the answer or one of its fields was cut by a limit
  bool unparsed = false;
  std::vector<ReportValue> values;  ///< one per field; empty: it failed
  /// For conversations: the place in `text` where each turn's answer begins, with the field's name.
  std::vector<std::pair<std::size_t, std::string>> turns;
  std::vector<TokenLine> lines;

  bool wrong() const;
};

/// One example of a dataset with the answers of all arms.
struct ReportExample {
  std::string dataset, key, category, text;
  bool open = false;  ///< there are no references for its answers
  std::vector<ReportField> fields;
  std::vector<ReportAnswer> answers;
};

struct Examples {
  std::vector<std::string> notes;  ///< how the examples were drawn, and what was left out
  std::vector<ReportExample> examples;
};

struct Fact {
  std::string name, value;
  bool message = false;  ///< whether the value is a message (wording.hpp)
};

struct FactGroup {
  std::string heading;
  std::vector<Fact> facts;
};

/// The contents of the page, as plain values.
struct Report {
  std::string title, subtitle;
  /// Facts that a reader must know before looking at any number, e.g. that the network is
  /// untrained.
  std::vector<std::string> marks;
  std::vector<ReportWarning> warnings;
  /// The recommendation for one dataset. `more`: texts about undecided arms and about arms that are
  /// ruled out.
  struct Advice {
    std::string said;
    std::vector<std::string> more;
  };
  std::vector<Advice> advice;
  std::vector<Highlight> highlights;  ///< for each dataset, the arm that is shown to be faster
  /// Verdicts on claims of papers, followed by the papers' tables and figures next to the measured
  /// values. They precede everything else.
  std::vector<ReportTable> claims;
  std::vector<ReportTable> tables;  ///< the first precedes the figures, the others follow them
  std::vector<ReportFigure> figures;
  std::string without_figures;  ///< why there are no figures; empty: there are
  Examples examples;
  std::vector<FactGroup> facts;
};

/// One HTML file with style, script and figures; it loads nothing. Without scripts, all examples
/// are shown one after the other; with scripts, one example is chosen from a list. Every table is
/// also included as JSON, identical to render(table, TableFormat::json) except for < as \u003c. A
/// cell with a value has it in full precision in its data-value.
std::string render_report(Report report, const Wording& wording = {});

}  // namespace pardec
