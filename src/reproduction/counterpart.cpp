#include "src/reproduction/counterpart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A quantity here is described by these; `match` gives them for a value of a key, or for all
/// cells.
constexpr std::array<const char*, 4> kRoles{"arm", "over", "metric", "category"};

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump(value);
}

std::vector<ArmPair> pairs_of(const Json& points) {
  std::vector<ArmPair> pairs;
  for (const Json& point : points)
    pairs.push_back(point.is_array() ? ArmPair{point.at(0), point.at(1)}
                                     : ArmPair{point.get<std::string>(), ""});
  return pairs;
}

/// The mean of independent quantities.
Measured mean_of(const std::vector<Measured>& all) {
  const auto n = static_cast<double>(all.size());
  Measured mean{{0, 0, 0}, all.front().units};
  double below = 0, above = 0;
  for (const Measured& one : all) {
    mean.value.estimate += one.value.estimate / n;
    below = std::hypot(below, (one.value.estimate - one.value.low) / n);
    above = std::hypot(above, (one.value.high - one.value.estimate) / n);
    mean.units = std::min(mean.units, one.units);
  }
  mean.value.low = mean.value.estimate - below;
  mean.value.high = mean.value.estimate + above;
  return mean;
}

/// The quantity on a dataset: of the only arm, or of the arm or category that has the least or
/// most.
Found chosen(const Counterpart& counterpart, const std::string& dataset, const Evidence& evidence) {
  std::vector<Scope> places{{dataset, counterpart.categories}};
  if (counterpart.each_category) {
    places.clear();
    for (const std::string& category : evidence.categories(dataset))
      places.push_back({dataset, {category}});
  }
  Found chosen{std::nullopt, str("categories of ", dataset)};
  for (const Scope& place : places)
    for (const ArmPair& pair : counterpart.arms) {
      const std::string& metric = counterpart.metric;
      Found found = pair.over.empty() ? evidence.level(place, pair.arm, metric)
                    : counterpart.difference
                        ? evidence.difference(place, pair.arm, pair.over, metric)
                        : evidence.ratio(place, pair.arm, pair.over, metric);
      if (!found.measured) return found;
      const bool less =
          chosen.measured && found.measured->value.estimate < chosen.measured->value.estimate;
      if (!chosen.measured || less == (counterpart.extreme == Counterpart::Extreme::least))
        chosen = std::move(found);
    }
  return chosen;
}

}  // namespace

std::vector<std::string> Counterpart::labels() const {
  std::vector<std::string> all;
  for (const ArmPair& pair : arms)
    for (const std::string& arm : {pair.arm, pair.over})
      if (!arm.empty() && std::find(all.begin(), all.end(), arm) == all.end()) all.push_back(arm);
  return all;
}

Json Matching::match(const std::string& key) const {
  return match_.is_object() ? match_.value(key, Json()) : Json();
}

bool Matching::shown(const PublishedCell& cell) const {
  for (size_t k = 0; k < item_.published.keys.size(); ++k) {
    const Json wanted = match(item_.published.keys[k]);
    if (wanted.is_string() && text_of(cell.at[k]) != wanted.get<std::string>()) return false;
  }
  return true;
}

std::optional<Counterpart> Matching::of(const PublishedCell& cell) const {
  std::map<std::string, std::string> values;  // of the keys, by their names here
  Json roles = Json::object(), own = Json::object();
  for (size_t k = 0; k < item_.published.keys.size(); ++k) {
    const std::string& key = item_.published.keys[k];
    const std::string value = text_of(cell.at[k]);
    const Json here = match(key);
    if (here.is_object() && !here.contains(value)) return std::nullopt;
    const Json named = here.is_object() ? here.at(value) : Json(value);
    values[key] = named.is_object() ? value : text_of(named);
    if (named.is_object())
      own.update(named);
    else if (key == "method")
      roles["arm"] = values[key];
    else if (key == "metric" || key == "category")
      roles[key] = values[key];
  }
  // What is said of all cells counts more than the name of a key's value, and less than what is
  // said of this value.
  for (const char* role : kRoles) {
    if (values.contains(role)) continue;
    const Json said = match(role);
    if (said.is_object()) roles.update(said);
    if (said.is_string()) roles[role] = said;
  }
  roles.update(own);

  if (roles.contains("lacks")) {
    Counterpart none;
    none.lacks = roles["lacks"].get<std::string>();
    return none;
  }
  const auto filled = [&](std::string text) {
    for (const auto& [name, value] : values) text = replace_all(text, str("{", name, "}"), value);
    return text;
  };
  const auto role = [&](const char* name) { return filled(roles.value(name, std::string())); };
  Counterpart here;
  here.metric = role("metric");
  if (roles.contains("mean_of")) {
    here.datasets = roles["mean_of"].get<std::vector<std::string>>();
  } else {
    const auto dataset = item_.published.datasets.find(item_.published.dataset_of(cell));
    if (dataset == item_.published.datasets.end() || !dataset->second) return std::nullopt;
    here.datasets = {*dataset->second};
  }
  here.times = roles.value("times", 1.0);
  here.plus = roles.value("plus", 0.0);
  if (const std::string category = role("category"); !category.empty() && category != "*")
    here.categories = split(category, '+');
  for (const auto& [name, extreme] : {std::pair{"least_of", Counterpart::Extreme::least},
                                      std::pair{"most_of", Counterpart::Extreme::most}}) {
    if (!roles.contains(name)) continue;
    here.extreme = extreme;
    here.each_category = roles[name] == "categories";
    if (!here.each_category) here.arms = pairs_of(roles[name]);
  }
  here.difference = roles.contains("from");
  if (here.arms.empty() && !role("arm").empty())
    here.arms = {{role("arm"), role(here.difference ? "from" : "over")}};
  if (here.arms.empty() || here.metric.empty()) return std::nullopt;
  return here;
}

Found measured(const Counterpart& counterpart, const Evidence& evidence) {
  if (!counterpart.lacks.empty()) return {std::nullopt, counterpart.lacks};
  std::vector<Measured> all;
  for (const std::string& dataset : counterpart.datasets) {
    const Found one = chosen(counterpart, dataset, evidence);
    if (!one.measured) return one;
    all.push_back(*one.measured);
  }
  Measured mean = all.front();
  if (all.size() > 1) mean = mean_of(all);
  for (double Interval::*end : {&Interval::estimate, &Interval::low, &Interval::high})
    mean.value.*end = counterpart.times * mean.value.*end + counterpart.plus;
  return {mean, ""};
}

}  // namespace pardec
