#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/report/table.hpp"

namespace pardec {

/// A number in large type at the top of the page, e.g. a speedup.
struct Highlight {
  std::string value, range;         ///< e.g. "2.46×" and "[2.40, 2.49]"
  std::string label;                ///< what the number is
  std::vector<std::string> beside;  ///< facts shown next to the number, e.g. "identical 97.1 %"
};

/// A kind of warning about numbers of the page.
struct ReportWarning {
  std::string title;                  ///< the kind: the warning's code in words
  std::vector<std::string> findings;  ///< texts, each with the names of datasets and arms
  std::string advice = {};            ///< may be empty
};

/// A warning about one row of a table.
struct RowWarning {
  std::size_t warning;  ///< index in Report::warnings
  std::string text;     ///< the finding about this row
};

/// A table of the page.
struct ReportTable {
  /// Beginning of the HTML ids: the table has the id "ID-table", and its JSON has "ID-json".
  /// In Report::claims, the id "verdicts" is reserved for the table of verdicts.
  std::string id;
  std::string heading;
  Table table;
  std::vector<std::vector<RowWarning>> warnings = {};  ///< [row][warning]; empty: no warnings
  /// Key of a column. For each text in this column, a button shows only the rows with this text.
  /// Empty: no buttons.
  std::string filter = {};
};

/// A figure of the page.
struct ReportFigure {
  std::string heading, caption;
  std::string svg;  ///< made by inline_svg
};

/// Whether an answer is right according to the dataset's own metric. `unknown`: the metric is not
/// binary or was not computed; the field is not annotated or was not asked; or both the arm and the
/// dataset say that the value is absent.
enum class Correctness { unknown, right, wrong };

/// One field of an example, with its question.
struct ReportField {
  std::string name, question;
  std::vector<std::string> choices;
  std::vector<std::string> gold;  ///< right answers; empty: the value is absent
  bool annotated = true;          ///< false: the dataset does not say what is right
};

/// One arm's answer to one field.
struct ReportValue {
  std::string text;  ///< empty: the arm says that the value is absent
  Correctness correctness = Correctness::unknown;
  bool differs = false;  ///< whether this value differs from the baseline's value
};

/// The tokens of a whole answer or of one field, in order (ChosenLine).
struct TokenLine {
  std::string field;  ///< name of the field; empty: the whole answer
  /// text of each token; "#ID" if there is no tokenizer, or if it has no token with this id
  std::vector<std::string> texts;
  /// For each token: the number of the job's forward pass that chose the token, counted from 1.
  /// Empty: not known.
  std::vector<std::int64_t> passes;
  /// Rejected guesses: (pass that verified the guess, text of the guess).
  std::vector<std::pair<std::int64_t, std::string>> rejected = {};
};

/// One arm's answer to one example.
struct ReportAnswer {
  std::string arm;                  ///< label
  bool is_baseline = false;         ///< whether another arm is compared with this arm
  std::string text;                 ///< as generated
  std::string stop;                 ///< what ended the answer, e.g. "eos" or "limit"
  std::string error;                ///< why the answer failed; empty: it did not fail
  std::vector<std::string> scores;  ///< e.g. "ROUGE L 0.412"
  bool differs = false;             ///< whether the answer differs from the baseline's answer
  bool limit = false;               ///< whether the answer or one of its fields was cut at a limit
  bool unparsed = false;            ///< whether the values could not be read from the text
  /// one for each entry of ReportExample::fields; empty: the answer failed
  std::vector<ReportValue> values;
  /// For conversations: (offset in `text` where a turn's answer begins, name of the turn's field).
  std::vector<std::pair<std::size_t, std::string>> turns;
  std::vector<TokenLine> lines;  ///< the tokens of the answer, or of each field with tokens

  /// Whether one of the values is wrong.
  bool wrong() const;
};

/// One example of a dataset with the answers of all arms.
struct ReportExample {
  /// `dataset`: as in shown_name(). `key`: the example's key in the dataset. `category` and `text`
  /// may be empty.
  std::string dataset, key, category, text;
  /// whether the example has no reference answers, and the dataset no metric that tells right from
  /// wrong
  bool open = false;
  std::vector<ReportField> fields;
  std::vector<ReportAnswer> answers;  ///< of the arms with an answer, in the order of the arms
};

/// The examples of the page.
struct Examples {
  std::vector<std::string> notes;  ///< how the examples were selected, and what was left out
  std::vector<ReportExample> examples;
};

/// A condition of the measurement, e.g. the commit.
struct Fact {
  std::string name, value;
  /// whether `value` is a message: names of settings in backquotes are converted (wording.hpp)
  bool message = false;
};

/// Facts under one heading.
struct FactGroup {
  std::string heading;
  std::vector<Fact> facts;
};

/// The content of the page.
struct Report {
  std::string title, subtitle;
  /// Facts shown before any number, e.g. that the network is untrained.
  std::vector<std::string> marks;
  std::vector<ReportWarning> warnings;
  /// The recommendation for one dataset. `said`: the recommendation with its conditions. `more`:
  /// texts about undecided arms, and about arms that are ruled out.
  struct Advice {
    std::string said;
    std::vector<std::string> more;
  };
  std::vector<Advice> advice;
  /// for each dataset with a recommended arm (Headline::best): the speedup of this arm
  std::vector<Highlight> highlights;
  /// Verdicts on claims of papers, then the papers' tables with the printed and the measured
  /// numbers (reproduction_tables). These tables come before all other tables of the page.
  std::vector<ReportTable> claims;
  std::vector<ReportTable> tables;  ///< the first table is above the figures, the others are below
  std::vector<ReportFigure> figures;
  std::string without_figures;  ///< why there are no figures; empty: there are figures
  Examples examples;
  std::vector<FactGroup> facts;
};

/// The page as one HTML file that includes CSS, JavaScript and figures, and loads nothing. With
/// JavaScript, a reader selects one example from a list. Without JavaScript, all examples are
/// shown. The page also has each table as JSON: render(table, TableFormat::json), escaped by
/// escape_json_script(). The attribute data-value of a cell has the cell's value in full precision.
/// `wording`: converts the messages (worded(Report)).
std::string render_report(Report report, const Wording& wording = {});

}  // namespace pardec
