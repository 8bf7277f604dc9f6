#include "src/reproduction/pairing.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "src/store/names.hpp"

namespace pardec {

namespace {

/// Groups of names that belong together, by number (union-find).
class Joined {
 public:
  std::int32_t of(const std::string& name) {
    const std::int32_t number = names_.of(name);
    if (static_cast<size_t>(number) == parents_.size()) parents_.push_back(number);
    return root(number);
  }
  void join(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const std::int32_t first = of(names.front()), other = of(name);
      parents_[static_cast<size_t>(other)] = first;
    }
  }

 private:
  std::int32_t root(std::int32_t number) {
    while (parents_[static_cast<size_t>(number)] != number) {
      std::int32_t& parent = parents_[static_cast<size_t>(number)];
      parent = parents_[static_cast<size_t>(parent)];
      number = parent;
    }
    return number;
  }

  NameNumbers names_;
  std::vector<std::int32_t> parents_;
};

using Parts = std::vector<QuantityPart>;

std::set<std::string> answers_in(const Parts& parts) {
  std::set<std::string> names;
  for (const QuantityPart& part : parts) names.insert(part.answers.begin(), part.answers.end());
  return names;
}

/// Replaces repeats by one part with their mean.
Parts means_of(const Parts& parts) {
  std::map<std::pair<std::vector<std::string>, std::string>, std::pair<QuantityPart, int>> means;
  for (const QuantityPart& part : parts) {
    auto [place, is_new] = means.try_emplace({part.answers, part.group}, part, 1);
    if (is_new) continue;
    auto& [mean, repeats] = place->second;
    mean.numerator += part.numerator;
    mean.denominator += part.denominator;
    ++repeats;
  }
  Parts out;
  for (auto& [key, value] : means) {
    auto& [mean, repeats] = value;
    mean.numerator /= repeats;
    mean.denominator /= repeats;
    out.push_back(std::move(mean));
  }
  return out;
}

/// Numbers of units and groups, shared by both arms.
class UnitNumbers {
 public:
  void join(const Parts& parts) {
    for (const QuantityPart& part : parts) clusters_.join(part.clusters);
  }
  std::vector<ScorePart> of(const Parts& parts) {
    std::vector<ScorePart> out;
    for (const QuantityPart& part : parts) {
      const std::int32_t cluster = clusters_.of(part.clusters.front());
      const auto unit = units_.emplace(cluster, static_cast<std::int32_t>(units_.size()));
      out.push_back({unit.first->second, groups_.of(part.group), part.numerator, part.denominator});
    }
    return out;
  }
  std::int32_t units() const { return static_cast<std::int32_t>(units_.size()); }

 private:
  Joined clusters_;
  std::unordered_map<std::int32_t, std::int32_t> units_;
  NameNumbers groups_;
};

}  // namespace

PairedParts paired(const Parts& arm, const Parts& other) {
  const std::set<std::string> ours = answers_in(arm), theirs = answers_in(other);
  Joined together;
  for (const Parts* parts : {&arm, &other})
    for (const QuantityPart& part : *parts) together.join(part.answers);
  std::set<std::int32_t> incomplete;  // groups of answers of which one arm does not have some
  for (const auto& [own, others] : {std::pair(&ours, &theirs), std::pair(&theirs, &ours)})
    for (const std::string& name : *own)
      if (!others->contains(name)) incomplete.insert(together.of(name));
  const auto shared = [&](const Parts& parts) {
    Parts out;
    for (const QuantityPart& part : parts)
      if (!incomplete.contains(together.of(part.answers.front()))) out.push_back(part);
    return means_of(out);
  };
  const Parts after = shared(arm), before = shared(other);
  UnitNumbers numbering;
  numbering.join(after);
  numbering.join(before);
  PairedParts out{numbering.of(after), numbering.of(before), 0, 0, 0};
  out.units = numbering.units();
  out.answers = std::ssize(answers_in(after));
  std::set<std::string> all = ours;
  all.insert(theirs.begin(), theirs.end());
  out.left_out = std::ssize(all) - out.answers;
  return out;
}

Measured level_of(const Parts& parts, std::optional<ScoreRange> range) {
  UnitNumbers numbering;
  numbering.join(parts);
  const auto own = numbering.of(parts);
  return {score_intervals({}, own, numbering.units(), range).method, numbering.units(), false,
          false};
}

Measured difference_of(const Parts& arm, const Parts& other, std::optional<ScoreRange> range) {
  const PairedParts pair = paired(arm, other);
  return {score_intervals(pair.other, pair.arm, pair.units, range).difference, pair.units, false,
          false};
}

Measured ratio_of(const Parts& arm, const Parts& other, std::optional<ScoreRange> range) {
  const PairedParts pair = paired(arm, other);
  return {score_intervals(pair.other, pair.arm, pair.units, range).ratio, pair.units, true, false};
}

}  // namespace pardec
