#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/reproduction/verdicts.hpp"
#include "src/support/json.hpp"

/// Tables and figures of papers, read from experiments/papers.
namespace pardec {

/// A number printed in a paper.
struct PublishedCell {
  std::vector<Json> at;  ///< one value for each entry of Published::keys
  double value;
};

/// A doubt about a number in the paper.
struct Doubt {
  /// the cells in doubt: a list with one value for each entry of Published::keys, where "*" means
  /// any value; null: all cells
  Json at;
  std::string why;
};

/// The numbers of a table or figure.
struct Published {
  /// unit: the unit of the numbers, as text. source: whether the numbers are printed, stated in the
  /// text, or derived from other numbers or formulas of the paper.
  std::string unit, source;
  Json setting;  ///< conditions of the numbers: hardware, dtype, batch and others
  /// names of the values that identify a cell, e.g. method and dataset
  std::vector<std::string> keys;
  /// The paper's name of a dataset -> the project's name; none: the project does not have the
  /// dataset.
  std::map<std::string, std::optional<std::string>> datasets;
  std::vector<PublishedCell> cells;
  std::vector<Doubt> doubts;

  /// The dataset of a cell, with the paper's name: the value of key `dataset`, or, without this
  /// key, the only entry of `datasets`. Empty: the cell belongs to several datasets or to none.
  std::string dataset_of(const PublishedCell& cell) const;
};

/// An arm on a dataset whose quantity a claim tests. With `over`, the quantity of `arm` is divided
/// by the quantity of arm `over`, or compared with it in another way (ClaimTest::Kind).
struct Point {
  std::string arm, over;                ///< labels; `over` may be empty
  std::string dataset;                  ///< empty: each dataset of ClaimTest::in
  std::vector<std::string> categories;  ///< measured together; empty: all categories
};

/// How a claim is tested.
struct ClaimTest {
  /// What must hold for the quantities of `points`.
  enum class Kind {
    ratio,       ///< each point's arm divided by its `over` satisfies `limit`
    bound,       ///< each point satisfies `limit` (not a bound by the roofline); no `over` needed
    difference,  ///< each point's arm minus its `over` satisfies `limit`
    order,       ///< each point divided by the next point satisfies `limit`
    /// The quantity rises or falls along the points. Of two neighbours, the point that should be
    /// larger, divided by the other point, satisfies `limit`.
    trend,
    optimum,   ///< the largest quantity belongs to an arm in `among`
    identity,  ///< the share of answers that equal the answers of `over` satisfies `limit`
  };
  Kind kind;
  std::string label;   ///< name of the test; empty: it is the claim's only test
  std::string metric;  ///< experiments/papers/README.md lists the metrics
  /// The test has one part for each point, or, for order and trend, for each pair of neighbours.
  std::vector<Point> points;
  /// optimum: the claim is that the best point has one of these arms
  std::vector<std::string> among;
  std::vector<std::string> in;             ///< datasets; empty: all
  bool each_category = false;              ///< whether each category is tested separately
  bool rises = false;                      ///< trend: whether the claim is a rise; false: a fall
  Limit limit{Limit::Relation::above, 1};  ///< for order and trend: of the ratio of neighbours
  /// Whether parts with large passes cannot refute the claim. A pass is large if it has more rows
  /// than the machine can compute while it reads the weights (Evidence::balance). If only such
  /// parts are refuted, the test is open.
  bool below_balance = false;
};

/// A sentence of a paper that measurements can confirm or refute.
struct Claim {
  /// id: e.g. "D1", unique in the item. says: the sentence. where: its place in the paper.
  std::string id, says, where;
  /// The paper's numbers: {"least": X, "most": Y} for a range, {"at": X} for a single number, or
  /// {"by": ...} for numbers by dataset, which `published_by` has. Null: the claim has no numbers.
  Json published;
  /// The paper's numbers by dataset: dataset (the project's name) -> name of the paper's network ->
  /// number. Empty: `published` has no key `by`.
  std::map<std::string, std::map<std::string, double>> published_by;
  /// scale -> name of the paper's network whose shape the scale uses (key `shapes`); empty name:
  /// not known
  std::map<std::string, std::string> networks;
  std::vector<ClaimTest> tests;                ///< all of them must hold
  std::vector<std::string> scales;             ///< at which the claim is tested
  std::map<std::string, ClaimVerdict> expect;  ///< scale -> expected verdict
  /// scale -> why the claim cannot fail at this scale
  std::map<std::string, std::string> by_construction;
  /// The project's datasets for which the paper has numbers: the datasets in `published_by`, or, if
  /// this is empty, the datasets of the item. On any other dataset, the verdict has
  /// Qualifiers::other_data.
  std::set<std::string> datasets;

  /// Whether the claim is tested at this scale.
  bool tested_at(const std::string& scale) const;
  /// The range {"least": X, "most": Y} of the paper's numbers for a network on a dataset (empty: on
  /// all datasets). If the paper has no number for this network on a dataset, the numbers for all
  /// networks on this dataset count. If the numbers are not given by dataset, the result is
  /// `published`. Null: there are no numbers.
  Json published_of(const std::string& dataset, const std::string& network) const;
};

/// How a figure of a paper, or one of its panels, is drawn with measured quantities.
struct PrintedFigure {
  /// What is drawn. Names in backquotes are members of PrintedFigure.
  enum class Form {
    /// a metric over the setting `along` of the arms, e.g. batch_size; one line for each series
    lines,
    /// bars of a metric, in groups: one group for each dataset (`along` is "dataset"), or for each
    /// category of one dataset (`along` is "category")
    bars,
    /// one bar for each arm, made of the quantities `parts`, which add up to 1
    stacked,
    /// a metric by the settings `along` (columns) and `by` (rows)
    heat,
    /// the density of a metric over answers; one curve for each series
    density,
    /// a metric over the metric `along`; one mark for each arm
    scatter,
    /// Throughput against the used cache (Figure 5 of the APAR paper). For each arm, a mark with
    /// mean and quartiles of the tokens per second over windows of time (load_windows), at the mean
    /// number of cached rows. The marks of a series are joined.
    cache,
  };
  /// Arms whose values form one line, curve or group of marks, with the paper's name for them.
  struct Series {
    std::string name;
    std::vector<Point> arms;  ///< arms that the scale does not have are left out
  };
  /// One part of a stacked bar: its name in the legend, and the metric that it shows.
  struct Part {
    std::string name, metric;
  };
  Form form;
  std::string title;                 ///< name of the panel; empty: there is only one panel
  std::vector<std::string> metrics;  ///< one figure for each; not used for `stacked` and `cache`
  std::string along, by;             ///< see Form
  std::vector<Series> series;
  std::vector<Part> parts;  ///< see Form::stacked
  std::string x_label, y_label;
  double times = 1;      ///< the drawn number is `times` * value, e.g. 100 for percent
  bool inverse = false;  ///< true: the drawn number is `times` / value, e.g. a time per token
  /// Datasets; empty: all datasets of the scale. Each dataset has a figure of its own, unless
  /// `along` is "dataset" or the form is `stacked`.
  std::vector<std::string> in;
  std::string note;  ///< how the drawing differs from the paper's; empty: it does not differ
};

/// One table or figure of a paper.
struct PaperItem {
  std::filesystem::path file;
  std::string name;         ///< e.g. "ippd-table5"
  std::string paper, item;  ///< e.g. "ippd", "Table 5"
  /// The key `class`. A or B: pardec can measure the whole item. C: the item needs something that
  /// pardec does not do. D: the item needs weights, hardware or people that are not available.
  std::string item_class;
  /// section: the section of the paper. measures: what the table or figure measures.
  std::string section, measures;
  Published published;
  /// How published cells correspond to measurements (experiments/papers/README.md, "Files"). It is
  /// an object with an entry for each of Published::keys except `dataset`. If the entry is a text,
  /// only cells with this value are compared. If it is an object, it maps the key's values to arms,
  /// categories or metrics. Entries `arm` and `metric` apply to all cells. A cell is compared only
  /// on its own dataset (Published::datasets).
  Json match;
  Json scales;  ///< name -> scale, in the form of an experiment file with further keys
  /// what is missing to measure the item, e.g. a corpus; empty if there are scales
  std::string lacks;
  std::vector<Claim> claims;
  std::vector<PrintedFigure> figures;  ///< the panels of a figure; empty: it is not drawn

  /// A scale by name, with its key `like` resolved and removed. This key names another scale: SCALE
  /// of this item, or PAPER/ITEM#SCALE of another item. The result has all keys of the other scale
  /// that the scale itself lacks. If both scales have an object for a key, the objects are merged
  /// key by key. Null in the scale removes a key of the other scale. ConfigError: there is no such
  /// scale, or more than ten scales follow one another by `like`. DataError: the file of the other
  /// item cannot be read or is not JSON.
  Json scale(const std::string& which) const;
  /// `match`, with the keys that this scale replaces. Errors: see `scale`.
  Json match_at(const std::string& which) const;
};

/// Reads the file of an item. ConfigError, which names file and key: the file is invalid, or a
/// claim or figure names an arm that its scales do not have. DataError: the file cannot be read or
/// is not JSON.
PaperItem read_paper_item(const std::filesystem::path& file);

/// A table or figure that is not measured here, e.g. a picture without numbers.
struct PaperPicture {
  std::string paper, item, why;
};

/// All tables and figures of the papers. Items are ordered by paper, with tables before figures.
struct PaperCatalogue {
  std::vector<PaperItem> items;
  std::vector<PaperPicture> pictures;
};
/// Reads experiments/papers. Errors: see read_paper_item.
PaperCatalogue read_papers();
/// Finds an item of a paper. `item`: e.g. `table5`, `Table 5`, `t5`, `figure4` or `f4`.
/// ConfigError: there is no such paper or item (the message suggests similar names), or the item is
/// not measured here (the message says why).
const PaperItem& find_item(const PaperCatalogue& papers, const std::string& paper,
                           const std::string& item);
/// The numbers of a published table about datasets: dataset -> object {quantity: number}. `table`:
/// the item's file in experiments/papers, e.g. "ippd/table1.json". Errors: see read_paper_item.
/// REQUIRES: the keys of the table (Published::keys) are a dataset and a quantity, in this order.
std::map<std::string, Json> published_rows(const std::string& table);
/// The short names of the papers, e.g. "ippd". They are the names of folders in experiments/papers.
std::vector<std::string> paper_names();

}  // namespace pardec
