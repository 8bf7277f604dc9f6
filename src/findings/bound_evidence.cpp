#include "src/findings/bound_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Examples that belong together, since some prompt holds them together.
std::vector<std::set<std::string>> units_of(
    const std::map<std::string, std::vector<TraceWork>>& arms) {
  std::vector<std::set<std::string>> units;
  for (const auto& [arm, works] : arms)
    for (const TraceWork& work : works) {
      std::set<std::string> joined = work.examples;
      std::erase_if(units, [&](const std::set<std::string>& unit) {
        const bool shares = std::any_of(unit.begin(), unit.end(), [&](const std::string& example) {
          return work.examples.contains(example);
        });
        if (shares) joined.insert(unit.begin(), unit.end());
        return shares;
      });
      units.push_back(std::move(joined));
    }
  return units;
}

/// `of(all)`, with its interval from `of` without each of n units in turn.
template <class Of>
Measured over_units(std::size_t units, bool logarithmic, Of of) {
  const auto scaled = [&](double value) { return logarithmic ? std::log(value) : value; };
  std::vector<double> without;
  for (std::size_t u = 0; u < units; ++u) without.push_back(scaled(of(std::optional(u))));
  const double all = of(std::optional<std::size_t>());
  Interval interval = jackknife_interval(scaled(all), without);
  if (logarithmic) interval = {all, std::exp(interval.low), std::exp(interval.high)};
  return {interval, static_cast<std::int64_t>(units), logarithmic, false};
}

std::string lacks_metric(const std::string& metric) {
  return str(metric, ", which no roofline has");
}

}  // namespace

double BoundEvidence::speed(const Sums& sums) { return sums.examples / sums.seconds; }

double (*BoundEvidence::value_of(const std::string& metric))(const Sums&) {
  if (metric == "speed") return speed;
  if (metric == "tokens_per_forward") return [](const Sums& s) { return s.chosen / s.passes; };
  if (metric == "rows_per_pass") return [](const Sums& s) { return s.rows / s.passes; };
  if (metric == "length") return [](const Sums& s) { return s.chosen / s.examples; };
  return nullptr;
}

BoundEvidence::Sums BoundEvidence::sums_of(const std::vector<const TraceWork*>& traces,
                                           const RooflineSetting& setting,
                                           const Hardware& machine) {
  const ArmBound bound = bound_of(traces, setting, machine);
  Sums sums{.seconds = bound.seconds, .chosen = static_cast<double>(bound.chosen)};
  std::set<std::string> examples;
  for (const TraceWork* trace : traces) {
    if (trace->drafts) continue;
    examples.insert(trace->examples.begin(), trace->examples.end());
    sums.passes += static_cast<double>(trace->passes.size());
    for (const PassWork& pass : trace->passes) sums.rows += static_cast<double>(pass.rows);
  }
  sums.examples = static_cast<double>(examples.size());
  return sums;
}

BoundEvidence::BoundEvidence(const std::map<std::string, std::vector<Trace>>& traces,
                             const BoundSetting& setting, Lacking lacking)
    : lacking_(std::move(lacking)) {
  for (const auto& [dataset, of_dataset] : traces) {
    std::map<std::string, std::vector<TraceWork>> arms;
    for (const Trace& trace : of_dataset) arms[arm_of(trace)].push_back(work_of(trace));
    const auto units = units_of(arms);
    for (const Hardware& machine : setting.machines) {
      std::vector<std::string> same;
      for (const auto& network : setting.networks) {
        const std::string place = str(dataset, ", ", network.name, " on ", machine.name);
        places_.push_back(place);
        same.push_back(place);
        for (const auto& [arm, works] : arms) {
          const auto any = [&](auto is) { return std::any_of(works.begin(), works.end(), is); };
          if (!network.draft && any([](const TraceWork& work) { return work.drafts; })) {
            lacking_.arms[arm] = str("the size of a draft network for ", network.name);
            continue;
          }
          if (any(drafts_untraced)) {
            lacking_.arms[arm] = "traces of the passes in which it drafts";
            continue;
          }
          const auto batch = setting.batches.find(arm);
          const RooflineSetting side_by_side{
              network.size, network.draft, batch == setting.batches.end() ? 1 : batch->second, ""};
          const auto sums_without = [&](const std::set<std::string>& unit) {
            std::vector<const TraceWork*> left;
            for (const TraceWork& work : works)
              if (!unit.contains(*work.examples.begin())) left.push_back(&work);
            return sums_of(left, side_by_side, machine);
          };
          Bound& bound = bounds_[{place, arm}];
          bound.all = sums_without({});
          if (units.size() > 1)
            for (const auto& unit : units) bound.without.push_back(sums_without(unit));
        }
      }
      for (const std::string& place : same) networks_of_place_[place] = same;
    }
  }
}

const BoundEvidence::Bound* BoundEvidence::bound(const Scope& place, const std::string& arm,
                                                 std::string& lacks) const {
  const auto found = bounds_.find({place.dataset, arm});
  if (found == bounds_.end()) {
    const auto why = lacking_.arms.find(arm);
    lacks = why == lacking_.arms.end() ? str("a trace of arm ", arm) : why->second;
  } else if (!place.categories.empty()) {
    lacks = "traces by category";
  } else {
    return &found->second;
  }
  return nullptr;
}

Found BoundEvidence::level(const Scope& place, const std::string& arm,
                           const std::string& metric) const {
  std::string lacks;
  const Bound* of = bound(place, arm, lacks);
  if (!of) return {std::nullopt, lacks};
  const auto value = value_of(metric);
  if (!value) return {std::nullopt, lacks_metric(metric)};
  return {over_units(of->without.size(), false, [&](auto unit) { return value(of->at(unit)); }),
          ""};
}

Found BoundEvidence::spread(const Scope& place, const std::string& arm,
                            const std::string& other) const {
  const auto same = networks_of_place_.find(place.dataset);
  if (same == networks_of_place_.end()) return {std::nullopt, "several networks"};
  std::vector<std::pair<const Bound*, const Bound*>> pairs;
  std::string lacks;
  for (const std::string& one : same->second) {
    const Bound *ours = bound({one, place.categories}, arm, lacks),
                *theirs = bound({one, place.categories}, other, lacks);
    if (!ours || !theirs) return {std::nullopt, lacks};
    pairs.emplace_back(ours, theirs);
  }
  return {over_units(pairs.front().first->without.size(), true,
                     [&](auto unit) {
                       double least = std::numeric_limits<double>::infinity(), most = 0;
                       for (const auto& [ours, theirs] : pairs) {
                         const double speedup = speed(ours->at(unit)) / speed(theirs->at(unit));
                         least = std::min(least, speedup);
                         most = std::max(most, speedup);
                       }
                       return most / least;
                     }),
          ""};
}

Found BoundEvidence::ratio(const Scope& place, const std::string& arm, const std::string& other,
                           const std::string& metric) const {
  if (metric == "speedup_spread") return spread(place, arm, other);
  return compared(place, arm, other, metric, true);
}

Found BoundEvidence::difference(const Scope& place, const std::string& arm,
                                const std::string& other, const std::string& metric) const {
  return compared(place, arm, other, metric, false);
}

Found BoundEvidence::compared(const Scope& place, const std::string& arm, const std::string& other,
                              const std::string& metric, bool ratio) const {
  std::string lacks;
  const Bound *ours = bound(place, arm, lacks), *theirs = bound(place, other, lacks);
  if (!ours || !theirs) return {std::nullopt, lacks};
  const auto value = value_of(metric);
  if (!value) return {std::nullopt, lacks_metric(metric)};
  return {over_units(ours->without.size(), ratio,
                     [&](auto unit) {
                       const double a = value(ours->at(unit)), b = value(theirs->at(unit));
                       return ratio ? a / b : a - b;
                     }),
          ""};
}

Qualifiers BoundEvidence::qualifiers(const std::string&) const { return {.bound = true}; }

double BoundEvidence::balance() const { return std::nan(""); }

}  // namespace pardec
