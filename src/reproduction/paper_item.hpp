#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/reproduction/verdicts.hpp"
#include "src/support/json.hpp"

/// Tables and figures of papers, as files of experiments/papers say them.
namespace pardec {

/// A number that a paper prints.
struct PublishedCell {
  std::vector<Json> at;  ///< a value for each of Published::keys
  double value;
};

/// Where the paper's own number is doubtful.
struct Doubt {
  Json at;  ///< values of keys, "*" for any; null: the whole item
  std::string why;
};

struct Published {
  std::string unit, source;  ///< printed, stated in the text, or derived
  Json setting;              ///< hardware, dtype, batch and what else the numbers hold for
  std::vector<std::string> keys;
  std::vector<PublishedCell> cells;
  std::vector<Doubt> doubts;
};

/// What a quantity is of: an arm on a dataset, where `over` is given relative to that arm.
struct Point {
  std::string arm, over;                ///< labels
  std::string dataset;                  ///< empty: each that is there
  std::vector<std::string> categories;  ///< together; empty: all
};

/// How a claim is tested.
struct ClaimTest {
  enum class Kind { ratio, bound, difference, order, trend, optimum, identity };
  Kind kind;
  std::string label;  ///< of its parts, where the claim has several tests; else empty
  std::string metric;
  std::vector<Point> points;       ///< each a part; of order, trend and optimum in their order
  std::vector<std::string> among;  ///< optimum: arms
  std::vector<std::string> in;     ///< datasets; empty: all
  bool each_category = false;      ///< a part for each category
  bool rises = false;              ///< trend
  Limit limit{Limit::Relation::above, 1};  ///< order, trend: of neighbours' ratio
  /// A part whose rows of a pass are more than the machine computes in the time that it reads the
  /// weights in is not refuted by it.
  bool below_balance = false;
};

/// A sentence of a paper that a measurement can be right or wrong about.
struct Claim {
  std::string id, says, where;
  Json published;                ///< {"least", "most"}, {"at"}, ... or null
  std::vector<ClaimTest> tests;  ///< all of them have to hold
  std::vector<std::string> scales;
  std::map<std::string, ClaimVerdict> expect;          ///< by scale
  std::map<std::string, std::string> by_construction;  ///< by scale: why it cannot fail there

  bool tested_at(const std::string& scale) const;
};

/// One table or figure.
struct PaperItem {
  std::filesystem::path file;
  std::string name;              ///< e.g. ippd-table5
  std::string paper, item, cls;  ///< e.g. ippd, Table 5, A
  std::string section, measures;
  Published published;
  /// By key of the published cells: a text (only cells of this value are compared) or an object
  /// from its values to arms, datasets, categories or metrics; and the same for `arm`, `dataset`,
  /// `metric` where no key says it.
  Json match;
  Json scales;  ///< by name, as experiments
  std::vector<Claim> claims;

  /// That scale, `like` another filled in. ConfigError.
  Json scale(const std::string& which) const;
};

/// ConfigError, with file and key.
PaperItem read_paper_item(const std::filesystem::path& file);

/// A table or figure of which nothing is measured here.
struct PaperPicture {
  std::string paper, item, why;
};

/// What the project knows of the papers, in their order: by paper, tables before figures.
struct PaperCatalogue {
  std::vector<PaperItem> items;
  std::vector<PaperPicture> pictures;
};
/// Of experiments/papers. ConfigError.
PaperCatalogue read_papers();
/// The file of `table5`, `Table 5`, `t5`, `figure4` or `f4` of a paper. ConfigError with the near
/// names; one that names the reason where it is a picture.
const PaperItem& find_item(const PaperCatalogue& papers, const std::string& paper,
                           const std::string& item);
/// The numbers of a table of datasets (its file in experiments/papers), by dataset and quantity.
std::map<std::string, Json> published_rows(const std::string& table);
/// The papers' short names, which are those of their folders.
std::vector<std::string> paper_names();

}  // namespace pardec
