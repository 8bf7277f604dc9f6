#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/reproduction/fitness.hpp"
#include "src/reproduction/verdicts.hpp"
#include "src/store/store.hpp"

/// Measurements of arms, datasets and categories, by the names that experiment files use.
namespace pardec {

/// Where a quantity was measured.
struct Scope {
  std::string dataset;
  std::vector<std::string> categories = {};  ///< combined; empty: all
};

/// A quantity, or what is missing for it, e.g. "dataset narrativeqa".
struct Found {
  std::optional<Measured> measured;
  std::string lacks;
};

/// An arm relative to another one.
struct ArmPair {
  std::string arm, over;
};

/// The circumstances of a verdict.
struct Qualifiers {
  bool forced = false, standin = false, scaled = false, bound = false;
  bool other_data = false;  ///< the dataset is not one that the paper's numbers are for
  bool counted = false;     ///< counted in the data or computed from such counts; nothing ran

  /// e.g. "forced, stand-in"; "measured": no circumstance differs from the paper's.
  std::string text() const;
  /// The combined qualifiers of a number that is computed from two numbers with these qualifiers.
  Qualifiers with(const Qualifiers& other) const;
};

/// Metrics have the names in experiments/papers/README.md. An unknown metric, an arm that was not
/// run, or a score of forced answers is reported in Found::lacks, and is never an error.
class Evidence {
 public:
  virtual ~Evidence() = default;
  /// The measured datasets; for bounds, the networks on machines.
  virtual std::vector<std::string> places() const = 0;
  /// The places of a dataset; empty: it was not measured.
  virtual std::vector<std::string> places_of(const std::string& dataset) const;
  virtual std::string dataset_of(const std::string& place) const { return place; }
  /// The network of a place that is of one network; empty: the arms' networks.
  virtual std::string network_of(const std::string& /*place*/) const { return ""; }
  virtual std::vector<std::string> categories(const std::string& dataset) const = 0;
  virtual Found level(const Scope& place, const std::string& arm,
                      const std::string& metric) const = 0;
  /// Ratio of `arm` to `other`, paired over shared examples.
  virtual Found ratio(const Scope& place, const std::string& arm, const std::string& other,
                      const std::string& metric) const = 0;
  /// The first pair's ratio divided by the second's. Unless overridden, the ratios are treated as
  /// independent.
  virtual Found ratio_of_ratios(const Scope& place, const ArmPair& a, const ArmPair& b,
                                const std::string& metric) const;
  /// `arm` minus `other`.
  virtual Found difference(const Scope& place, const std::string& arm, const std::string& other,
                           const std::string& metric) const = 0;
  /// Number of answers of `arm` that equal those of `other`: fields for metric `exact_match`, whole
  /// answers for `identical`.
  virtual std::optional<IdentityCount> identity(const Scope& place, const std::string& arm,
                                                const std::string& other,
                                                const std::string& metric) const = 0;
  virtual Qualifiers qualifiers(const std::string& place) const = 0;
  /// The warnings about a number that is computed from these arms' measurements at a place.
  virtual std::vector<Caveat> caveats(const std::string& /*place*/,
                                      const std::vector<std::string>& /*arms*/,
                                      const std::string& /*metric*/) const {
    return {};
  }
  /// The same measurements in another view; null: this view does not exist.
  virtual std::unique_ptr<Evidence> seen(MeasuredView /*view*/) const { return nullptr; }
  /// The number of rows in a pass above which computation takes longer than reading the weights.
  virtual double balance() const = 0;
};

/// What was not run, and why, e.g. an arm whose network is missing. The empty dataset name stands
/// for all.
struct Lacking {
  std::map<std::string, std::string> arms, datasets;
  /// what is missing for the scale's baseline; empty: the baseline was run. No other arm replaces
  /// it.
  std::string baseline = "";
};

/// Evidence if nothing could be measured; reports what is missing.
class NoEvidence : public Evidence {
 public:
  explicit NoEvidence(Lacking lacking) : lacking_(std::move(lacking)) {}

  std::vector<std::string> places() const override;
  std::vector<std::string> categories(const std::string&) const override { return {""}; }
  Found level(const Scope& place, const std::string& arm, const std::string&) const override;
  Found ratio(const Scope& place, const std::string& arm, const std::string& other,
              const std::string&) const override;
  Found difference(const Scope& place, const std::string& arm, const std::string& other,
                   const std::string& metric) const override {
    return ratio(place, arm, other, metric);
  }
  std::optional<IdentityCount> identity(const Scope&, const std::string&, const std::string&,
                                        const std::string&) const override {
    return std::nullopt;
  }
  Qualifiers qualifiers(const std::string&) const override { return {}; }
  double balance() const override;

 private:
  Lacking lacking_;
};

/// Counts, one for each dataset and quantity, independent of arms.
class CountedEvidence : public NoEvidence {
 public:
  using Counts = std::map<std::string, std::map<std::string, double>>;
  CountedEvidence(Counts counts, Qualifiers qualifiers, Lacking lacking)
      : NoEvidence(std::move(lacking)), counts_(std::move(counts)), qualifiers_(qualifiers) {}

  std::vector<std::string> places() const override;
  Found level(const Scope& place, const std::string& arm, const std::string& metric) const override;
  Qualifiers qualifiers(const std::string&) const override { return qualifiers_; }

 private:
  Counts counts_;
  Qualifiers qualifiers_;
};

/// An invocation of `run` with its answers, which are read once for all items.
class StoredRun {
 public:
  /// `baseline`: as in CompareOptions.
  StoredRun(Store& store, const std::string& invocation, const std::string& baseline);
  ~StoredRun();

  const Comparison& comparison() const { return comparison_; }

 private:
  friend class StoredEvidence;
  struct Cell;
  Comparison comparison_;
  std::vector<std::unique_ptr<Cell>> cells_;
};

/// Measurements of such an invocation. `balance`: as in Evidence; NaN: not known. `smaller`: its
/// networks are smaller, or its examples are fewer, than the paper's. `warnings`: beside those of
/// the comparison. `meant`: codes of warnings about what the scale is meant to show; they make no
/// number unfit.
class StoredEvidence : public Evidence {
 public:
  StoredEvidence(std::shared_ptr<const StoredRun> run, Lacking lacking, bool smaller,
                 double balance, std::vector<Warning> warnings = {},
                 std::set<std::string> meant = {});

  std::vector<std::string> places() const override;
  std::vector<std::string> categories(const std::string& dataset) const override;
  Found level(const Scope& place, const std::string& arm, const std::string& metric) const override;
  Found ratio(const Scope& place, const std::string& arm, const std::string& other,
              const std::string& metric) const override;
  Found difference(const Scope& place, const std::string& arm, const std::string& other,
                   const std::string& metric) const override;
  std::optional<IdentityCount> identity(const Scope& place, const std::string& arm,
                                        const std::string& other,
                                        const std::string& metric) const override;
  Qualifiers qualifiers(const std::string& place) const override;
  std::vector<Caveat> caveats(const std::string& place, const std::vector<std::string>& arms,
                              const std::string& metric) const override;
  std::unique_ptr<Evidence> seen(MeasuredView view) const override;
  double balance() const override { return balance_; }

 private:
  using Cell = StoredRun::Cell;
  const Cell* cell(const std::string& dataset, const std::string& arm) const;
  std::string lack_of(const std::string& dataset, const std::string& arm) const;
  /// Whether jobs of disturbed blocks are left out of this metric.
  bool undisturbed_only(const std::string& metric) const;
  /// A quantity of the StageLevel values of both arms.
  Found of_stages(const Scope& place, const Cell& arm, const Cell& other,
                  const std::string& metric) const;
  Found ratio_of_view(const Scope& place, const std::string& arm, const std::string& other,
                      const std::string& metric) const;
  Found speed_ratio(const Scope& place, const Cell& arm, const Cell& other) const;
  /// The speed ratio per chosen token: the ratio of speeds per example, times the ratio of tokens
  /// per example. The interval treats the two ratios as independent. Since longer answers take
  /// longer, it is probably too wide.
  Found token_speed_ratio(const Scope& place, const Cell& arm, const Cell& other) const;

  std::shared_ptr<const StoredRun> run_;
  const Comparison& comparison_;
  Lacking lacking_;
  bool smaller_;
  double balance_;
  std::vector<Warning> warnings_;
  std::set<std::string> meant_;
  MeasuredView view_ = MeasuredView::all;
};

}  // namespace pardec
