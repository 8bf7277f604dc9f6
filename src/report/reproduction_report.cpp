#include "src/report/reproduction_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/report/comparison_notes.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/run_report.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

double number_in(const std::vector<Cell>& row, size_t column) {
  const auto& value = row[column].value;
  return value && value->is_number() ? value->get<double>() : std::nan("");
}

/// An item's published numbers next to the measured ones, one figure for each of its metrics.
std::vector<NamedFigure> published_figures(const ReproducedItem& of) {
  const std::vector<std::string>& keys = of.item->published.keys;
  const size_t published = keys.size(), measured = published + 1, interval = published + 2;
  if (of.table.columns.size() <= interval || of.table.columns[published].key != "published")
    return {};
  const size_t metric =
      static_cast<size_t>(std::find(keys.begin(), keys.end(), "metric") - keys.begin());
  std::map<std::string, Figure> figures;
  for (const auto& row : of.table.rows) {
    const double ours = number_in(row, measured), theirs = number_in(row, published);
    if (!std::isfinite(ours) || !std::isfinite(theirs)) continue;
    const std::string of_metric = metric < keys.size() ? row[metric].text : "";
    Figure& figure = figures[of_metric];
    if (figure.series.empty()) {
      figure.kind = FigureKind::rows;
      figure.width = 480;
      figure.x_label = of_metric.empty() ? of.item->published.unit : of_metric;
      figure.series = {{"published", {}, 0}, {"measured here", {}, 1}};
    }
    std::vector<std::string> names;
    for (size_t k = 0; k < keys.size(); ++k)
      if (k != metric) names.push_back(row[k].text);
    const auto place = static_cast<double>(figure.categories.size());
    figure.categories.push_back(join(names, ", "));
    figure.series[0].points.push_back({place, theirs});
    FigurePoint point{place, ours};
    if (const auto& ends = row[interval].value; ends && ends->is_array()) {
      point.low = ends->at(0).get<double>();
      point.high = ends->at(1).get<double>();
    }
    figure.series[1].points.push_back(point);
  }
  std::vector<NamedFigure> named;
  for (auto& [name, figure] : figures)
    named.push_back({str(of.item->name, name.empty() ? "" : ": " + name),
                     str(of.item->measures, "; what the paper prints, and what was measured here.",
                         " The table says in what the two differ."),
                     std::move(figure)});
  return named;
}

std::string counts_of(const std::vector<ReproducedItem>& items) {
  std::vector<const ClaimFinding*> findings;
  for (const ReproducedItem& item : items)
    for (const ClaimFinding& finding : item.findings) findings.push_back(&finding);
  return counts_text(findings);
}

}  // namespace

std::vector<ReportTable> reproduction_tables(const std::vector<ReproducedItem>& items) {
  std::vector<ReportTable> tables;
  if (Table claims = claims_table(items, "Claims"); !claims.rows.empty())
    tables.push_back({"verdicts", "Verdicts", std::move(claims), {}, /*filter=*/"verdict"});
  Table unmeasured;
  unmeasured.title = "Without a number that was measured";
  unmeasured.columns = {{"item"}, {"measures"}, {"why"}};
  unmeasured.columns.back().messages = true;
  for (const ReproducedItem& item : items) {
    if (item.table.rows.empty())
      unmeasured.rows.push_back({item.item->name, item.item->measures,
                                 item.table.notes.empty() ? "-" : join(item.table.notes, ". ")});
    else
      tables.push_back({str("published-", item.item->name), item.table.title, item.table});
  }
  if (!unmeasured.rows.empty()) tables.push_back({"published-none", unmeasured.title, unmeasured});
  return tables;
}

void add_items(Report& report, const std::vector<ReproducedItem>& items) {
  if (items.empty()) return;
  report.claims = reproduction_tables(items);
  const auto own = std::ssize(report.figures);
  std::vector<NamedFigure> printed;
  for (const ReproducedItem& item : items)
    printed.insert(printed.end(), item.figures.begin(), item.figures.end());
  add_figures(report, printed);
  std::rotate(report.figures.begin(), report.figures.begin() + own, report.figures.end());
}

void ReproductionReport::add_run(const Comparison& comparison) {
  if (std::find(runs_.begin(), runs_.end(), comparison.invocation) != runs_.end()) return;
  runs_.push_back(comparison.invocation);
  const RunRow& first = comparison.arms.front().run.run;
  const std::string name = first.experiment ? first.experiment->name : first.invocation;
  for (NamedFigure& figure : comparison_figures(comparison)) {
    figure.heading = str(name, ": ", figure.heading);
    of_runs_.push_back(std::move(figure));
  }
  FactGroup facts{name, {}};
  const auto add = [&](const std::string& what, const std::string& value, bool message = false) {
    if (std::none_of(facts.facts.begin(), facts.facts.end(),
                     [&](const Fact& fact) { return fact.name == what && fact.value == value; }))
      facts.facts.push_back({what, value, message});
  };
  add("id", first.invocation);
  add("its own page",
      str("pardec report `db` ", shell_word(comparison.db), " `run` ", first.invocation),
      /*message=*/true);
  for (const ArmFinding& arm : comparison.arms) add("network", arm.run.run.model.path);
  add("computed in", str(first.dtype, ", ", first.device, ", ", counted(first.threads, "thread")));
  for (const ArmFinding& arm : comparison.arms) add("data", shown_name(arm.run.run.dataset));
  for (const ArmFinding& arm : comparison.arms)
    add("arm", str(arm.run.run.label, ": ", arm.run.run.decoder, " ", dump(arm.run.run.options)));
  report_.facts.push_back(std::move(facts));
}

Report ReproductionReport::of(const std::vector<ReproducedItem>& items) && {
  std::vector<NamedFigure> figures;
  for (const ReproducedItem& item : items)
    figures.insert(figures.end(), item.figures.begin(), item.figures.end());
  for (const ReproducedItem& item : items)
    for (NamedFigure& figure : published_figures(item)) figures.push_back(std::move(figure));
  for (NamedFigure& figure : of_runs_) figures.push_back(std::move(figure));
  report_.title = items.size() == 1 ? items.front().table.title
                                    : counted(std::ssize(items), "item") + " of papers, reproduced";
  report_.subtitle = counts_of(items);
  if (std::any_of(items.begin(), items.end(), [](const ReproducedItem& item) {
        return std::any_of(item.findings.begin(), item.findings.end(),
                           [](const ClaimFinding& finding) { return finding.unexpected(); });
      }))
    report_.marks.emplace_back("A claim is decided otherwise than expected (marked by !).");
  report_.claims = reproduction_tables(items);
  add_figures(report_, figures);
  return std::move(report_);
}

}  // namespace pardec
