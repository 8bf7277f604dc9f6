#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/report/table.hpp"

namespace pardec {

/// A number that the page opens with, e.g. a speedup.
struct Highlight {
  std::string value, range;         ///< "2.46x", "[2.40, 2.49]"
  std::string label;                ///< what it is of
  std::vector<std::string> beside;  ///< what it must not be read without, e.g. "identical 97.1 %"
};

/// What makes numbers not to be believed, or less so.
struct ReportWarning {
  std::string title;                  ///< what all have in common
  std::vector<std::string> findings;  ///< with datasets and arms
  std::string advice = {};            ///< may be empty
};

/// A warning in the row that it is of.
struct RowWarning {
  std::size_t warning;  ///< of Report::warnings
  std::string text;     ///< what was found there
};

struct ReportTable {
  std::string id;  ///< of the element; the JSON stands in "ID-json"
  std::string heading;
  Table table;
  std::vector<std::vector<RowWarning>> warnings = {};  ///< of each row; may be empty
  std::string filter = {};  ///< key of a column: buttons show the rows of one of its texts alone
};

struct ReportFigure {
  std::string heading, caption;
  std::string svg;  ///< by inline_svg
};

/// By the dataset's own metric; unknown: it only grades, was not computed, or nothing was asked.
enum class Correctness { unknown, right, wrong };

/// One thing that was asked.
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
  bool differs = false;  ///< from the baseline's
};

/// Tokens that were chosen one after another: a whole answer, or one field of it.
struct TokenLine {
  std::string field;               ///< empty: the whole answer
  std::vector<std::string> texts;  ///< the bytes of each token as text, or "#ID"
  /// The forward pass of the job that chose each of them, from 1; empty: not known.
  std::vector<std::int64_t> passes;
  /// Guesses that were rejected, as texts, behind the pass that checked them.
  std::vector<std::pair<std::int64_t, std::string>> rejected = {};
};

/// One arm's answer to one example.
struct ReportAnswer {
  std::string arm;
  bool is_baseline = false;         ///< of another arm
  std::string text;                 ///< raw
  std::string stop, error;          ///< error empty: none
  std::vector<std::string> scores;  ///< e.g. "rouge l 0.412"
  bool differs = false;             ///< from the baseline's
  bool limit = false;               ///< it, or a field of it, was cut by a limit
  bool unparsed = false;
  std::vector<ReportValue> values;  ///< one a field; none where it failed
  /// Of a conversation: where in `text` each turn's answer begins, by its field's name.
  std::vector<std::pair<std::size_t, std::string>> turns;
  std::vector<TokenLine> lines;

  bool wrong() const;
};

/// One dataset item with what all arms answered.
struct ReportExample {
  std::string dataset, key, category, text;
  bool open = false;  ///< there is nothing that its answers could be held against
  std::vector<ReportField> fields;
  std::vector<ReportAnswer> answers;
};

struct Examples {
  std::vector<std::string> notes;  ///< how they were drawn, and what was left out
  std::vector<ReportExample> examples;
};

struct Fact {
  std::string name, value;
  bool message = false;  ///< the value is one (wording.hpp)
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
  std::vector<ReportWarning> warnings;
  /// Which arm to take, in words; of each dataset a text and what it does not say.
  struct Advice {
    std::string said;
    std::vector<std::string> more;
  };
  std::vector<Advice> advice;
  std::vector<Highlight> highlights;  ///< of each dataset the arm that is shown to be faster
  /// Verdicts on claims of papers, then their tables and figures beside what was measured; they
  /// stand before all else.
  std::vector<ReportTable> claims;
  std::vector<ReportTable> tables;  ///< the first stands above the figures, the others below
  std::vector<ReportFigure> figures;
  std::string without_figures;  ///< why there are none; empty where they are there
  Examples examples;
  std::vector<FactGroup> facts;
};

/// One HTML file: style, script and figures inside, nothing read from anywhere. Without scripts all
/// examples stand one below the other; with them, one at a time is chosen from a list. Every table
/// also stands in it as JSON, character by character what render(table, TableFormat::json) gives
/// (with < as \u003c); a cell with a value has it in full precision in its data-value.
std::string render_report(const Report& report, const Wording& wording = {});

}  // namespace pardec
