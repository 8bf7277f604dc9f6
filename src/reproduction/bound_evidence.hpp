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

/// Settings of bounds by the roofline: networks, machines, and the number of concurrent jobs of
/// each arm. A pass is costed as if that many equal passes were batched.
struct BoundSetting {
  struct Network {
    std::string name;
    NetworkSize size;
    std::optional<NetworkSize> draft;
  };
  std::vector<Network> networks;
  std::vector<Hardware> machines;
  std::map<std::string, int> batches;  ///< by arm; arms that are not included have 1
  std::string baseline;  ///< the arm that speedups refer to; it is assumed to reach its roofline
};

/// Bounds by the roofline, which are computed, not measured. A place is "DATASET, NETWORK on
/// MACHINE". Metrics: `speed` (examples per second), `fields_per_second` (only as a ratio, since
/// both arms answer the same fields), `tokens_per_second` (generated tokens, including control
/// tokens), `decode_speed` (the same without the prompt's pass and its token),
/// `tokens_per_forward`, `rows_per_pass`, `length` (generated tokens per example). Intervals are
/// a jackknife over units, and need at least kFewestBlocks of them. A unit is an example, or all
/// examples that some arm put into the same prompt. A speed is an
/// upper bound. A speedup over the baseline is also an upper bound if the baseline reaches its own
/// roofline at least as nearly as the arm does. Other ratios of speeds are neither upper nor lower
/// bounds. Counts from the traces are not bounds.
class BoundEvidence : public Evidence {
 public:
  /// `traces`: by dataset. `made`: the runs that wrote them. `smaller`: the network is smaller, or
  /// the examples are fewer, than the paper's.
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
  /// Only caveats about answers: the timing of the traced passes does not affect a bound.
  std::vector<Caveat> caveats(const std::string& place, const std::vector<std::string>& arms,
                              const std::string& metric) const override;
  double balance() const override;

 private:
  struct Sums {
    double examples = 0, seconds = 0, chosen = 0, passes = 0, rows = 0;
    double decoded = 0, decode_seconds = 0;  ///< without the prompt's pass and its token
    Sums& operator+=(const Sums& other);
    Sums operator-(const Sums& other) const;
  };
  /// By unit of the dataset. A unit has no examples if the arm did not answer all of them.
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

  /// Null: there is none; `lacks` is set to the reason.
  const Bound* bound(const Scope& place, const std::string& arm, std::string& lacks) const;
  /// Adds up the sums of each member over the units that all members have, and returns the
  /// value of the function `of` for these totals, with its interval. All places must be of the same
  /// dataset.
  using Members = std::vector<std::pair<Scope, std::string>>;  ///< arms at places
  Found over_units(const Members& members, bool logarithmic,
                   const std::function<double(const std::vector<Sums>&)>& of) const;
  /// How a ratio of speeds relates to the true ratio.
  Standing standing_of(const std::string& arm, const std::string& other) const;

  Lacking lacking_;
  std::string baseline_;
  std::vector<Overview> made_;
  bool smaller_;
  std::map<std::string, std::string> dataset_of_place_, network_of_place_;
  std::vector<std::string> places_;
  std::map<std::pair<std::string, std::string>, Bound> bounds_;  ///< by place and arm
};

}  // namespace pardec
