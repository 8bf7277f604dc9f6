#include "src/report/sweep_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/comparison_table.hpp"
#include "src/report/metric_title.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

const double kNoNumber = std::numeric_limits<double>::quiet_NaN();

std::optional<std::size_t> column_of(const Table& table, const std::string& key) {
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (key_of(table.columns[c]) == key) return c;
  return std::nullopt;
}

Json json_at(const Table& table, std::size_t row, const std::string& key) {
  const auto column = column_of(table, key);
  if (!column || *column >= table.rows[row].size()) return {};
  return table.rows[row][*column].value.value_or(Json());
}

/// The value of a cell; NaN: there is no number.
double value_at(const Table& table, std::size_t row, const std::string& key) {
  const Json value = json_at(table, row, key);
  return value.is_number() ? value.get<double>() : kNoNumber;
}

/// The two ends of an interval cell, with the value of `key` as the estimate.
Interval interval_at(const Table& table, std::size_t row, const std::string& key,
                     const std::string& interval_key) {
  const Json ends = json_at(table, row, interval_key);
  Interval interval{value_at(table, row, key), kNoNumber, kNoNumber};
  if (ends.is_array() && ends.size() == 2) {
    interval.low = ends[0].get<double>();
    interval.high = ends[1].get<double>();
  }
  return interval;
}

/// The dates of all runs, instead of a setting.
constexpr const char* kDate = "date";
/// The progress of a training, instead of a setting: the networks are its checkpoints.
constexpr const char* kCheckpoint = "checkpoint";
/// A setting of arms that is not a decoder's.
constexpr const char* kCacheBlocks = "cache_blocks";

/// Days since 1970 of a date in the store's form, e.g. 2026-01-31T23:59:59.123Z.
double days_of(const std::string& utc) {
  std::tm date{};
  double seconds = 0;
  std::sscanf(utc.c_str(), "%d-%d-%dT%d:%d:%lf", &date.tm_year, &date.tm_mon, &date.tm_mday,
              &date.tm_hour, &date.tm_min, &seconds);
  date.tm_year -= 1900;
  date.tm_mon -= 1;
  return (static_cast<double>(timegm(&date)) + seconds) / 86400;
}

/// The updates of a network's training: as stored with the run, or the last number in the name of
/// its folder (checkpoint-500).
std::optional<double> updates_of(const ModelRow& model) {
  if (const auto stored = model.shape.find(kTrainedUpdates); stored != model.shape.end())
    return stored->get<double>();
  const std::regex last_number("([0-9]+)[^0-9]*$");
  const std::string name = checkpoint_name(model.path);
  std::smatch found;
  if (!std::regex_search(name, found, last_number)) return std::nullopt;
  return std::stod(found[1].str());
}

/// The folder that has the checkpoints of a training.
std::string folder_of_training(const ModelRow& model) {
  return std::filesystem::path(model.path).parent_path().string();
}

/// The x of a run, if it has one.
std::optional<double> x_of(const RunRow& run, const std::string& x) {
  if (x == kDate) return days_of(run.started_utc);
  if (x == kCheckpoint) return updates_of(run.model);
  if (x == "batch_size") return run.batch_size;
  if (x == "seed") return static_cast<double>(run.seed);
  if (x == kCacheBlocks) return run.config.value(kCacheBlocks, 0.0);
  const auto dot = x.find('.');
  if (dot == std::string::npos || run.decoder != x.substr(0, dot)) return std::nullopt;
  const auto option = run.options.find(x.substr(dot + 1));
  if (option == run.options.end() || !option->is_number()) return std::nullopt;
  return option->get<double>();
}

/// The possible x for the runs of a store.
std::vector<std::string> known_x(const std::vector<RunRow>& runs) {
  std::set<std::string> names{"batch_size", kCacheBlocks, kCheckpoint, kDate, "seed"};
  for (const auto& run : runs)
    for (const auto& [key, value] : run.options.items())
      if (value.is_number()) names.insert(run.decoder + "." + key);
  return {names.begin(), names.end()};
}

/// Settings of a run other than x, by name.
std::map<std::string, std::string> settings_but(const RunRow& run, const std::string& x) {
  std::map<std::string, std::string> settings;
  if (x == kDate)  // all runs are included
    settings.insert({{"model", network_name(run.model)},
                     {"dtype", run.dtype},
                     {"device", run.device},
                     {"threads", std::to_string(run.threads)}});
  else if (x != kCheckpoint)  // arms of one invocation may differ in them
    settings["model"] = network_name(run.model);
  if (x != "batch_size") settings["batch_size"] = std::to_string(run.batch_size);
  if (x != "seed") settings["seed"] = std::to_string(run.seed);
  if (x != kCacheBlocks) settings[kCacheBlocks] = dump(run.config.value(kCacheBlocks, Json(0)));
  for (const auto& [key, value] : run.options.items())
    if (run.decoder + "." + key != x) settings[key] = dump(value);
  return settings;
}

struct SweepPoint {
  std::string dataset, decoder;
  std::map<std::string, std::string> settings;
  double x;
  Interval y;
  RunSummary run;
  std::string label;  ///< label of the run
  std::set<std::string> warnings = {};
};

std::string heading_of(const std::string& y, const std::string& unit) {
  if (y == "examples_per_second") return unit + "/s";
  return y == "tokens_per_forward" ? "tokens per pass" : metric_title(y);
}

/// Converts dates to the time since the first one's minute, in a suitable unit; returns the unit's
/// name.
std::string count_from_first(std::vector<SweepPoint>& points) {
  const auto [oldest, newest] = std::minmax_element(
      points.begin(), points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  constexpr double kMinutes = 24 * 60;  // per day
  const double first = std::floor(oldest->x * kMinutes) / kMinutes, span = newest->x - first;
  const auto [unit, per_day] = span >= 2        ? std::pair{"days", 1.0}
                               : span * 24 >= 2 ? std::pair{"hours", 24.0}
                                                : std::pair{"minutes", kMinutes};
  for (SweepPoint& point : points) point.x = std::round((point.x - first) * per_day * 100) / 100;
  const auto seconds = static_cast<std::time_t>(std::lround(first * 86400));
  std::tm date{};
  gmtime_r(&seconds, &date);
  std::array<char, 24> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &date);
  return str(unit, " since ", text.data(), " UTC");
}

}  // namespace

Figure sweep_figure(Store& store, const Sweep& sweep) {
  const auto all = store.find_runs({});
  const std::string newest = find_invocation(store, sweep.run);
  const RunRow pattern = runs_of(store, newest).front().run;
  std::vector<std::string> invocations;  // oldest first, so that newer points replace older ones
  const auto same_network = [&](const RunRow& run) {
    return sweep.x == kCheckpoint
               ? folder_of_training(run.model) == folder_of_training(pattern.model)
               : run.model.hash == pattern.model.hash;
  };
  for (auto run = all.rbegin(); run != all.rend(); ++run) {
    const bool same =
        (sweep.x == kDate && run->oracle == pattern.oracle) ||
        (same_network(*run) && run->dtype == pattern.dtype && run->device == pattern.device &&
         run->threads == pattern.threads && run->oracle == pattern.oracle);
    if ((sweep.run.empty() ? same : run->invocation == newest) &&
        std::find(invocations.begin(), invocations.end(), run->invocation) == invocations.end())
      invocations.push_back(run->invocation);
  }
  std::vector<SweepPoint> points;
  std::vector<std::string> keys;
  bool any_x = false;
  std::string unit = "examples";
  const auto labels = invocation_labels(store);
  for (const auto& invocation : invocations) {
    const Comparison comparison = compare(store, invocation, {.confidence = sweep.confidence});
    const Table table = comparison_table(comparison);
    for (const auto& column : table.columns)
      if ((column.align == Align::right || column.number) && keys.size() < table.columns.size())
        keys.push_back(key_of(column));
    for (std::size_t r = 0; r < comparison.arms.size(); ++r) {
      const ArmFinding& arm = comparison.arms[r];
      const RunRow& run = arm.run.run;
      const auto x = x_of(run, sweep.x);
      if (!x) continue;
      any_x = true;
      unit = stored_dataset(run.dataset.name).unit;
      Interval y = interval_at(table, r, sweep.y, sweep.y + "_interval");
      if (sweep.y == "speedup" && !arm.speedup) continue;
      if (sweep.y == "examples_per_second") y = arm.examples_per_second;
      if (sweep.y == "tokens_per_forward") y = comparison.details_of(arm).tokens_per_forward;
      if (!std::isfinite(y.estimate)) continue;
      SweepPoint point{run.dataset.name, run.decoder, settings_but(run, sweep.x), *x, y,
                       arm.run,          {}};
      if (const auto label = labels.find(invocation); sweep.x == kDate && label != labels.end())
        point.label = label->second.name;
      if (comparison.is_broken(arm)) point.label += point.label.empty() ? "broken" : " (broken)";
      for (const Warning& warning : comparison.warnings)
        if (warning.dataset == run.dataset.name && warning.arm == run.label)
          point.warnings.insert(warning.code);
      std::erase_if(points, [&](const SweepPoint& old) {
        return old.dataset == point.dataset && old.decoder == point.decoder &&
               old.settings == point.settings && old.x == point.x;
      });
      points.push_back(std::move(point));
    }
  }
  if (!any_x)
    throw ConfigError(str("`x`: no run has '", sweep.x, "'", known_names(sweep.x, known_x(all))));
  if (std::find(keys.begin(), keys.end(), sweep.y) == keys.end())
    throw ConfigError(str("`y`: a comparison has no '", sweep.y, "'", known_names(sweep.y, keys)));
  if (points.empty())
    throw ConfigError(str("there is nothing to draw: no run with '", sweep.x, "' has a value of '",
                          sweep.y, "'"));

  // The name of a line consists of the settings that vary.
  std::map<std::string, std::set<std::string>> seen;
  std::set<std::string> decoders, datasets;
  for (const auto& point : points) {
    decoders.insert(point.decoder);
    datasets.insert(point.dataset);
    for (const auto& [key, value] : point.settings) seen[point.decoder + "." + key].insert(value);
  }
  Figure figure;
  figure.x_label = sweep.x == "batch_size" ? "jobs in flight" : sweep.x;
  if (sweep.x == kDate) figure.x_label = count_from_first(points);
  if (sweep.x == kCheckpoint) figure.x_label = "updates of the training";
  figure.y_label = heading_of(sweep.y, unit);
  figure.from_zero =
      !sweep.y.starts_with("f1") && sweep.y != "identical" && sweep.y != "same_choices";
  if (sweep.y == "speedup") figure.reference = 1;
  for (const auto& point : points) {
    std::vector<std::string> parts{point.dataset};
    if (decoders.size() > 1 || seen.empty()) parts.push_back(point.decoder);
    for (const auto& [key, value] : point.settings)
      if (seen[point.decoder + "." + key].size() > 1) parts.push_back(key + " " + value);
    const std::string name = join(parts, ", ");
    auto series = std::find_if(figure.series.begin(), figure.series.end(),
                               [&](const auto& s) { return s.name == name; });
    if (series == figure.series.end()) {
      // Grey is for baselines.
      const int colour = 1 + static_cast<int>(figure.series.size()) % (kMarks - 1);
      series = figure.series.insert(series, FigureSeries{name, {}, colour});
    }
    series->points.push_back({point.x, point.y.estimate, point.y.low, point.y.high, point.label});
  }
  std::set<std::string> warnings;
  for (const auto& point : points) warnings.insert(point.warnings.begin(), point.warnings.end());
  figure.warnings.assign(warnings.begin(), warnings.end());
  for (auto& series : figure.series)
    std::sort(series.points.begin(), series.points.end(),
              [](const auto& a, const auto& b) { return a.x < b.x; });
  const std::string network = checkpoint_name(
      sweep.x == kCheckpoint ? std::filesystem::path(folder_of_training(pattern.model))
                             : std::filesystem::path(pattern.model.path));
  std::vector<RunSummary> drawn;
  for (const auto& point : points) drawn.push_back(point.run);
  if (sweep.x == kDate)
    figure.title = str(figure.y_label, " of ", counted(std::ssize(invocations), "run"), ", ",
                       size_of(drawn), pattern.oracle ? ", oracle " + *pattern.oracle : "");
  else
    figure.title =
        str(figure.y_label, " over ", figure.x_label, ": ", network, ", ", pattern.dtype, ", ",
            pattern.device, ", ", size_of(drawn), pattern.untrained ? ", untrained" : "",
            pattern.oracle ? ", oracle " + *pattern.oracle : "");
  return figure;
}

}  // namespace pardec
