#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/findings/roofline.hpp"
#include "src/reproduction/evidence.hpp"

namespace pardec {

/// Settings of bounds by the roofline. Bounds are computed for each arm, network and machine.
struct BoundSetting {
  /// A network for which passes are timed, whatever network wrote the traces.
  struct Network {
    std::string name;  ///< for the names of places
    NetworkSize size;
    /// size of the draft network; none: arms with a draft network have no bound for this network
    std::optional<NetworkSize> draft;
  };
  std::vector<Network> networks;
  std::vector<Hardware> machines;
  /// Label of an arm -> number of concurrent jobs. Arms that are not in the map have 1. The time of
  /// a pass is computed as if this number of jobs shared the pass with equal work, and then divided
  /// by this number.
  std::map<std::string, int> batches;
  /// Label of the baseline. The bounds assume that the baseline comes at least as close to its
  /// roofline as the other arms come to theirs.
  std::string baseline;
};

/// Evidence from the roofline: bounds that are computed from traces, not measured. A place is
/// "DATASET, NETWORK on MACHINE". The metrics are:
///   speed               examples per second
///   fields_per_second   only as a ratio; equals the ratio of `speed`, since both arms answer the
///                       same fields
///   tokens_per_second   generated tokens, including control tokens, per second
///   decode_speed        tokens per second, without the first pass and the token that it chooses
///   tokens_per_forward  generated tokens per pass
///   rows_per_pass       computed rows per pass
///   length              generated tokens per example
///
/// A speed is an upper bound. Two kinds of ratios are bounds under the assumption about
/// BoundSetting::baseline: an arm's speed divided by the baseline's speed is an upper bound, and
/// the baseline's speed divided by an arm's speed is a lower bound. All other ratios of speeds, and
/// all differences of speeds, are neither upper nor lower bounds (Standing::nothing). Counts from
/// the traces, e.g. tokens_per_forward, are estimates of the quantity itself.
///
/// Intervals are jackknife intervals over units, and need at least kFewestBlocks units. A unit is a
/// set of examples: examples that at least one arm put into the same prompt belong to one unit.
class BoundEvidence : public Evidence {
 public:
  /// `traces`: name of a dataset -> traces of all arms. `lacking`: the arms and datasets that could
  /// not be traced, and why. `made`: the runs that wrote the traces. `smaller`: whether the network
  /// of these runs is smaller than the paper's, or only some of the paper's examples were run.
  BoundEvidence(const std::map<std::string, std::vector<Trace>>& traces,
                const BoundSetting& setting, Lacking lacking, std::vector<Overview> made = {},
                bool smaller = false);

  std::vector<std::string> places() const override { return places_; }
  std::vector<std::string> places_of(const std::string& dataset) const override;
  std::string dataset_of(const std::string& place) const override;
  std::string network_of(const std::string& place) const override;
  std::vector<std::string> categories(const std::string&) const override { return {}; }
  Found level(const Scope& place, const std::string& arm, const std::string& metric) const override;
  Found ratio(const Scope& place, const std::string& arm, const std::string& other,
              const std::string& metric) const override;
  Found ratio_of_ratios(const Scope& place, const ArmPair& a, const ArmPair& b,
                        const std::string& metric) const override;
  Found difference(const Scope& place, const std::string& arm, const std::string& other,
                   const std::string& metric) const override;
  std::optional<IdentityCount> identity(const Scope&, const std::string&, const std::string&,
                                        const std::string&) const override {
    return std::nullopt;
  }
  Qualifiers qualifiers(const std::string& place) const override;
  /// Only caveats about answers. Caveats about times do not apply, because bounds do not depend on
  /// measured times.
  std::vector<Caveat> caveats(const std::string& place, const std::vector<std::string>& arms,
                              const std::string& metric) const override;
  double balance() const override;

 private:
  /// Totals over the examples of a unit.
  struct Sums {
    double examples = 0, seconds = 0, chosen = 0, passes = 0, rows = 0;
    double decoded = 0, decode_seconds = 0;  ///< without the prompt's pass and its token
    Sums& operator+=(const Sums& other);
    Sums operator-(const Sums& other) const;
  };
  /// One entry for each unit of the dataset. If the arm did not answer all examples of a unit,
  /// Sums::examples of the entry is 0.
  using Bound = std::vector<Sums>;
  static Bound bound_of(const std::vector<TraceWork>& works,
                        const std::vector<std::set<std::string>>& units,
                        const BoundSetting::Network& network, const Hardware& machine, int batch);
  static double speed(const Sums& sums);
  static double decode_speed(const Sums& sums);
  static double token_speed(const Sums& sums);
  using Value = double (*)(const Sums&);
  static bool is_speed(Value value) {
    return value == speed || value == decode_speed || value == token_speed;
  }
  /// Null: the roofline has no such metric.
  static Value value_of(const std::string& metric);

  /// Null: there is no bound; `lacks` is set to the reason.
  const Bound* bound(const Scope& place, const std::string& arm, std::string& lacks) const;
  using Members = std::vector<std::pair<Scope, std::string>>;  ///< (place, arm)
  /// Computes a quantity from the totals of the members, with an interval. Totals are over the
  /// units that all members have. `of`: computes the quantity; its argument has the total of each
  /// member, in the order of `members`. `logarithmic`: see Measured. REQUIRES: all places have the
  /// same dataset.
  Found over_units(const Members& members, bool logarithmic,
                   const std::function<double(const std::vector<Sums>&)>& of) const;
  /// The standing of `arm`'s speed divided by `other`'s speed.
  Standing standing_of(const std::string& arm, const std::string& other) const;

  Lacking lacking_;
  std::string baseline_;
  std::vector<Overview> made_;
  bool smaller_;
  std::map<std::string, std::string> dataset_of_place_, network_of_place_;
  std::vector<std::string> places_;
  std::map<std::pair<std::string, std::string>, Bound> bounds_;  ///< by (place, arm)
};

}  // namespace pardec
