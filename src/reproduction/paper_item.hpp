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
  std::vector<Json> at;  ///< one value for each of Published::keys
  double value;
};

/// A doubt about the paper's own number.
struct Doubt {
  Json at;  ///< values of keys, "*" for any; null: the whole item
  std::string why;
};

struct Published {
  std::string unit, source;  ///< source: printed, stated in the text, or derived
  Json setting;              ///< hardware, dtype, batch and other conditions of the numbers
  std::vector<std::string> keys;
  /// The project's name for each dataset that the paper names; null: the project does not have the
  /// dataset.
  std::map<std::string, std::optional<std::string>> datasets;
  std::vector<PublishedCell> cells;
  std::vector<Doubt> doubts;

  /// The dataset of a cell, as the paper names it: the value of key `dataset`, otherwise the only
  /// one of `datasets`. Empty: the cell is of several datasets, or of none.
  std::string dataset_of(const PublishedCell& cell) const;
};

/// An arm on a dataset, of which a quantity is computed; with `over`, relative to that arm.
struct Point {
  std::string arm, over;                ///< labels
  std::string dataset;                  ///< empty: each available dataset
  std::vector<std::string> categories;  ///< combined; empty: all
};

/// How a claim is tested.
struct ClaimTest {
  enum class Kind { ratio, bound, difference, order, trend, optimum, identity };
  Kind kind;
  std::string label;  ///< identifies its parts if the claim has several tests; otherwise empty
  std::string metric;
  std::vector<Point> points;       ///< one part each; for order, trend and optimum, in their order
  std::vector<std::string> among;  ///< optimum: the arms to choose from
  std::vector<std::string> in;     ///< datasets; empty: all
  bool each_category = false;      ///< one part for each category
  bool rises = false;              ///< trend
  Limit limit{Limit::Relation::above, 1};  ///< order, trend: for the ratio of neighbours
  /// A part cannot be refuted if its passes have more rows than the machine can compute in the time
  /// of reading the weights.
  bool below_balance = false;
};

/// A sentence of a paper that measurements can confirm or refute.
struct Claim {
  std::string id, says, where;
  Json published;  ///< {"least", "most"}, {"at"}, ... or null
  /// the paper's numbers by the project's dataset and by network, if it has several
  std::map<std::string, std::map<std::string, double>> published_by;
  std::map<std::string, std::string> networks;  ///< the arms' network of the paper, by scale
  std::vector<ClaimTest> tests;                 ///< all must hold
  std::vector<std::string> scales;
  std::map<std::string, ClaimVerdict> expect;  ///< by scale
  /// by scale: why the claim cannot fail there
  std::map<std::string, std::string> by_construction;
  /// the project's datasets that the paper's numbers are for (those of `published_by`, otherwise
  /// those of the item); on any other dataset, the verdict is marked as tested on other data
  std::set<std::string> datasets;

  bool tested_at(const std::string& scale) const;
  /// The paper's numbers for a dataset and network: {"least", "most"}, of all networks if the paper
  /// has none for this one. `published` if the numbers are not given by dataset; null: none.
  Json published_of(const std::string& dataset, const std::string& network) const;
};

/// One table or figure.
struct PaperItem {
  std::filesystem::path file;
  std::string name;              ///< e.g. ippd-table5
  std::string paper, item, cls;  ///< e.g. ippd, Table 5, A
  std::string section, measures;
  Published published;
  /// For each key of the published cells but `dataset`: a text (only cells with this value are
  /// compared), or an object that maps its values to arms, categories or metrics. `arm` and
  /// `metric` give the same for all cells if no key determines them. A cell is compared on its own
  /// dataset (Published::datasets), and on no other.
  Json match;
  Json scales;  ///< by name, in the form of experiments
  /// what is needed to measure it but not available, e.g. a corpus; empty if it has scales
  std::string lacks;
  std::vector<Claim> claims;

  /// The named scale; a scale that is `like` another one is completed from it. ConfigError.
  Json scale(const std::string& which) const;
  /// `match` with the keys that this scale replaces. ConfigError as `scale`.
  Json match_at(const std::string& which) const;
};

/// ConfigError, with file and key.
PaperItem read_paper_item(const std::filesystem::path& file);

/// A table or figure for which nothing is measured here.
struct PaperPicture {
  std::string paper, item, why;
};

/// All known items of the papers, ordered by paper, with tables before figures.
struct PaperCatalogue {
  std::vector<PaperItem> items;
  std::vector<PaperPicture> pictures;
};
/// Reads experiments/papers. ConfigError.
PaperCatalogue read_papers();
/// Finds an item of a paper by `table5`, `Table 5`, `t5`, `figure4` or `f4`. ConfigError: an
/// unknown item (with similar names), or a figure without measurements (with the reason).
const PaperItem& find_item(const PaperCatalogue& papers, const std::string& paper,
                           const std::string& item);
/// The numbers of a table about datasets (its file in experiments/papers), by dataset and quantity.
std::map<std::string, Json> published_rows(const std::string& table);
/// The papers' short names, which are the names of their folders.
std::vector<std::string> paper_names();

}  // namespace pardec
