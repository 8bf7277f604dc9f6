#include "src/report/printed_figure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "metrics/statistics.hpp"
#include "src/report/metric_title.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using PrintedForm = PrintedFigure::Form;

/// Short text of a number on a mark.
std::string mark_text(double value) {
  const double size = std::abs(value);
  return fixed(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

double rounded(double value) {  // to three significant digits
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / unit) * unit;
}

void sort_by_place(FigureSeries& series) {
  std::sort(series.points.begin(), series.points.end(),
            [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
}

/// The drawing of one panel.
class Panel {
 public:
  Panel(const PaperItem& item, const PrintedFigure& printed, const Json& scale,
        const Evidence& evidence)
      : item_(item), printed_(printed), evidence_(evidence) {
    for (const Json& arm : scale.value("decoders", Json::array()))
      settings_[arm.value("label", arm.value("name", ""))] = arm.value("set", Json::object());
    for (const std::string& place : evidence.places())
      if (printed.in.empty() ||
          std::find(printed.in.begin(), printed.in.end(), place) != printed.in.end())
        datasets_.push_back(place);
  }

  std::vector<NamedFigure> drawn() {
    std::vector<NamedFigure> all;
    const auto add = [&](Figure figure, const std::string& metric, const std::string& dataset) {
      std::erase_if(figure.series, [](const FigureSeries& one) { return one.points.empty(); });
      if (!figure.series.empty()) all.push_back(named(std::move(figure), metric, dataset));
      lacks_.clear();
      intervals_ = empty_cells_ = false;
      unfit_.clear();
    };
    // Stacked bars and the cache have no metric of their own.
    const bool with_metric =
        printed_.form != PrintedForm::stacked && printed_.form != PrintedForm::cache;
    const bool by_dataset = with_metric && printed_.along == "dataset";
    const std::vector<std::string> none{""};
    const bool together = by_dataset || printed_.form == PrintedForm::stacked;
    for (const std::string& metric : with_metric ? printed_.metrics : none)
      for (const std::string& dataset : together ? none : datasets_)
        add(by_dataset ? bars(metric, dataset) : panel(metric, dataset), metric, dataset);
    return all;
  }

 private:
  Figure panel(const std::string& metric, const std::string& dataset) {
    switch (printed_.form) {
      case PrintedForm::lines:
        return lines(metric, dataset);
      case PrintedForm::bars:
        return bars(metric, dataset);
      case PrintedForm::stacked:
        return stacked();
      case PrintedForm::heat:
        return heat(metric, dataset);
      case PrintedForm::density:
        return density(metric, dataset);
      case PrintedForm::scatter:
        return scatter(metric, dataset);
      case PrintedForm::cache:
        return cache(dataset);
    }
    return {};
  }

  /// The quantity of an arm, or none; what is missing is kept for the caption.
  std::optional<Interval> value(const Scope& place, const Point& of, const std::string& metric) {
    const Found found = of.over.empty() ? evidence_.level(place, of.arm, metric)
                                        : evidence_.ratio(place, of.arm, of.over, metric);
    if (!found.measured) {
      lacks_.insert(found.lacks);
      return std::nullopt;
    }
    std::vector<std::string> arms{of.arm};
    if (!of.over.empty()) arms.push_back(of.over);
    for (const Caveat& caveat : evidence_.caveats(place.dataset, arms, metric))
      if (caveat.effect == Effect::unfit) unfit_.insert(str(caveat.code, " (", of.arm, ")"));
    Interval value = found.measured->value;
    for (double* end : {&value.estimate, &value.low, &value.high})
      *end = printed_.inverse ? printed_.times / *end : printed_.times * *end;
    if (printed_.inverse) std::swap(value.low, value.high);
    intervals_ = intervals_ || std::isfinite(value.low);
    return value;
  }

  /// A setting of an arm at this scale; none: the scale has no such arm, or the arm does not set
  /// it.
  std::optional<double> setting(const std::string& arm, const std::string& key) const {
    const auto found = settings_.find(arm);
    if (found == settings_.end() || !found->second.contains(key)) return std::nullopt;
    const Json& value = found->second.at(key);
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  }
  /// Scales without arms count or compute; their evidence is the same for all arms.
  bool has(const Point& point) const { return settings_.empty() || settings_.contains(point.arm); }

  /// The values of a setting over all arms, ascending.
  std::vector<double> settings_of(const std::string& key) const {
    std::set<double> all;
    for (const PrintedFigure::Series& series : printed_.series)
      for (const Point& arm : series.arms)
        if (const auto one = setting(arm.arm, key)) all.insert(*one);
    return {all.begin(), all.end()};
  }
  static std::vector<std::string> texts_of(const std::vector<double>& numbers) {
    std::vector<std::string> texts;
    for (const double one : numbers) texts.push_back(str(one));
    return texts;
  }
  static double index_of(const std::vector<double>& all, double one) {
    return static_cast<double>(std::find(all.begin(), all.end(), one) - all.begin());
  }

  /// Grey is for the first of several series, which is the baseline.
  int colour(std::size_t s) const {
    return static_cast<int>(printed_.series.size() > 1 ? s : s + 1);
  }

  Figure begun(FigureKind kind) const {
    Figure figure;
    figure.kind = kind;
    figure.width = 480;
    figure.x_label = printed_.x_label;
    figure.y_label = printed_.y_label;
    return figure;
  }
  static FigurePoint point_of(double x, const Interval& value, bool labelled) {
    return {x, value.estimate, value.low, value.high,
            labelled ? mark_text(value.estimate) : std::string()};
  }

  Figure lines(const std::string& metric, const std::string& dataset) {
    Figure figure = begun(FigureKind::lines);
    const std::vector<double> settings = settings_of(printed_.along);
    figure.categories = texts_of(settings);
    for (const PrintedFigure::Series& series : printed_.series) {
      FigureSeries line{series.name, {}, colour(figure.series.size())};
      for (const Point& arm : series.arms)
        if (const auto x = setting(arm.arm, printed_.along))
          if (const auto y = value({dataset}, arm, metric))
            line.points.push_back(point_of(index_of(settings, *x), *y, false));
      sort_by_place(line);
      figure.series.push_back(std::move(line));
    }
    return figure;
  }

  /// Without a dataset: groups are the datasets.
  Figure bars(const std::string& metric, const std::string& dataset) {
    Figure figure = begun(dataset.empty() ? FigureKind::columns : FigureKind::bars);
    std::vector<Scope> groups;
    if (dataset.empty()) {
      for (const std::string& one : datasets_) groups.push_back({one});
      figure.categories = datasets_;
    } else {
      for (const std::string& category : evidence_.categories(dataset)) {
        groups.push_back({dataset, {category}});
        figure.categories.push_back(category);
      }
      groups.push_back({dataset});
      figure.categories.emplace_back("all");
      figure.x_label = printed_.y_label;
    }
    for (const PrintedFigure::Series& series : printed_.series) {
      FigureSeries added{series.name, {}, colour(figure.series.size())};
      for (const Point& arm : series.arms)
        for (std::size_t g = 0; has(arm) && g < groups.size(); ++g)
          if (const auto y = value(groups[g], arm, metric))
            added.points.push_back(point_of(static_cast<double>(g), *y, !dataset.empty()));
      figure.series.push_back(std::move(added));
    }
    return figure;
  }

  /// One bar per arm and dataset.
  Figure stacked() {
    Figure figure = begun(FigureKind::stacked);
    figure.x_label = printed_.y_label;
    for (std::size_t p = 0; p < printed_.parts.size(); ++p)  // grey is in the middle, e.g. ties
      figure.series.push_back({printed_.parts[p].name, {}, static_cast<int>(p < 2 ? 1 - p : p)});
    for (const std::string& dataset : datasets_)
      for (const PrintedFigure::Series& series : printed_.series)
        for (const Point& arm : series.arms) {
          const auto place = static_cast<double>(figure.categories.size());
          bool any = false;
          for (std::size_t p = 0; has(arm) && p < printed_.parts.size(); ++p)
            if (const auto share =
                    value({dataset}, {arm.arm, "", "", {}}, printed_.parts[p].metric)) {
              any = true;
              // Parts of less than 4 % have no room for a number.
              FigurePoint part{place, share->estimate};
              if (share->estimate >= 0.04 * printed_.times) part.label = mark_text(share->estimate);
              figure.series[p].points.push_back(std::move(part));
            }
          if (any)
            figure.categories.push_back(datasets_.size() > 1 ? str(series.name, ", ", dataset)
                                                             : series.name);
        }
    intervals_ = false;  // not drawn
    return figure;
  }

  Figure heat(const std::string& metric, const std::string& dataset) {
    Figure figure = begun(FigureKind::heat);
    figure.from_zero = false;
    figure.value_label = metric_title(metric);
    const std::vector<double> columns = settings_of(printed_.along),
                              rows = settings_of(printed_.by);
    figure.categories = texts_of(columns);
    for (const double row : rows) figure.series.push_back({str(row), {}});
    std::set<std::pair<double, double>> cells;
    for (const PrintedFigure::Series& series : printed_.series)
      for (const Point& arm : series.arms) {
        const auto x = setting(arm.arm, printed_.along), y = setting(arm.arm, printed_.by);
        if (!x || !y) continue;
        cells.insert({*x, *y});
        if (const auto z = value({dataset}, arm, metric))
          figure.series[static_cast<std::size_t>(index_of(rows, *y))].points.push_back(
              {index_of(columns, *x), z->estimate, NAN, NAN, mark_text(z->estimate)});
      }
    empty_cells_ = cells.size() < columns.size() * rows.size();
    intervals_ = false;
    return figure;
  }

  Figure density(const std::string& metric, const std::string& dataset) {
    Figure figure = begun(FigureKind::curves);
    std::vector<std::vector<double>> samples;
    double least = INFINITY, most = -INFINITY;
    for (const PrintedFigure::Series& series : printed_.series) {
      auto& all = samples.emplace_back();
      for (const Point& arm : series.arms)
        for (const double one : evidence_.values({dataset}, arm.arm, metric)) {
          all.push_back(one * printed_.times);
          least = std::min(least, all.back()), most = std::max(most, all.back());
        }
      if (all.empty() && has(series.arms.front()))
        lacks_.insert(str(metric, " of single answers of ", series.arms.front().arm));
    }
    const double margin = 0.2 * (most - least);
    constexpr int kPlaces = 200;
    std::vector<double> places;
    for (int i = 0; i <= kPlaces; ++i)
      places.push_back(std::max(0.0, least - margin) +
                       (most + margin - std::max(0.0, least - margin)) * i / kPlaces);
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const std::vector<double> heights = kernel_density(samples[s], places);
      const double mean = std::accumulate(samples[s].begin(), samples[s].end(), 0.0) /
                          static_cast<double>(samples[s].size());
      FigureSeries curve{
          str(printed_.series[s].name, ", mean ", fixed(mean, 1)), {}, static_cast<int>(s)};
      for (std::size_t i = 0; i < heights.size(); ++i)
        curve.points.push_back({places[i], heights[i]});
      figure.series.push_back(std::move(curve));
    }
    return figure;
  }

  Figure scatter(const std::string& metric, const std::string& dataset) {
    Figure figure = begun(FigureKind::scatter);
    figure.from_zero = false;
    for (const PrintedFigure::Series& series : printed_.series) {
      FigureSeries marks{series.name, {}, colour(figure.series.size())};
      for (const Point& arm : series.arms) {
        if (!has(arm)) continue;
        const auto x = value({dataset}, arm, printed_.along), y = value({dataset}, arm, metric);
        if (!x || !y) continue;
        FigurePoint mark = point_of(x->estimate, *y, false);
        mark.x_low = x->low, mark.x_high = x->high;
        marks.points.push_back(mark);
      }
      figure.series.push_back(std::move(marks));
    }
    return figure;
  }

  Figure cache(const std::string& dataset) {
    fewest_ = std::numeric_limits<std::ptrdiff_t>::max(), most_ = 0;
    Figure figure = begun(FigureKind::lines);
    for (const PrintedFigure::Series& series : printed_.series) {
      FigureSeries line{series.name, {}, colour(figure.series.size())};
      for (const Point& arm : series.arms) {
        if (!has(arm)) continue;
        const std::vector<LoadWindow> windows = evidence_.load(dataset, arm.arm);
        if (windows.empty()) {
          lacks_.insert(str("full windows of 3 seconds of ", arm.arm, " on ", dataset));
          continue;
        }
        double rows = 0, speed = 0;
        std::vector<double> speeds;
        for (const LoadWindow& one : windows) {
          rows += one.cached_rows, speed += one.tokens_per_second;
          speeds.push_back(one.tokens_per_second);
        }
        const auto count = static_cast<double>(windows.size());
        line.points.push_back(
            {rounded(rows / count), speed / count, quantile(speeds, 0.25), quantile(speeds, 0.75)});
        fewest_ = std::min(fewest_, std::ssize(windows));
        most_ = std::max(most_, std::ssize(windows));
        intervals_ = true;
      }
      sort_by_place(line);
      figure.series.push_back(std::move(line));
    }
    return figure;
  }

  NamedFigure named(Figure figure, const std::string& metric, const std::string& dataset) const {
    const std::string title = metric_title(metric);
    if (metric.ends_with("speedup") && figure.kind != FigureKind::heat) figure.reference = 1;
    if (figure.y_label.empty()) figure.y_label = title;
    std::vector<std::string> heading{item_.name};
    if (!printed_.title.empty()) heading.push_back(printed_.title);
    if (printed_.metrics.size() > 1) heading.push_back(title);
    if (!dataset.empty() && datasets_.size() > 1) heading.push_back(dataset);
    std::string caption =
        str("As in the paper's ", item_.item, ": ", item_.measures, "; measured here.");
    if (intervals_)
      caption += printed_.form == PrintedForm::cache
                     ? str(" Marks: means over windows of 3 seconds (", fewest_,
                           fewest_ < most_ ? str(" to ", most_) : "",
                           " of them); bars: from the 25 % to the 75 % quantile.")
                     : std::string(" Bars at marks: 95 % intervals.");
    if (empty_cells_) caption += " A cell is empty if no arm of this scale has its settings.";
    if (!printed_.note.empty()) caption += str(" ", printed_.note, ".");
    if (!unfit_.empty())
      caption += str(" Warnings make some of these numbers unfit: ",
                     join({unfit_.begin(), unfit_.end()}, ", "), ".");
    if (!lacks_.empty())
      caption +=
          str(" Not drawn, since it is missing: ", join({lacks_.begin(), lacks_.end()}, "; "), ".");
    return {join(heading, ", "), std::move(caption), std::move(figure)};
  }

  const PaperItem& item_;
  const PrintedFigure& printed_;
  const Evidence& evidence_;
  std::map<std::string, Json> settings_;  // of the scale's arms, by label
  std::vector<std::string> datasets_;
  // About the figure that is being drawn.
  std::set<std::string> lacks_, unfit_;
  bool intervals_ = false, empty_cells_ = false;
  std::ptrdiff_t fewest_ = std::numeric_limits<std::ptrdiff_t>::max(), most_ = 0;  // windows
};

}  // namespace

std::vector<NamedFigure> printed_figures(const PaperItem& item, const std::string& scale,
                                         const Evidence& evidence) {
  std::vector<NamedFigure> all;
  const Json spec = item.scale(scale);
  for (const PrintedFigure& printed : item.figures)
    for (NamedFigure& figure : Panel(item, printed, spec, evidence).drawn())
      all.push_back(std::move(figure));
  return all;
}

}  // namespace pardec
