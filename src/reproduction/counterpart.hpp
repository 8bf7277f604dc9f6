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
  std::vector<std::string> datasets;    ///< several: the mean over the datasets is used
  std::vector<std::string> categories;  ///< measured together; empty: all categories
  std::string metric;
  /// The arms whose quantity is measured, each relative to its `over` if that is not empty.
  /// Several: `extreme` selects one.
  std::vector<ArmPair> arms;
  /// whether `over` is subtracted from the arm; otherwise the arm is divided by `over`
  bool difference = false;
  /// whether each category is measured separately; `extreme` then selects one
  bool each_category = false;
  /// Selects one of several quantities: the smallest or the largest.
  enum class Extreme { none, least, most } extreme = Extreme::none;
  double times = 1, plus = 0;
  /// what would be needed to measure the quantity; then all other members are unset. Empty: nothing
  std::string lacks;

  /// Labels of all arms that the quantity is computed from.
  std::vector<std::string> labels() const;
};

/// Finds the counterparts of an item's cells at one scale.
class Matching {
 public:
  /// `match`: PaperItem::match_at the scale. `item` must outlive this object.
  Matching(const PaperItem& item, Json match) : item_(item), match_(std::move(match)) {}

  /// Whether the cell is compared: for each key to which `match` gives a text, the cell has this
  /// value.
  bool shown(const PublishedCell& cell) const;
  /// The counterpart of a cell. None: the cell has no counterpart.
  std::optional<Counterpart> of(const PublishedCell& cell) const;

 private:
  Json match(const std::string& key) const;

  const PaperItem& item_;
  Json match_;
};

/// The measured quantity, in the unit of the printed number, or what is missing. With
/// Counterpart::extreme, the interval is that of the selected arm or category. For a mean over
/// datasets, the datasets are treated as independent.
Found measured(const Counterpart& counterpart, const Evidence& evidence);

}  // namespace pardec
