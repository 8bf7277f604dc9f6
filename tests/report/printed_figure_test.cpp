// Figures in the form in which a paper prints them, of known measurements.
#include "src/report/printed_figure.hpp"

#include <cmath>
#include <map>
#include <numeric>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

namespace pardec {

namespace {

/// Values by dataset, category, arm and metric, in one text; all others are missing.
class Known : public Evidence {
 public:
  std::map<std::string, double> levels;
  std::map<std::string, std::vector<double>> answers;    // by arm
  std::map<std::string, std::vector<LoadWindow>> loads;  // by arm
  std::vector<std::string> datasets{"mt-bench"};

  std::vector<std::string> places() const override { return datasets; }
  std::vector<std::string> categories(const std::string&) const override {
    return {"coding", "writing"};
  }
  Found level(const Scope& place, const std::string& arm,
              const std::string& metric) const override {
    std::string key = place.dataset;
    for (const std::string& category : place.categories) key += " " + category;
    key += " " + arm + " " + metric;
    const auto found = levels.find(key);
    if (found == levels.end()) return {std::nullopt, key};
    const double value = found->second;
    return {Measured{{value, value - 0.1, value + 0.1}, 20, false, false}, ""};
  }
  Found ratio(const Scope& place, const std::string& arm, const std::string& other,
              const std::string& metric) const override {
    const double value = level(place, arm, metric).measured->value.estimate /
                         level(place, other, metric).measured->value.estimate;
    return {Measured{{value, NAN, NAN}, 20, false, false}, ""};
  }
  Found difference(const Scope&, const std::string&, const std::string&,
                   const std::string&) const override {
    return {};
  }
  std::optional<IdentityCount> identity(const Scope&, const std::string&, const std::string&,
                                        const std::string&) const override {
    return std::nullopt;
  }
  std::vector<double> values(const Scope&, const std::string& arm,
                             const std::string&) const override {
    const auto found = answers.find(arm);
    return found == answers.end() ? std::vector<double>{} : found->second;
  }
  std::vector<LoadWindow> load(const std::string&, const std::string& arm) const override {
    const auto found = loads.find(arm);
    return found == loads.end() ? std::vector<LoadWindow>{} : found->second;
  }
  Qualifiers qualifiers(const std::string&) const override { return {}; }
  std::vector<Caveat> caveats(const std::string& place, const std::vector<std::string>& arms,
                              const std::string&) const override {
    if (arms.front() != "cut") return {};
    return {{"hit_limit", place, "cut", "", Effect::unfit}};
  }
  double balance() const override { return NAN; }
};

/// An item with this figure. Its arms have the settings batch_size and stack.
PaperItem drawn_item(const Json& figure) {
  const test::TemporaryFolder folder;
  const auto arm = [](const char* label, int stack, int batch) {
    return Json{
        {"label", label}, {"name", "ar"}, {"set", {{"stack", stack}, {"batch_size", batch}}}};
  };
  const Json item{
      {"name", "hpd-figure4"},
      {"paper", {{"id", "hpd"}, {"item", "Figure 4"}, {"class", "A"}, {"measures", "speed"}}},
      {"published",
       {{"unit", "-"},
        {"source", "-"},
        {"setting", Json::object()},
        {"keys", {"a"}},
        {"datasets", {{"MT", "mt-bench"}}},
        {"cells", Json::array()},
        {"doubts", Json::array()}}},
      {"match", Json::object()},
      {"figure", figure},
      {"scales",
       {{"small",
         {{"decoders",
           {arm("b1", 1, 1), arm("b16", 2, 16), arm("b2", 2, 2), arm("b4", 1, 16),
            arm("cut", 1, 2)}}}},
        {"other", {{"decoders", {arm("away", 1, 1)}}}}}},
      {"claims", Json::array()}};
  write_file((folder.path() / "figure4.json").string(), item.dump());
  return read_paper_item(folder.path() / "figure4.json");
}

std::vector<std::pair<double, double>> places_of(const FigureSeries& series) {
  std::vector<std::pair<double, double>> all;
  for (const FigurePoint& point : series.points) all.emplace_back(point.x, point.y);
  return all;
}

using Places = std::vector<std::pair<double, double>>;

}  // namespace

TEST_CASE("lines are over the arms' settings, in ascending order") {
  Known known;
  known.levels = {{"mt-bench b1 speed", 10}, {"mt-bench b2 speed", 15}, {"mt-bench b16 speed", 40}};
  const PaperItem item =
      drawn_item({{"form", "lines"},
                  {"metric", "speed"},
                  {"along", "batch_size"},
                  {"series", {{{"name", "AR"}, {"arms", {"b16", "b1", "b2", "away"}}}}},
                  {"x_label", "batch"},
                  {"y_label", "tokens/s"},
                  {"note", "Another network"}});
  const auto figures = printed_figures(item, "small", known);
  REQUIRE(figures.size() == 1);
  const Figure& figure = figures[0].figure;
  CHECK(figure.kind == FigureKind::lines);
  CHECK(figure.categories == std::vector<std::string>{"1", "2", "16"});
  REQUIRE(figure.series.size() == 1);
  CHECK(figure.series[0].name == "AR");
  CHECK(places_of(figure.series[0]) == Places{{0, 10}, {1, 15}, {2, 40}});
  CHECK(figure.series[0].points[2].high == Approx(40.1));
  CHECK(figure.series[0].colour == 1);  // grey is for baselines
  CHECK(figure.x_label == "batch");
  CHECK(figures[0].heading == "hpd-figure4");
  CHECK_THAT(figures[0].caption, Catch::Contains("Figure 4: speed; measured here."));
  CHECK_THAT(figures[0].caption, Catch::Contains("95 % intervals. Another network."));
}

TEST_CASE("a time per token is the inverse of a speed") {
  Known known;
  known.levels = {{"mt-bench b1 decode_speed", 8}};
  const auto figures =
      printed_figures(drawn_item({{"form", "lines"},
                                  {"metric", "decode_speed"},
                                  {"along", "batch_size"},
                                  {"times", 1000},
                                  {"inverse", true},
                                  {"series", {{{"name", "AR"}, {"arms", {"b1"}}}}}}),
                      "small", known);
  const FigurePoint& point = figures.at(0).figure.series[0].points[0];
  CHECK(point.y == 125);
  CHECK(point.low == Approx(1000 / 8.1));
  CHECK(point.high == Approx(1000 / 7.9));
}

TEST_CASE("a heat map has a row and a column for each value of two settings") {
  Known known;
  known.levels = {
      {"mt-bench b1 speedup", 1}, {"mt-bench b16 speedup", 5}, {"mt-bench b2 speedup", 2}};
  const auto figures = printed_figures(
      drawn_item({{"form", "heat"},
                  {"metric", "speedup"},
                  {"along", "stack"},
                  {"by", "batch_size"},
                  {"series", {{{"name", "HPD"}, {"arms", {"b1", "b2", "b4", "b16"}}}}}}),
      "small", known);
  REQUIRE(figures.size() == 1);
  const Figure& figure = figures[0].figure;
  CHECK(figure.categories == std::vector<std::string>{"1", "2"});
  REQUIRE(figure.series.size() == 3);
  CHECK(figure.series[0].name == "1");
  CHECK(places_of(figure.series[0]) == Places{{0, 1}});
  CHECK(places_of(figure.series[1]) == Places{{1, 2}});
  CHECK(figure.series[2].name == "16");
  CHECK(places_of(figure.series[2]) == Places{{1, 5}});  // b4 has no value
  CHECK(figure.series[2].points[0].label == "5.00");
  CHECK_THAT(figures[0].caption, Catch::Contains("Not drawn, since it is missing: mt-bench b4"));
  CHECK_THAT(figures[0].caption, Catch::Contains("no arm of this scale has its settings"));
}

TEST_CASE("a stacked bar has a part for each outcome") {
  Known known;
  known.levels = {{"mt-bench b1 judge_wins", 0.3},
                  {"mt-bench b1 judge_ties", 0.5},
                  {"mt-bench b1 judge_losses", 0.2}};
  const Json parts{{{"name", "won"}, {"metric", "judge_wins"}},
                   {{"name", "tied"}, {"metric", "judge_ties"}},
                   {{"name", "lost"}, {"metric", "judge_losses"}}};
  const auto figures =
      printed_figures(drawn_item({{"form", "stacked"},
                                  {"parts", parts},
                                  {"times", 100},
                                  {"y_label", "% of the turns"},
                                  {"series", {{{"name", "SAR-SFT"}, {"arms", {"b1"}}}}}}),
                      "small", known);
  REQUIRE(figures.size() == 1);
  const Figure& figure = figures[0].figure;
  CHECK(figure.kind == FigureKind::stacked);
  CHECK(figure.categories == std::vector<std::string>{"SAR-SFT"});
  CHECK(figure.x_label == "% of the turns");
  REQUIRE(figure.series.size() == 3);
  CHECK(places_of(figure.series[0]) == Places{{0, 30}});
  CHECK(places_of(figure.series[1]) == Places{{0, 50}});
  CHECK(figure.series[2].name == "lost");
  CHECK(figure.series[2].points[0].label == "20.0");
}

TEST_CASE("bars are by category, with one for all, or by dataset") {
  Known known;
  known.levels = {{"mt-bench coding b1 tps", 30}, {"mt-bench writing b1 tps", 60},
                  {"mt-bench b1 tps", 50},        {"race b1 tps", 70},
                  {"mt-bench b2 tps", 25},        {"race b2 tps", 35}};
  const auto figure_of = [&](const char* along, const Json& arms) {
    return printed_figures(drawn_item({{"form", "bars"},
                                       {"metric", "tps"},
                                       {"along", along},
                                       {"series", {{{"name", "ASPD"}, {"arms", arms}}}}}),
                           "small", known)
        .at(0)
        .figure;
  };
  const Figure by_category = figure_of("category", "b1");
  CHECK(by_category.kind == FigureKind::bars);
  CHECK(by_category.categories == std::vector<std::string>{"coding", "writing", "all"});
  CHECK(places_of(by_category.series.at(0)) == Places{{0, 30}, {1, 60}, {2, 50}});
  known.datasets = {"mt-bench", "race"};
  const Figure by_dataset = figure_of("dataset", Json::array({Json::array({"b1", "b2"})}));
  CHECK(by_dataset.kind == FigureKind::columns);
  CHECK(by_dataset.categories == std::vector<std::string>{"mt-bench", "race"});
  CHECK(places_of(by_dataset.series.at(0)) == Places{{0, 2}, {1, 2}});
}

TEST_CASE("a density is over answers, and its name has the mean") {
  Known known;
  known.answers = {{"b1", {100, 200, 300}}, {"b2", {150, 150, 180, 400}}};
  const auto figures = printed_figures(drawn_item({{"form", "density"},
                                                   {"metric", "length"},
                                                   {"series",
                                                    {{{"name", "Original"}, {"arms", {"b1"}}},
                                                     {{"name", "APAR"}, {"arms", {"b2"}}},
                                                     {{"name", "Medusa"}, {"arms", {"b4"}}}}}}),
                                       "small", known);
  REQUIRE(figures.size() == 1);
  const Figure& figure = figures[0].figure;
  CHECK(figure.kind == FigureKind::curves);
  REQUIRE(figure.series.size() == 2);
  CHECK(figure.series[0].name == "Original, mean 200.0");
  CHECK(figure.series[1].name == "APAR, mean 220.0");
  for (const FigureSeries& curve : figure.series) {
    double area = 0;  // most of it lies within the axis
    for (std::size_t i = 1; i < curve.points.size(); ++i)
      area += curve.points[i].y * (curve.points[i].x - curve.points[i - 1].x);
    CHECK(area > 0.85);
    CHECK(area < 1.001);
  }
  CHECK(figure.series[0].points.front().x == 40);  // a fifth of the range below the least
  CHECK(figure.series[0].points.back().x == 460);
  CHECK_THAT(figures[0].caption, Catch::Contains("length of single answers of b4"));
}

TEST_CASE("throughput over the cache in use has the mean and the quartiles of windows") {
  Known known;
  known.loads = {{"b1", {{100, 10}, {110, 20}, {120, 30}, {130, 40}}}, {"b2", {{50.04, 7}}}};
  const auto figures = printed_figures(
      drawn_item({{"form", "cache"}, {"series", {{{"name", "AR"}, {"arms", {"b1", "b2", "b4"}}}}}}),
      "small", known);
  REQUIRE(figures.size() == 1);
  const std::vector<FigurePoint>& points = figures[0].figure.series.at(0).points;
  REQUIRE(points.size() == 2);
  CHECK(points[0].x == 50);  // three digits
  CHECK(points[0].y == 7);
  CHECK(points[1].x == 115);
  CHECK(points[1].y == 25);
  CHECK(points[1].low == 17.5);
  CHECK(points[1].high == 32.5);
  CHECK_THAT(figures[0].caption, Catch::Contains("windows of 3 seconds (1 to 4 of them); bars"));
  CHECK_THAT(figures[0].caption, Catch::Contains("full windows of 3 seconds of b4 on mt-bench"));
}

TEST_CASE("a scatter has intervals in both directions, and warnings are named") {
  Known known;
  known.levels = {{"mt-bench b1 judge_score", 7},
                  {"mt-bench b1 tps_speedup", 1.5},
                  {"mt-bench cut judge_score", 3},
                  {"mt-bench cut tps_speedup", 2}};
  const auto figures = printed_figures(
      drawn_item({{"form", "scatter"},
                  {"metric", "judge_score"},
                  {"along", "tps_speedup"},
                  {"series",
                   {{{"name", "ASPD"}, {"arms", {"b1"}}}, {{"name", "SoT"}, {"arms", {"cut"}}}}}}),
      "small", known);
  const FigurePoint& point = figures.at(0).figure.series.at(0).points.at(0);
  CHECK(point.x == 1.5);
  CHECK(point.x_high == Approx(1.6));
  CHECK(point.y == 7);
  CHECK_THAT(figures[0].caption, Catch::Contains("unfit: hit_limit (cut)."));
}

TEST_CASE("a figure without any value is left out; one that cannot be drawn is refused") {
  const Json series = Json::array({{{"name", "AR"}, {"arms", "b1"}}});
  CHECK(printed_figures(drawn_item({{"form", "stacked"},
                                    {"parts", {{{"name", "won"}, {"metric", "judge_wins"}}}},
                                    {"series", series}}),
                        "small", Known())
            .empty());
  CHECK_THROWS_WITH(drawn_item({{"form", "pie"}, {"series", series}}),
                    Catch::Contains("figure") && Catch::Contains("'pie'"));
  CHECK_THROWS_WITH(drawn_item({{"form", "lines"}, {"metric", "speed"}, {"series", series}}),
                    Catch::Contains("has no 'along', which its form needs"));
  CHECK_THROWS_WITH(
      drawn_item({{"form", "heat"}, {"metric", "speed"}, {"along", "stack"}, {"series", series}}),
      Catch::Contains("has no 'by'"));
  CHECK_THROWS_WITH(
      drawn_item({{"form", "bars"}, {"metric", "speed"}, {"along", "stack"}, {"series", series}}),
      Catch::Contains("expected category or dataset"));
  CHECK_THROWS_WITH(
      drawn_item({{"form", "cache"}, {"series", {{{"name", "AR"}, {"arms", {"b7"}}}}}}),
      Catch::Contains("names arm 'b7', which no scale has"));
}

}  // namespace pardec
