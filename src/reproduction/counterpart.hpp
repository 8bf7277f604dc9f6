#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/reproduction/evidence.hpp"
#include "src/reproduction/paper_item.hpp"

/// What is measured here for a number that a paper prints.
namespace pardec {

/// The printed number is `times` a quantity measured here, plus `plus`.
struct Counterpart {
  std::vector<std::string> datasets;    ///< several: the mean of theirs
  std::vector<std::string> categories;  ///< combined; empty: all
  std::string metric;
  /// The arms of which the quantity is; with `over`, relative to that arm. Several: see `extreme`.
  std::vector<ArmPair> arms;
  bool difference = false;     ///< of each arm minus its `over`; otherwise their ratio
  bool each_category = false;  ///< of each category on its own: see `extreme`
  /// Which of several quantities is compared.
  enum class Extreme { none, least, most } extreme = Extreme::none;
  double times = 1, plus = 0;
  std::string lacks;  ///< what would be needed to measure it; the rest is then empty

  /// Labels of all arms that it is computed from.
  std::vector<std::string> labels() const;
};

/// Finds counterparts by the `match` of an item at one of its scales.
class Matching {
 public:
  /// `item` has to outlive it.
  Matching(const PaperItem& item, Json match) : item_(item), match_(std::move(match)) {}

  /// Whether the cell's keys have the values that are compared.
  bool shown(const PublishedCell& cell) const;
  /// None: the number has no counterpart.
  std::optional<Counterpart> of(const PublishedCell& cell) const;

 private:
  Json match(const std::string& key) const;

  const PaperItem& item_;
  Json match_;
};

/// The measured quantity, in the unit of the printed number. The interval of a least or a most is
/// that of the arm or category that has it. Datasets are treated as independent.
Found measured(const Counterpart& counterpart, const Evidence& evidence);

}  // namespace pardec
