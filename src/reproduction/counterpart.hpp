#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/reproduction/evidence.hpp"
#include "src/reproduction/paper_item.hpp"

/// Counterparts: the measured quantities that correspond to the numbers printed in papers.
namespace pardec {

/// A measured quantity that corresponds to a printed number: the printed number is compared with
/// `times` * quantity + `plus`.
struct Counterpart {
  /// if there are several datasets: the mean of their quantities is compared
  std::vector<std::string> datasets;
  std::vector<std::string> categories;  ///< measured together; empty: all categories
  std::string metric;
  /// The arms whose quantity is measured. If ArmPair::over is not empty, the quantity of `arm` is
  /// compared with the quantity of `over`. If there are several entries, `extreme` selects one.
  std::vector<ArmPair> arms;
  /// true: the difference of the two quantities of an ArmPair is measured; false: their ratio
  bool difference = false;
  /// whether each category is measured separately; `extreme` then selects one
  bool each_category = false;
  /// Selects the smallest or the largest of several quantities.
  enum class Extreme { none, least, most } extreme = Extreme::none;
  double times = 1, plus = 0;
  /// What would be needed to measure the quantity. If this is not empty, the other members are not
  /// used. Empty: nothing is needed.
  std::string lacks;

  /// Labels of all arms that the quantity is computed from.
  std::vector<std::string> labels() const;
};

/// Finds the counterparts of an item's cells at one scale.
class Matching {
 public:
  /// `match`: the result of PaperItem::match_at for the scale. `item` must outlive this object.
  Matching(const PaperItem& item, Json match) : item_(item), match_(std::move(match)) {}

  /// Whether a cell is compared with a measurement. A cell is left out if `match` has a text for
  /// one of Published::keys, and the cell has another value for this key (PaperItem::match).
  bool shown(const PublishedCell& cell) const;
  /// The counterpart of a cell. None: `match` has no entry for a value of the cell, the project
  /// does not have the cell's dataset, or no arm or metric is named.
  std::optional<Counterpart> of(const PublishedCell& cell) const;

 private:
  Json match(const std::string& key) const;

  const PaperItem& item_;
  Json match_;
};

/// The measured quantity, in the unit of the printed number, or what is missing. With
/// Counterpart::extreme, the interval belongs to the selected arm or category, and does not include
/// the uncertainty of the selection. For a mean over datasets, the datasets are treated as
/// independent.
Found measured(const Counterpart& counterpart, const Evidence& evidence);

}  // namespace pardec
