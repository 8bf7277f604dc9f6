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

/// Measurements, looked up by the names of arms, datasets and categories in experiment files.
namespace pardec {

/// Where a quantity was measured.
struct Scope {
  std::string dataset;                       ///< name of a place (Evidence::places)
  std::vector<std::string> categories = {};  ///< measured together; empty: all categories
};

/// A measured quantity, or what is missing to measure it.
struct Found {
  std::optional<Measured> measured;
  std::string lacks;  ///< e.g. "dataset narrativeqa"; empty: nothing is missing
};

/// Two arms whose quantities are compared: usually, the quantity of `arm` divided by the quantity
/// of `over`. Empty `over`: the quantity of `arm` alone.
struct ArmPair {
  std::string arm, over;
};

/// The name of the stored score from which a metric is computed: judge_win_rate for the metrics
/// judge_wins, judge_ties and judge_losses (shares of pairs). The name of any other metric is
/// returned unchanged.
std::string score_of(const std::string& metric);

/// The conditions under which a verdict was reached.
struct Qualifiers {
  /// forced: an oracle chose the tokens, or decided which guesses were accepted. standin: the data
  /// are generated or the project's own samples. scaled: the networks are smaller than the paper's,
  /// or only some of the paper's examples were run. bound: computed from the roofline, not
  /// measured.
  bool forced = false, standin = false, scaled = false, bound = false;
  bool other_data = false;  ///< the paper has no numbers for the dataset
  bool counted = false;     ///< counted in the data or computed from such counts; nothing ran

  /// For example "forced, stand-in". "measured": no condition differs from the paper's.
  std::string text() const;
  /// All conditions of `*this` and of `other`, e.g. for a number that is computed from two numbers.
  Qualifiers with(const Qualifiers& other) const;
};

/// The load of an arm in a window of time.
struct LoadWindow {
  double cached_rows;        ///< rows in the KV cache, mean over the time of the window
  double tokens_per_second;  ///< generated tokens of the window, divided by its length
};

/// Divides blocks into windows of 3 seconds, as in Figure 5 of the APAR paper. `blocks`: the loads
/// of blocks (Store::loads_of). Three parts of a block are in no window: the first third of its
/// time, the time after the last moment in which a job waited, and a remainder that is shorter than
/// a window.
std::vector<LoadWindow> load_windows(const std::vector<Json>& blocks);

/// A source of measurements. Arms are given by their labels. experiments/papers/README.md lists the
/// metrics. Unknown metrics, arms that were not run, and scores of forced answers are not errors:
/// they are reported in Found::lacks.
class Evidence {
 public:
  virtual ~Evidence() = default;
  /// The names of all places. A place is a dataset or, for bounds, a combination of dataset,
  /// network and machine. The result may include datasets that could not be measured.
  virtual std::vector<std::string> places() const = 0;
  /// The places of one dataset; empty: there are none.
  virtual std::vector<std::string> places_of(const std::string& dataset) const;
  /// The dataset of a place.
  virtual std::string dataset_of(const std::string& place) const { return place; }
  /// The network to which a place belongs; empty: the place is not about a single network, and each
  /// arm uses its own.
  virtual std::string network_of(const std::string& /*place*/) const { return ""; }
  /// The categories of a dataset. Empty: they are not known.
  virtual std::vector<std::string> categories(const std::string& dataset) const = 0;
  /// The value of `metric` for one arm.
  virtual Found level(const Scope& place, const std::string& arm,
                      const std::string& metric) const = 0;
  /// The value of `metric` for `arm` divided by the value for `other`, over the examples that both
  /// arms answered.
  virtual Found ratio(const Scope& place, const std::string& arm, const std::string& other,
                      const std::string& metric) const = 0;
  /// The ratio of pair `a` divided by the ratio of pair `b`. The default implementation treats the
  /// two ratios as independent.
  virtual Found ratio_of_ratios(const Scope& place, const ArmPair& a, const ArmPair& b,
                                const std::string& metric) const;
  /// The value of `metric` for `arm` minus the value for `other`, over the examples that both arms
  /// answered.
  virtual Found difference(const Scope& place, const std::string& arm, const std::string& other,
                           const std::string& metric) const = 0;
  /// How many answers of `arm` equal the answers of `other` to the same examples. The metric `em`
  /// counts fields, and `identical` counts whole answers. None: there are no answers to compare.
  virtual std::optional<IdentityCount> identity(const Scope& place, const std::string& arm,
                                                const std::string& other,
                                                const std::string& metric) const = 0;
  /// The value of `metric` for each answer of `arm`, e.g. the `length` of each turn. If the metric
  /// measures jobs, there is one value for each job. Empty: the metric has no values for single
  /// answers or jobs.
  virtual std::vector<double> values(const Scope& /*place*/, const std::string& /*arm*/,
                                     const std::string& /*metric*/) const {
    return {};
  }
  /// The load of an arm in windows of time (load_windows). Empty: the load was not measured, or
  /// load_windows finds no window.
  virtual std::vector<LoadWindow> load(const std::string& /*place*/,
                                       const std::string& /*arm*/) const {
    return {};
  }
  /// The conditions of the measurements at a place. `place`: empty for all places together.
  virtual Qualifiers qualifiers(const std::string& place) const = 0;
  /// The warnings about the values of `metric` that are computed from the measurements of `arms` at
  /// a place.
  virtual std::vector<Caveat> caveats(const std::string& /*place*/,
                                      const std::vector<std::string>& /*arms*/,
                                      const std::string& /*metric*/) const {
    return {};
  }
  /// The same measurements in another view; null: there is no such view.
  virtual std::unique_ptr<Evidence> in_view(MeasuredView /*view*/) const { return nullptr; }
  /// The number of rows per pass above which computing takes longer than reading the weights. NaN:
  /// not known.
  virtual double balance() const = 0;
};

/// The arms and datasets that were not run.
struct Lacking {
  /// `arms`: label of an arm -> what is missing, as text, e.g. a network. `datasets`: name of a
  /// dataset -> what is missing, as text; an entry with an empty name is about all datasets.
  std::map<std::string, std::string> arms, datasets;
  /// What is missing for the scale's baseline; empty: nothing. If the baseline is missing, no other
  /// arm takes its place.
  std::string baseline = "";
};

/// The evidence if nothing could be measured: it only reports what is missing.
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

/// Evidence from counts, with one count for each dataset and metric. Counts do not depend on arms.
/// So ratio() and difference() of two arms return the count itself.
class CountedEvidence : public NoEvidence {
 public:
  /// dataset -> metric -> count; NaN: there is no such count
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

/// A stored invocation of the verb `run` with its answers. Several items that were measured in one
/// invocation can share this object.
class StoredRun {
 public:
  /// Reads everything; `store` is not used later. `baseline`: see CompareOptions::baseline.
  /// ConfigError: there is no such invocation, or no arm has the label `baseline`. StoreError: the
  /// database cannot be read.
  StoredRun(Store& store, const std::string& invocation, const std::string& baseline);
  ~StoredRun();

  const Comparison& comparison() const { return comparison_; }

 private:
  friend class StoredEvidence;
  struct Cell;
  Comparison comparison_;
  std::vector<std::unique_ptr<Cell>> cells_;
};

/// Evidence from a stored invocation. A metric without values for single answers or jobs, e.g.
/// `latency`, has no difference, and its ratio is the quotient of the two levels. Two kinds of arms
/// without an oracle have no values, because answers of such arms say nothing about the decoder:
/// arms with an untrained network, and arms of which most answers are unusable
/// (ArmFinding::broken).
class StoredEvidence : public Evidence {
 public:
  /// `lacking`: what was not run. `smaller`: whether the networks are smaller than the paper's, or
  /// only some of the paper's examples were run. `balance`: see Evidence::balance. `warnings`:
  /// warnings in addition to the warnings of the comparison. `meant`: codes of the warnings whose
  /// effect the scale is meant to show; these warnings make no number unfit (Effect::beside).
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
  std::vector<double> values(const Scope& place, const std::string& arm,
                             const std::string& metric) const override;
  std::vector<LoadWindow> load(const std::string& place, const std::string& arm) const override;
  Qualifiers qualifiers(const std::string& place) const override;
  std::vector<Caveat> caveats(const std::string& place, const std::vector<std::string>& arms,
                              const std::string& metric) const override;
  std::unique_ptr<Evidence> in_view(MeasuredView view) const override;
  double balance() const override { return balance_; }

 private:
  using Cell = StoredRun::Cell;
  const Cell* cell(const std::string& dataset, const std::string& arm) const;
  std::string lack_of(const std::string& dataset, const std::string& arm) const;
  /// Whether the current view leaves jobs of disturbed blocks out of this metric.
  bool undisturbed_only(const std::string& metric) const;
  /// A quantity that is computed from the StageLevel values of both arms.
  Found of_stages(const Scope& place, const Cell& arm, const Cell& other,
                  const std::string& metric) const;
  Found ratio_of_view(const Scope& place, const std::string& arm, const std::string& other,
                      const std::string& metric) const;
  Found speed_ratio(const Scope& place, const Cell& arm, const Cell& other) const;
  /// The ratio of speeds per chosen token: the ratio of speeds per example, times the ratio of
  /// tokens per example. The interval treats the two factors as independent. It is probably too
  /// wide, since longer answers take longer.
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
