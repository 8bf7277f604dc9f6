#include "src/cli/figures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "datasets/dataset.hpp"
#include "metrics/attribute_f1.hpp"
#include "src/cli/comparison.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

const double kNone = std::numeric_limits<double>::quiet_NaN();

std::optional<std::size_t> column_of(const Table& table, const std::string& key) {
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if ((table.columns[c].key.empty() ? table.columns[c].header : table.columns[c].key) == key)
      return c;
  return std::nullopt;
}

Json json_at(const Table& table, std::size_t row, const std::string& key) {
  const auto column = column_of(table, key);
  if (!column || *column >= table.rows[row].size()) return {};
  return table.rows[row][*column].value.value_or(Json());
}

/// Whether the row has a speedup over another one.
bool is_method(const Table& table, std::size_t row) {
  const auto column = column_of(table, "speedup");
  return column && table.rows[row][*column].text != kBaselineSpeedup;
}

bool several_datasets(const std::vector<RunSummary>& runs) {
  return std::any_of(runs.begin(), runs.end(), [&](const auto& run) {
    return run.run.dataset.name != runs.front().run.dataset.name;
  });
}

/// Labels of the arms in order of appearance; their index is their colour (0: no baseline).
std::vector<std::string> arms_of(const std::vector<RunSummary>& runs) {
  std::vector<std::string> arms;
  for (const bool baseline : {true, false})
    for (const auto& run : runs)
      if (run.run.baseline.has_value() != baseline &&
          std::find(arms.begin(), arms.end(), run.run.label) == arms.end())
        arms.push_back(run.run.label);
  return arms;
}

std::vector<std::string> datasets_of(const std::vector<RunSummary>& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs)
    if (std::find(names.begin(), names.end(), run.run.dataset.name) == names.end())
      names.push_back(run.run.dataset.name);
  return names;
}

/// One series an arm, one category a dataset.
template <typename Measure>
Figure by_dataset(const std::vector<RunSummary>& runs, FigureKind kind, int decimals,
                  const Measure& measure) {
  Figure figure;
  figure.kind = kind;
  figure.width = 480;
  figure.categories = datasets_of(runs);
  const auto arms = arms_of(runs);
  for (std::size_t a = 0; a < arms.size(); ++a) {
    FigureSeries series{arms[a], {}, static_cast<int>(a)};
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (runs[r].run.label != arms[a]) continue;
      const Interval value = measure(r);
      if (!std::isfinite(value.estimate)) continue;
      const auto place =
          std::find(figure.categories.begin(), figure.categories.end(), runs[r].run.dataset.name) -
          figure.categories.begin();
      series.points.push_back({static_cast<double>(place), value.estimate, value.low, value.high,
                               fixed(value.estimate, decimals)});
    }
    if (!series.points.empty()) figure.series.push_back(std::move(series));
  }
  return figure;
}

/// Upper ends of the histogram's classes: single counts as long as there are few, else doubling.
std::vector<std::int64_t> classes_up_to(std::int64_t most) {
  std::vector<std::int64_t> ends;
  for (std::int64_t end = 1; ends.empty() || ends.back() < most;
       end = most <= 12 ? end + 1 : 2 * end)
    ends.push_back(end);
  return ends;
}

/// Share of forwards that emitted so many tokens, one series an arm.
Figure emitted_histogram(Store& store, const std::vector<RunSummary>& runs,
                         const std::string& dataset, const std::vector<std::string>& arms) {
  Figure figure;
  figure.kind = FigureKind::columns;
  figure.width = 480;
  figure.height = 270;
  figure.x_label = "tokens emitted by one forward of a job";
  figure.y_label = "% of forwards";
  std::map<std::string, std::map<std::int64_t, std::int64_t>> counts;
  std::int64_t most = 1;
  for (const auto& run : runs) {
    if (run.run.dataset.name != dataset) continue;
    for (const auto& job : store.jobs(run.run.id))
      if (!job.error)
        for (const auto& [emitted, forwards] : job.counters.emitted) {
          counts[run.run.label][emitted] += forwards;
          most = std::max(most, emitted);
        }
  }
  const auto ends = classes_up_to(most);
  for (std::size_t c = 0; c < ends.size(); ++c) {
    const std::int64_t begin = c == 0 ? 1 : ends[c - 1] + 1;
    figure.categories.push_back(begin == ends[c] ? str(begin) : str(begin, "\u2013", ends[c]));
  }
  for (std::size_t a = 0; a < arms.size(); ++a) {
    double total = 0;
    std::vector<double> shares(ends.size());
    for (const auto& [emitted, forwards] : counts[arms[a]]) {
      const auto place = std::lower_bound(ends.begin(), ends.end(), emitted) - ends.begin();
      shares[static_cast<std::size_t>(place)] += static_cast<double>(forwards);
      total += static_cast<double>(forwards);
    }
    if (total == 0) continue;
    FigureSeries series{arms[a], {}, static_cast<int>(a)};
    for (std::size_t c = 0; c < ends.size(); ++c)
      series.points.push_back({static_cast<double>(c), 100 * shares[c] / total});
    figure.series.push_back(std::move(series));
  }
  return figure;
}

/// F1 of the attributes that have the most values, over all categories.
NamedFigure attribute_figure(Store& store, const std::vector<RunSummary>& runs,
                             const std::string& dataset, const std::vector<std::string>& arms) {
  constexpr std::size_t kShown = 14;
  std::map<std::string, std::map<std::string, std::vector<AttributeOutcome>>> outcomes;
  std::map<std::string, long> values;  // in the references of one arm
  std::string counted;
  for (const auto& run : runs) {
    if (run.run.dataset.name != dataset || run.run.oracle || run.run.untrained) continue;
    if (counted.empty()) counted = run.run.label;
    for (const auto& generation : store.generations(run.run.id))
      for (const auto& score : generation.row.scores) {
        if (score.metric != "value_correct") continue;
        const AttributeOutcome outcome{generation.category, score.field,
                                       score.details.at("annotated").get<bool>(),
                                       counts_of(score.details.at("counts_as").get<std::string>())};
        if (run.run.label == counted)
          values[score.field] += outcome.counts.vn + outcome.counts.vc + outcome.counts.vw;
        outcomes[score.field][run.run.label].push_back(outcome);
      }
  }
  std::vector<std::pair<long, std::string>> order;
  for (const auto& [attribute, count] : values)
    if (count > 0) order.emplace_back(-count, attribute);
  std::sort(order.begin(), order.end());
  NamedFigure named;
  named.heading = "F1 by attribute, " + dataset;
  named.caption = str("Micro F1 as ExtractGPT counts it, over all categories; the ",
                      std::min(kShown, order.size()), " attributes with most values of ",
                      order.size(), ", number of values in parentheses.");
  Figure& figure = named.figure;
  figure.kind = FigureKind::rows;
  figure.width = 480;
  for (std::size_t a = 0; a < arms.size(); ++a)
    figure.series.push_back({arms[a], {}, static_cast<int>(a)});
  for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    figure.categories.push_back(str(order[i].second, " (", -order[i].first, ")"));
    for (std::size_t a = 0; a < arms.size(); ++a)
      if (const auto found = outcomes[order[i].second].find(arms[a]);
          found != outcomes[order[i].second].end())
        figure.series[a].points.push_back(
            {static_cast<double>(i), extractgpt_f1(found->second).micro_f1});
  }
  std::erase_if(figure.series, [](const auto& series) { return series.points.empty(); });
  return named;
}

/// The x of a run, if it has one.
std::optional<double> x_of(const RunRow& run, const std::string& x) {
  if (x == "batch_size") return run.batch_size;
  const auto dot = x.find('.');
  if (dot == std::string::npos || run.decoder != x.substr(0, dot)) return std::nullopt;
  const auto option = run.options.find(x.substr(dot + 1));
  if (option == run.options.end() || !option->is_number()) return std::nullopt;
  return option->get<double>();
}

/// What x may be for the runs of a store.
std::vector<std::string> known_x(const std::vector<RunRow>& runs) {
  std::set<std::string> names{"batch_size"};
  for (const auto& run : runs)
    for (const auto& [key, value] : run.options.items())
      if (value.is_number()) names.insert(run.decoder + "." + key);
  return {names.begin(), names.end()};
}

/// Settings of a run other than x, by name.
std::map<std::string, std::string> settings_but(const RunRow& run, const std::string& x) {
  std::map<std::string, std::string> settings;
  if (x != "batch_size") settings["batch_size"] = std::to_string(run.batch_size);
  for (const auto& [key, value] : run.options.items())
    if (run.decoder + "." + key != x) settings[key] = dump(value);
  return settings;
}

struct SweepPoint {
  std::string dataset, decoder;
  std::map<std::string, std::string> settings;
  double x;
  Interval y;
};

std::string heading_of(const std::string& y, const std::string& unit) {
  if (y == "examples_per_second") return unit + "/s";
  if (y == "tokens_per_forward") return "tokens per forward";
  std::string name = y;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name.starts_with("f1") ? "F1" + name.substr(2) : name;
}

}  // namespace

double value_at(const Table& table, std::size_t row, const std::string& key) {
  const Json value = json_at(table, row, key);
  return value.is_number() ? value.get<double>() : kNone;
}

Interval interval_at(const Table& table, std::size_t row, const std::string& key,
                     const std::string& interval_key) {
  const Json ends = json_at(table, row, interval_key);
  Interval interval{value_at(table, row, key), kNone, kNone};
  if (ends.is_array() && ends.size() == 2) {
    interval.low = ends[0].get<double>();
    interval.high = ends[1].get<double>();
  }
  return interval;
}

Interval examples_per_second(Store& store, const RunSummary& run, double confidence) {
  std::vector<BlockPair> blocks;  // a run paired with itself: its own blocks
  for (const auto& block : store.block_pairs(run.run.id, run.run.id))
    blocks.push_back(
        {static_cast<double>(block.examples), static_cast<double>(block.method_ns) * 1e-9});
  return blocks.empty() ? Interval{kNone, kNone, kNone} : interval_over(blocks, confidence);
}

Interval tokens_per_forward(Store& store, const RunSummary& run, double confidence) {
  std::vector<BlockPair> jobs;
  for (const auto& job : store.jobs(run.run.id))
    if (!job.error && job.counters.forwards > 0)
      jobs.push_back(
          {static_cast<double>(job.counters.chosen), static_cast<double>(job.counters.forwards)});
  return jobs.empty() ? Interval{kNone, kNone, kNone} : ratio_of_totals(jobs, confidence);
}

std::vector<NamedFigure> comparison_figures(Store& store, const std::vector<RunSummary>& runs,
                                            const Table& comparison, double confidence) {
  std::vector<NamedFigure> figures;
  const std::string percent = fixed(100 * confidence, 0);
  const std::string unit(find_dataset(runs.front().run.dataset.name).unit);
  const auto arms = arms_of(runs);
  const auto add = [&](std::string heading, std::string caption, Figure figure) {
    if (!figure.series.empty())
      figures.push_back({std::move(heading), std::move(caption), std::move(figure)});
  };
  Figure speedup = by_dataset(runs, FigureKind::rows, 2, [&](std::size_t row) {
    return is_method(comparison, row) ? interval_at(comparison, row, "speedup", "speedup_interval")
                                      : Interval{kNone, kNone, kNone};
  });
  speedup.reference = 1;
  speedup.x_label = "times as fast as the baseline";
  // The baseline is the dashed line, so its colour is free and a name is needed even for one arm.
  if (speedup.series.size() == 1)
    for (auto& category : speedup.categories) category += ", " + speedup.series.front().name;
  add("Speedup",
      str("Ratio of total seconds on the same blocks; bars: ", percent,
          " % paired bootstrap over blocks. Dashed: as fast as the baseline."),
      std::move(speedup));
  Figure throughput = by_dataset(runs, FigureKind::bars, 2, [&](std::size_t row) {
    return examples_per_second(store, runs[row], confidence);
  });
  throughput.x_label = unit + " per second";
  add("Throughput",
      str("Each arm with its own number of jobs in flight; bars: ", percent,
          " % bootstrap over blocks."),
      std::move(throughput));
  Figure per_forward = by_dataset(runs, FigureKind::bars, 2, [&](std::size_t row) {
    return tokens_per_forward(store, runs[row], confidence);
  });
  per_forward.x_label = "tokens chosen per forward of a job";
  add("Tokens per forward",
      str("How parallel a decoder is, apart from what a forward costs; bars: ", percent,
          " % bootstrap over jobs."),
      std::move(per_forward));
  for (const auto& dataset : datasets_of(runs)) {
    add(several_datasets(runs) ? "Tokens emitted by a forward, " + dataset
                               : "Tokens emitted by a forward",
        "Share of forward passes that emitted so many tokens.",
        emitted_histogram(store, runs, dataset, arms));
  }
  for (const auto& dataset : datasets_of(runs)) {
    NamedFigure attributes = attribute_figure(store, runs, dataset, arms);
    if (!attributes.figure.series.empty()) figures.push_back(std::move(attributes));
  }
  return figures;
}

Figure sweep_figure(Store& store, const Sweep& sweep) {
  const auto all = store.find_runs({});
  const std::string newest = find_invocation(store, sweep.run);
  const RunRow pattern = runs_of(store, newest).front().run;
  std::vector<std::string> invocations;  // oldest first, so that newer points replace older ones
  for (auto run = all.rbegin(); run != all.rend(); ++run) {
    const bool same = run->model.hash == pattern.model.hash && run->dtype == pattern.dtype &&
                      run->device == pattern.device && run->threads == pattern.threads &&
                      run->oracle == pattern.oracle;
    if ((sweep.run.empty() ? same : run->invocation == newest) &&
        std::find(invocations.begin(), invocations.end(), run->invocation) == invocations.end())
      invocations.push_back(run->invocation);
  }
  std::vector<SweepPoint> points;
  std::vector<std::string> keys;
  bool any_x = false;
  std::string unit = "examples";
  for (const auto& invocation : invocations) {
    const Table table = compare_runs(store, invocation, "", sweep.confidence);
    for (const auto& column : table.columns)
      if (column.align == Align::right && keys.size() < table.columns.size())
        keys.push_back(column.key.empty() ? column.header : column.key);
    const auto runs = runs_of(store, invocation);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const auto x = x_of(runs[r].run, sweep.x);
      if (!x) continue;
      any_x = true;
      unit = find_dataset(runs[r].run.dataset.name).unit;
      Interval y = interval_at(table, r, sweep.y, sweep.y + "_interval");
      if (sweep.y == "speedup" && !is_method(table, r)) continue;
      if (sweep.y == "examples_per_second")
        y = examples_per_second(store, runs[r], sweep.confidence);
      if (sweep.y == "tokens_per_forward") y = tokens_per_forward(store, runs[r], sweep.confidence);
      if (!std::isfinite(y.estimate)) continue;
      SweepPoint point{runs[r].run.dataset.name, runs[r].run.decoder,
                       settings_but(runs[r].run, sweep.x), *x, y};
      std::erase_if(points, [&](const SweepPoint& old) {
        return old.dataset == point.dataset && old.decoder == point.decoder &&
               old.settings == point.settings && old.x == point.x;
      });
      points.push_back(std::move(point));
    }
  }
  if (!any_x)
    throw ConfigError(str("--x: no run has '", sweep.x, "'", known_names(sweep.x, known_x(all))));
  if (std::find(keys.begin(), keys.end(), sweep.y) == keys.end())
    throw ConfigError(str("--y: a comparison has no '", sweep.y, "'", known_names(sweep.y, keys)));
  if (points.empty())
    throw ConfigError(str("there is nothing to draw: no run with '", sweep.x, "' has a value of '",
                          sweep.y, "'"));

  // A line is named by what tells it from the others.
  std::map<std::string, std::set<std::string>> seen;
  std::set<std::string> decoders, datasets;
  for (const auto& point : points) {
    decoders.insert(point.decoder);
    datasets.insert(point.dataset);
    for (const auto& [key, value] : point.settings) seen[point.decoder + "." + key].insert(value);
  }
  Figure figure;
  figure.x_label = sweep.x == "batch_size" ? "jobs in flight" : sweep.x;
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
      // Grey is for baselines; shapes and names tell more than six lines apart.
      const int colour = 1 + static_cast<int>(figure.series.size() % 6);
      series = figure.series.insert(series, FigureSeries{name, {}, colour});
    }
    series->points.push_back({point.x, point.y.estimate, point.y.low, point.y.high});
  }
  for (auto& series : figure.series)
    std::sort(series.points.begin(), series.points.end(),
              [](const auto& a, const auto& b) { return a.x < b.x; });
  const std::string network = pattern.model.path.substr(pattern.model.path.find_last_of('/') + 1);
  figure.title = str(figure.y_label, " over ", figure.x_label, ": ", network, ", ", pattern.dtype,
                     ", ", pattern.device, pattern.untrained ? ", untrained" : "",
                     pattern.oracle ? ", oracle " + *pattern.oracle : "");
  return figure;
}

}  // namespace pardec
