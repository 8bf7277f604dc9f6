#include "src/findings/bound_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/support/text.hpp"

namespace pardec {

namespace {

Found exactly(double value) { return {Measured{{value, value, value}, 0, true, true}, ""}; }

}  // namespace

BoundEvidence::BoundEvidence(const std::map<std::string, std::vector<Trace>>& traces,
                             const BoundSetting& setting, Lacking lacking)
    : lacking_(std::move(lacking)) {
  for (const auto& [dataset, of_dataset] : traces) {
    std::map<std::string, std::vector<Trace>> by_arm;
    for (const Trace& trace : of_dataset) by_arm[arm_of(trace)].push_back(trace);
    for (const Hardware& machine : setting.machines) {
      std::vector<std::string> same;
      for (const auto& network : setting.networks) {
        const std::string place = str(dataset, ", ", network.name, " on ", machine.name);
        places_.push_back(place);
        same.push_back(place);
        for (const auto& [arm, of_arm] : by_arm) {
          if (!network.draft && std::any_of(of_arm.begin(), of_arm.end(), [](const Trace& trace) {
                return !trace.model.empty();
              })) {
            lacking_.arms[arm] = str("the size of a draft network for ", network.name);
            continue;
          }
          const auto batch = setting.batches.find(arm);
          const Roofline roofline = roofline_of(
              of_arm,
              {network.size, network.draft, batch == setting.batches.end() ? 1 : batch->second, ""},
              {machine});
          if (!roofline.drafts_untraced.empty()) {
            lacking_.arms[arm] = "traces of the passes in which it drafts";
            continue;
          }
          const ArmRoofline& row = roofline.by_machine.front().front();
          const ArmRoofline alone =
              roofline_of(of_arm, {network.size, network.draft, 1, ""}, {machine})
                  .by_machine.front()
                  .front();
          bounds_[{place, arm}] = {
              row.seconds, static_cast<double>(alone.chosen) / static_cast<double>(alone.passes),
              alone.rows_per_pass};
        }
      }
      for (const std::string& place : same) networks_of_place_[place] = same;
    }
  }
}

Found BoundEvidence::level(const Scope& place, const std::string& arm,
                           const std::string& metric) const {
  const auto found = bounds_.find({place.dataset, arm});
  if (found == bounds_.end()) {
    const auto why = lacking_.arms.find(arm);
    return {std::nullopt, why == lacking_.arms.end() ? str("a trace of arm ", arm) : why->second};
  }
  if (!place.categories.empty()) return {std::nullopt, "traces by category"};
  if (metric == "speed") return exactly(1 / found->second.seconds);
  if (metric == "tokens_per_forward") return exactly(found->second.tokens_per_forward);
  if (metric == "rows_per_pass") return exactly(found->second.rows_per_pass);
  return {std::nullopt, str(metric, ", which no roofline has")};
}

Found BoundEvidence::ratio(const Scope& place, const std::string& arm, const std::string& other,
                           const std::string& metric) const {
  if (metric == "speedup_spread") {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    const auto same = networks_of_place_.find(place.dataset);
    if (same == networks_of_place_.end()) return {std::nullopt, "several networks"};
    for (const std::string& one : same->second) {
      const Found speed = ratio({one, place.categories}, arm, other, "speed");
      if (!speed.measured) return speed;
      least = std::min(least, speed.measured->value.estimate);
      most = std::max(most, speed.measured->value.estimate);
    }
    return exactly(most / least);
  }
  const Found one = level(place, arm, metric), two = level(place, other, metric);
  if (!one.measured || !two.measured) return one.measured ? two : one;
  return exactly(one.measured->value.estimate / two.measured->value.estimate);
}

Found BoundEvidence::difference(const Scope& place, const std::string& arm,
                                const std::string& other, const std::string& metric) const {
  const Found one = level(place, arm, metric), two = level(place, other, metric);
  if (!one.measured || !two.measured) return one.measured ? two : one;
  return exactly(one.measured->value.estimate - two.measured->value.estimate);
}

Qualifiers BoundEvidence::qualifiers(const std::string&) const { return {.bound = true}; }

double BoundEvidence::balance() const { return std::nan(""); }

}  // namespace pardec
