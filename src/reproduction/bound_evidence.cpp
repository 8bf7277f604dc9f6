#include "src/reproduction/bound_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Groups of examples that some prompt contains together.
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

/// The work of `count` equal sequences.
PassWork times(const PassWork& work, int count) {
  return {work.rows * count, work.head_rows * count, work.cached * count, work.pairs * count};
}

Found stands(Found found, Standing standing) {
  if (found.measured) found.measured->standing = standing;
  return found;
}

std::string lacks_metric(const std::string& metric) {
  return str(metric, ", which no roofline has");
}

}  // namespace

double BoundEvidence::speed(const Sums& sums) { return sums.examples / sums.seconds; }

double BoundEvidence::decode_speed(const Sums& sums) { return sums.decoded / sums.decode_seconds; }

double BoundEvidence::token_speed(const Sums& sums) { return sums.chosen / sums.seconds; }

BoundEvidence::Value BoundEvidence::value_of(const std::string& metric) {
  if (metric == "speed") return speed;
  if (metric == "tokens_per_second") return token_speed;
  if (metric == "decode_speed") return decode_speed;
  if (metric == "tokens_per_forward") return [](const Sums& s) { return s.chosen / s.passes; };
  if (metric == "rows_per_pass") return [](const Sums& s) { return s.rows / s.passes; };
  if (metric == "length") return [](const Sums& s) { return s.chosen / s.examples; };
  return nullptr;
}

BoundEvidence::Sums& BoundEvidence::Sums::operator+=(const Sums& other) {
  examples += other.examples;
  seconds += other.seconds;
  chosen += other.chosen;
  passes += other.passes;
  rows += other.rows;
  decoded += other.decoded;
  decode_seconds += other.decode_seconds;
  return *this;
}

BoundEvidence::Sums BoundEvidence::Sums::operator-(const Sums& other) const {
  return {examples - other.examples,
          seconds - other.seconds,
          chosen - other.chosen,
          passes - other.passes,
          rows - other.rows,
          decoded - other.decoded,
          decode_seconds - other.decode_seconds};
}

BoundEvidence::Bound BoundEvidence::bound_of(const std::vector<TraceWork>& works,
                                             const std::vector<std::set<std::string>>& units,
                                             const BoundSetting::Network& network,
                                             const Hardware& machine, int batch) {
  Bound bound(units.size());
  std::vector<std::set<std::string>> answered(units.size());
  for (const TraceWork& work : works) {
    const auto unit = static_cast<std::size_t>(
        std::find_if(units.begin(), units.end(),
                     [&](const auto& one) { return one.contains(*work.examples.begin()); }) -
        units.begin());
    Sums& sums = bound[unit];
    for (std::size_t p = 0; p < work.passes.size(); ++p) {
      const double seconds = pass_bound(times(work.passes[p], batch),
                                        work.drafts ? *network.draft : network.size, machine)
                                 .seconds() /
                             batch;
      sums.seconds += seconds;
      if (p > 0) sums.decode_seconds += seconds;
    }
    if (work.drafts) continue;
    answered[unit].insert(work.examples.begin(), work.examples.end());
    sums.chosen += static_cast<double>(work.chosen);
    sums.decoded += static_cast<double>(std::max<std::int64_t>(work.chosen - 1, 0));
    sums.passes += static_cast<double>(work.passes.size());
    for (const PassWork& pass : work.passes) sums.rows += static_cast<double>(pass.rows);
  }
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (answered[u] == units[u])
      bound[u].examples = static_cast<double>(units[u].size());
    else
      bound[u] = {};
  }
  return bound;
}

BoundEvidence::BoundEvidence(const std::map<std::string, std::vector<Trace>>& traces,
                             const BoundSetting& setting, Lacking lacking,
                             std::vector<Overview> made, bool smaller)
    : lacking_(std::move(lacking)),
      baseline_(setting.baseline),
      made_(std::move(made)),
      smaller_(smaller) {
  for (const auto& [dataset, of_dataset] : traces) {
    std::map<std::string, std::vector<TraceWork>> arms;
    for (const Trace& trace : of_dataset) add_work(arms[arm_of(trace)], trace);
    const auto units = units_of(arms);
    for (const Hardware& machine : setting.machines) {
      for (const auto& network : setting.networks) {
        const std::string place = str(dataset, ", ", network.name, " on ", machine.name);
        places_.push_back(place);
        dataset_of_place_[place] = dataset;
        network_of_place_[place] = network.name;
        for (const auto& [arm, works] : arms) {
          const auto any = [&works = works](auto is) {
            return std::any_of(works.begin(), works.end(), is);
          };
          if (!network.draft && any([](const TraceWork& work) { return work.drafts; })) {
            lacking_.arms[arm] = str("the size of a draft network for ", network.name);
            continue;
          }
          if (any(drafts_untraced)) {
            lacking_.arms[arm] = "traces of the passes in which it drafts";
            continue;
          }
          const auto batch = setting.batches.find(arm);
          bounds_[{place, arm}] = bound_of(works, units, network, machine,
                                           batch == setting.batches.end() ? 1 : batch->second);
        }
      }
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

Found BoundEvidence::over_units(const Members& members, bool logarithmic,
                                const std::function<double(const std::vector<Sums>&)>& of) const {
  std::vector<const Bound*> bounds;
  std::vector<std::string> arms;
  for (const auto& [place, arm] : members) {
    std::string lacks;
    bounds.push_back(bound(place, arm, lacks));
    if (!bounds.back()) return {std::nullopt, lacks};
    arms.push_back(arm);
  }
  std::vector<std::size_t> common;
  std::vector<Sums> all(members.size());
  for (std::size_t unit = 0; unit < bounds.front()->size(); ++unit) {
    if (std::any_of(bounds.begin(), bounds.end(),
                    [&](const Bound* of_arm) { return (*of_arm)[unit].examples == 0; }))
      continue;
    common.push_back(unit);
    for (std::size_t a = 0; a < members.size(); ++a) all[a] += (*bounds[a])[unit];
  }
  if (common.empty()) return {std::nullopt, str("an example of ", join(arms, " and "))};
  const auto scaled = [&](double value) { return logarithmic ? std::log(value) : value; };
  std::vector<double> without;
  for (std::size_t i = 0; std::ssize(common) >= kFewestBlocks && i < common.size(); ++i) {
    std::vector<Sums> left;
    for (std::size_t a = 0; a < members.size(); ++a)
      left.push_back(all[a] - (*bounds[a])[common[i]]);
    without.push_back(scaled(of(left)));
  }
  const double estimate = of(all);
  Interval interval = jackknife_interval(scaled(estimate), without);
  if (logarithmic) interval = {estimate, std::exp(interval.low), std::exp(interval.high)};
  return {Measured{interval, std::ssize(common), logarithmic, false}, ""};
}

Found BoundEvidence::level(const Scope& place, const std::string& arm,
                           const std::string& metric) const {
  const auto value = value_of(metric);
  if (!value) return {std::nullopt, lacks_metric(metric)};
  return stands(over_units({{place, arm}}, false, [&](const auto& sums) { return value(sums[0]); }),
                is_speed(value) ? Standing::at_most : Standing::itself);
}

Standing BoundEvidence::standing_of(const std::string& arm, const std::string& other) const {
  if (arm == other) return Standing::itself;
  return other == baseline_ ? Standing::at_most
         : arm == baseline_ ? Standing::at_least
                            : Standing::nothing;
}

Found BoundEvidence::ratio(const Scope& place, const std::string& arm, const std::string& other,
                           const std::string& metric) const {
  const auto value = value_of(metric == "fields_per_second" ? "speed" : metric);
  if (!value) return {std::nullopt, lacks_metric(metric)};
  return stands(over_units({{place, arm}, {place, other}}, true,
                           [&](const auto& sums) { return value(sums[0]) / value(sums[1]); }),
                is_speed(value) ? standing_of(arm, other) : Standing::itself);
}

Found BoundEvidence::ratio_of_ratios(const Scope& place, const ArmPair& a, const ArmPair& b,
                                     const std::string& metric) const {
  const auto value = value_of(metric);
  if (!value) return {std::nullopt, lacks_metric(metric)};
  return stands(over_units({{place, a.arm}, {place, a.over}, {place, b.arm}, {place, b.over}}, true,
                           [&](const auto& sums) {
                             return value(sums[0]) / value(sums[1]) /
                                    (value(sums[2]) / value(sums[3]));
                           }),
                is_speed(value) ? Standing::nothing : Standing::itself);
}

Found BoundEvidence::difference(const Scope& place, const std::string& arm,
                                const std::string& other, const std::string& metric) const {
  const auto value = value_of(metric);
  if (!value) return {std::nullopt, lacks_metric(metric)};
  return stands(over_units({{place, arm}, {place, other}}, false,
                           [&](const auto& sums) { return value(sums[0]) - value(sums[1]); }),
                is_speed(value) ? Standing::nothing : Standing::itself);
}

std::vector<std::string> BoundEvidence::places_of(const std::string& dataset) const {
  std::vector<std::string> places;
  for (const std::string& place : places_)
    if (dataset_of_place_.at(place) == dataset) places.push_back(place);
  return places;
}

std::string BoundEvidence::dataset_of(const std::string& place) const {
  const auto found = dataset_of_place_.find(place);
  return found == dataset_of_place_.end() ? place : found->second;
}

std::string BoundEvidence::network_of(const std::string& place) const {
  const auto found = network_of_place_.find(place);
  return found == network_of_place_.end() ? "" : found->second;
}

Qualifiers BoundEvidence::qualifiers(const std::string& place) const {
  Qualifiers qualifiers{.scaled = smaller_, .bound = true};
  const auto dataset = dataset_of_place_.find(place);
  for (const Overview& comparison : made_)
    for (const ArmFinding& arm : comparison.arms) {
      const RunRow& run = arm.run.run;
      if (dataset != dataset_of_place_.end() && run.dataset.name != dataset->second) continue;
      qualifiers.forced = qualifiers.forced || run.oracle.has_value();
      qualifiers.standin = qualifiers.standin || run.dataset.standin || run.dataset.sample;
    }
  return qualifiers;
}

std::vector<Caveat> BoundEvidence::caveats(const std::string& place,
                                           const std::vector<std::string>& arms,
                                           const std::string& metric) const {
  std::vector<Caveat> all;
  const auto dataset = dataset_of_place_.find(place);
  if (dataset == dataset_of_place_.end()) return all;
  for (const Overview& comparison : made_)
    for (Caveat& caveat : caveats_of(comparison, dataset->second, arms, metric))
      // Warnings without an effect on passes are about time.
      if (effect_of(caveat.code, Quantity::passes) != Effect::none)
        all.push_back(std::move(caveat));
  return all;
}

double BoundEvidence::balance() const { return std::nan(""); }

}  // namespace pardec
