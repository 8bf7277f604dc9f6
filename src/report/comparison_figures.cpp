#include "src/report/comparison_figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "datasets/dataset.hpp"
#include "src/findings/pareto.hpp"
#include "src/findings/score_findings.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/comparison_table.hpp"
#include "src/report/metric_title.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

const double kNone = std::numeric_limits<double>::quiet_NaN();

bool several_datasets(const Comparison& comparison) {
  const auto& arms = comparison.arms;
  return std::any_of(arms.begin(), arms.end(), [&](const ArmFinding& arm) {
    return arm.run.run.dataset.name != arms.front().run.run.dataset.name;
  });
}

/// Labels of the arms, those without a baseline first; the index determines the colour.
std::vector<std::string> labels_of(const Comparison& comparison) {
  std::vector<std::string> labels;
  for (const bool baseline : {true, false})
    for (const ArmFinding& arm : comparison.arms)
      if (arm.run.run.baseline.has_value() != baseline &&
          std::find(labels.begin(), labels.end(), arm.run.run.label) == labels.end())
        labels.push_back(arm.run.run.label);
  return labels;
}

std::vector<std::string> datasets_of(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const ArmFinding& arm : comparison.arms)
    if (std::find(names.begin(), names.end(), arm.run.run.dataset.name) == names.end())
      names.push_back(arm.run.run.dataset.name);
  return names;
}

/// With more arms, each has its own named rows, and lines replace columns.
constexpr std::size_t kFewArms = 4;

/// One series per arm, and one category per dataset; with many arms, one category per arm and
/// dataset. `broken`: whether an arm's number is meaningless.
template <typename Measure, typename Broken>
Figure by_dataset(const Comparison& comparison, FigureKind kind, int decimals,
                  const Measure& measure, const Broken& broken) {
  Figure figure;
  figure.kind = kind;
  figure.width = 480;
  const auto labels = labels_of(comparison);
  const bool rows_of_arms = labels.size() > kFewArms;
  figure.legend = !rows_of_arms;
  if (!rows_of_arms) figure.categories = datasets_of(comparison);
  for (std::size_t a = 0; a < labels.size(); ++a)
    figure.series.push_back({labels[a], {}, static_cast<int>(a)});
  for (const auto& dataset : datasets_of(comparison))
    for (FigureSeries& series : figure.series)
      for (const ArmFinding& arm : comparison.arms) {
        if (arm.run.run.label != series.name || arm.run.run.dataset.name != dataset) continue;
        const Interval value = measure(arm);
        if (!std::isfinite(value.estimate)) continue;
        if (rows_of_arms)
          figure.categories.push_back(several_datasets(comparison) ? str(series.name, ", ", dataset)
                                                                   : series.name);
        const auto place =
            rows_of_arms ? std::ssize(figure.categories) - 1
                         : std::find(figure.categories.begin(), figure.categories.end(), dataset) -
                               figure.categories.begin();
        series.points.push_back(
            {static_cast<double>(place), value.estimate, value.low, value.high,
             fixed(value.estimate, decimals) + (broken(arm) ? ", broken" : "")});
      }
  std::erase_if(figure.series, [](const auto& series) { return series.points.empty(); });
  return figure;
}

/// Upper ends of the histogram's classes: single counts if there are few, otherwise doubling.
std::vector<std::int64_t> classes_up_to(std::int64_t most) {
  std::vector<std::int64_t> ends;
  for (std::int64_t end = 1; ends.empty() || ends.back() < most;
       end = most <= 12 ? end + 1 : 2 * end)
    ends.push_back(end);
  return ends;
}

/// Share of forward passes by the number of tokens emitted, one series per arm.
Figure emitted_histogram(const Comparison& comparison, const std::string& dataset) {
  Figure figure;
  const auto arms = labels_of(comparison);
  figure.kind = arms.size() > kFewArms ? FigureKind::lines : FigureKind::columns;
  figure.width = 480;
  figure.height = 270;
  figure.x_label = "tokens generated in one forward pass of a job";
  figure.y_label = "% of forward passes";
  std::map<std::string, std::map<std::int64_t, std::int64_t>> counts;
  std::int64_t most = 1;
  bool none = false;  // a pass that computes only a prefix generates no tokens
  for (const ArmFinding& arm : comparison.arms)
    if (arm.run.run.dataset.name == dataset)
      for (const auto& [tokens, forwards] : comparison.details_of(arm).emitted) {
        counts[arm.run.run.label][tokens] += forwards;
        most = std::max(most, tokens);
        none = none || tokens == 0;
      }
  auto ends = classes_up_to(most);
  if (none) ends.insert(ends.begin(), 0);
  for (std::size_t c = 0; c < ends.size(); ++c) {
    const std::int64_t begin = c > 0 ? ends[c - 1] + 1 : none ? 0 : 1;
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

/// F1 of the attributes with the most values, over all categories.
NamedFigure attribute_figure(const Comparison& comparison, const std::string& dataset) {
  const auto labels = labels_of(comparison);
  const std::size_t most_shown = std::min<std::size_t>(14, 56 / labels.size());
  std::map<std::string, std::map<std::string, double>> f1;  // by attribute and arm
  std::vector<std::pair<long, std::string>> order;          // by number of values in the references
  for (const ArmFinding& arm : comparison.arms) {
    const RunRow& run = arm.run.run;
    if (run.dataset.name != dataset || run.oracle || run.untrained) continue;
    const bool first = f1.empty();
    for (const AttributeFinding& one : comparison.details_of(arm).attributes) {
      if (first && one.values > 0) order.emplace_back(-one.values, one.attribute);
      f1[one.attribute][run.label] = one.f1;
    }
  }
  std::sort(order.begin(), order.end());
  NamedFigure named;
  named.heading = "F1 by attribute, " + dataset;
  named.caption = str("Micro F1 as ExtractGPT counts it, over all categories; the ",
                      std::min(most_shown, order.size()), " attributes with most values of ",
                      order.size(), ", number of values in parentheses.");
  Figure& figure = named.figure;
  figure.kind = FigureKind::rows;
  figure.width = 480;
  for (std::size_t a = 0; a < labels.size(); ++a)
    figure.series.push_back({labels[a], {}, static_cast<int>(a)});
  for (std::size_t i = 0; i < std::min(most_shown, order.size()); ++i) {
    figure.categories.push_back(str(order[i].second, " (", -order[i].first, ")"));
    for (std::size_t a = 0; a < labels.size(); ++a)
      if (const auto found = f1[order[i].second].find(labels[a]);
          found != f1[order[i].second].end())
        figure.series[a].points.push_back({static_cast<double>(i), found->second});
  }
  std::erase_if(figure.series, [](const auto& series) { return series.points.empty(); });
  return named;
}

/// Score over speedup of the arms with the same baseline, including the baseline. Arms with
/// meaningless numbers are left out, since they could be on the front.
std::optional<NamedFigure> quality_over_speed(const Comparison& comparison, std::size_t baseline) {
  const ArmFinding& base = comparison.arms[baseline];
  const RunRow& run = base.run.run;
  const auto metric = headline_score(base);
  if (run.oracle || run.untrained || base.broken() || metric.empty()) return std::nullopt;
  const auto labels = labels_of(comparison);
  NamedFigure named;
  Figure& figure = named.figure;
  figure.kind = FigureKind::scatter;
  figure.width = 480;
  figure.height = 340;
  figure.from_zero = false;
  figure.x_label = str("speedup over ", run.label);
  const bool lower = lower_is_better(metric);
  figure.y_label = metric_title(metric) + (lower ? " (lower is better)" : "");
  std::vector<RunSummary> drawn;
  std::vector<std::string> broken;
  for (std::size_t a = 0; a < comparison.arms.size(); ++a) {
    const ArmFinding& arm = comparison.arms[a];
    if ((a != baseline && arm.baseline != baseline) || arm.run.run.untrained) continue;
    if (arm.broken()) {
      broken.push_back(arm.run.run.label);
      continue;
    }
    const auto score = arm.scores.find(metric);
    const Interval speedup = a == baseline ? Interval{1, kNone, kNone}
                             : arm.speedup ? arm.speedup->ratio
                                           : Interval{kNone, kNone, kNone};
    if (score == arm.scores.end() || !std::isfinite(score->second.value.estimate) ||
        !std::isfinite(speedup.estimate))
      continue;
    const Interval& value = score->second.value;
    const auto colour = std::find(labels.begin(), labels.end(), arm.run.run.label) - labels.begin();
    figure.series.push_back({arm.run.run.label,
                             {{.x = speedup.estimate,
                               .y = value.estimate,
                               .low = value.low,
                               .high = value.high,
                               .x_low = speedup.low,
                               .x_high = speedup.high}},
                             static_cast<int>(colour)});
    drawn.push_back(arm.run);
  }
  if (figure.series.size() < 2) return std::nullopt;
  std::vector<std::pair<double, double>> points;
  for (const auto& series : figure.series)
    points.emplace_back(series.points.front().x, series.points.front().y * (lower ? -1 : 1));
  std::vector<std::string> on_front;
  for (const std::size_t i : pareto_front(points)) {
    figure.front.push_back(figure.series[i].points.front());
    on_front.push_back(figure.series[i].name);
  }
  const auto baselines =
      std::count_if(comparison.arms.begin(), comparison.arms.end(), [&](const ArmFinding& arm) {
        return arm.is_baseline && arm.run.run.dataset.name == run.dataset.name;
      });
  named.heading = str("Quality over speed, ", run.dataset.name,
                      baselines > 1 ? ", arms beside " + run.label : "");
  named.caption =
      str("Further right is faster, ", lower ? "lower" : "higher",
          " is better. The Pareto front: no arm is better in both "
          "than one of these: ",
          join(on_front, ", "), broken.empty() ? "" : "; broken: " + join(broken, ", "),
          ". Bars: ", fixed(100 * comparison.confidence, 0), " % intervals; ", size_of(drawn), ".");
  return named;
}

}  // namespace

std::vector<NamedFigure> comparison_figures(const Comparison& comparison) {
  std::vector<NamedFigure> figures;
  const std::string percent = fixed(100 * comparison.confidence, 0);
  std::vector<RunSummary> all;
  for (const ArmFinding& arm : comparison.arms) all.push_back(arm.run);
  const std::string size = size_of(all);
  const auto add = [&](std::string heading, std::string caption, Figure figure) {
    if (!figure.series.empty())
      figures.push_back({std::move(heading), std::move(caption), std::move(figure)});
  };
  const auto bars = [&](const Figure& figure, std::string_view what) {
    const bool any =
        std::any_of(figure.series.begin(), figure.series.end(), [](const auto& series) {
          return std::any_of(series.points.begin(), series.points.end(),
                             [](const auto& point) { return std::isfinite(point.low); });
        });
    return any ? str("bars: ", percent, what) : std::string("no intervals: too few blocks");
  };
  Figure speedup = by_dataset(
      comparison, FigureKind::rows, 2,
      [](const ArmFinding& arm) {
        return arm.speedup ? arm.speedup->ratio : Interval{kNone, kNone, kNone};
      },
      [&](const ArmFinding& arm) { return comparison.is_broken(arm); });
  speedup.reference = 1;
  speedup.x_label = "times as fast as the baseline";
  // The baseline is the dashed line, so its colour is free, and even a single arm needs a name.
  if (speedup.series.size() == 1)
    for (auto& category : speedup.categories) category += ", " + speedup.series.front().name;
  std::string caption = str("Ratio of total seconds on the same blocks; ",
                            bars(speedup, " % interval by the paired jackknife over blocks"),
                            ". Dashed: as fast as the baseline. ", size, ".");
  add("Speedup", std::move(caption), std::move(speedup));
  for (std::size_t a = 0; a < comparison.arms.size(); ++a)
    if (comparison.arms[a].is_baseline)
      if (auto figure = quality_over_speed(comparison, a)) figures.push_back(std::move(*figure));
  const auto broken = [](const ArmFinding& arm) { return arm.broken(); };
  Figure throughput = by_dataset(
      comparison, FigureKind::bars, 2,
      [](const ArmFinding& arm) { return arm.examples_per_second; }, broken);
  throughput.x_label = comparison.unit + " per second";
  caption = str("Each arm with its own number of jobs in flight; ",
                bars(throughput, " % interval by the jackknife over blocks"), ". ", size, ".");
  add("Throughput", std::move(caption), std::move(throughput));
  Figure per_forward = by_dataset(
      comparison, FigureKind::bars, 2,
      [&](const ArmFinding& arm) { return comparison.details_of(arm).tokens_per_forward; }, broken);
  per_forward.x_label = "tokens generated per forward pass of a job";
  caption = str("How parallel a decoder is, apart from the cost of a forward pass; ",
                bars(per_forward, " % interval by the jackknife over jobs"), ". ", size, ".");
  add("Tokens per forward pass", std::move(caption), std::move(per_forward));
  for (const auto& dataset : datasets_of(comparison)) {
    std::vector<RunSummary> of_dataset;
    for (const RunSummary& run : all)
      if (run.run.dataset.name == dataset) of_dataset.push_back(run);
    add(several_datasets(comparison) ? "Tokens generated in a forward pass, " + dataset
                                     : "Tokens generated in a forward pass",
        str("Share of forward passes that generated so many tokens; ", size_of(of_dataset), "."),
        emitted_histogram(comparison, dataset));
  }
  for (const auto& dataset : datasets_of(comparison)) {
    NamedFigure attributes = attribute_figure(comparison, dataset);
    if (!attributes.figure.series.empty()) figures.push_back(std::move(attributes));
  }
  return figures;
}

}  // namespace pardec
