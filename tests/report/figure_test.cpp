#include "src/report/figure.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

Figure sweep() {
  Figure figure;
  figure.title = "speedup over hpd.k_max: it's `date` @x \"q\"";
  figure.x_label = "hpd.k_max";
  figure.y_label = "speedup";
  figure.series = {{"oa-mine", {{8, 2.5, 2.25, 2.75}, {30, 3, 2.5, 3.5}}, 1},
                   {"ae-110k", {{8, 1.5, 1.25, 1.75}, {30, 2, 1.5, 2.5}}, 2}};
  figure.reference = 1;
  return figure;
}

Figure dots() {
  Figure figure;
  figure.kind = FigureKind::rows;
  figure.categories = {"oa-mine", "ae-110k"};
  figure.series = {{"hpd", {{0, 2.5, 2.25, 2.75, "2.50"}, {1, 3, 2.5, 3.5, "3.00"}}, 1}};
  figure.reference = 1;
  return figure;
}

/// 30 % won, 50 % tied and 20 % lost in MT-Bench; 100 % won in Vicuna Bench.
Figure shares() {
  Figure figure;
  figure.kind = FigureKind::stacked;
  figure.categories = {"mt-bench", "vicuna-bench"};
  figure.series = {{"won", {{0, 30, NAN, NAN, "30"}, {1, 100, NAN, NAN, "100"}}, 1},
                   {"tied", {{0, 50, NAN, NAN, "50"}}, 0},
                   {"lost", {{0, 20, NAN, NAN, "20"}}, 2}};
  return figure;
}

/// Speedups of one and two products in a prompt, and one and four prompts at a time.
Figure grid() {
  Figure figure;
  figure.kind = FigureKind::heat;
  figure.categories = {"1", "2"};
  figure.series = {{"1", {{0, 1.5, NAN, NAN, "1.50"}, {1, 2.5, NAN, NAN, "2.50"}}},
                   {"4", {{0, 2, NAN, NAN, "2.00"}, {1, 5.5, NAN, NAN, "5.50"}}}};
  figure.value_label = "speedup";
  figure.from_zero = false;
  return figure;
}

/// Sets an environment variable for a while.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name), old_(std::getenv(name)) {
    setenv(name, value, 1);
  }
  ~Variable() { setenv(name_, old_.c_str(), 1); }

 private:
  const char* name_;
  std::string old_;
};

}  // namespace

TEST_CASE("a figure's script is the golden one") {
  const std::string golden = str(PARDEC_SOURCE_DIR, "/tests/golden/figure.gnuplot");
  std::string expected = read_file(golden);
  expected.erase(0, expected.find('\n') + 1);  // where it comes from
  const std::string script =
      gnuplot_script(sweep(), FigureFormat::svg) + gnuplot_script(dots(), FigureFormat::png);
  CHECK(script == expected);
}

TEST_CASE("texts are in quotes, in which gnuplot replaces nothing") {
  const std::string script = gnuplot_script(sweep(), FigureFormat::pdf);
  CHECK_THAT(script,
             Catch::Contains(R"("speedup over hpd.k_max: it's \140date\140 @x \042q\042")"));
  Figure lines = sweep();
  lines.title = "two\nlines\x01";
  CHECK_THAT(gnuplot_script(lines, FigureFormat::svg), Catch::Contains("\"two lines \""));
}

TEST_CASE("any text is drawn literally, at any place") {
  if (!can_draw()) {
    std::cout << "[skipped] gnuplot is missing\n";
    return;
  }
  const std::string label = R"(it''s '''' "" \\ \n `date` @x %d 50% %% {/B}_a^2)";
  for (const FigureKind kind :
       {FigureKind::rows, FigureKind::bars, FigureKind::columns, FigureKind::lines,
        FigureKind::scatter, FigureKind::curves, FigureKind::stacked, FigureKind::heat}) {
    const bool numbers =
        kind == FigureKind::lines || kind == FigureKind::scatter || kind == FigureKind::curves;
    Figure figure = numbers ? sweep() : dots();
    figure.kind = kind;
    figure.title = figure.x_label = figure.y_label = figure.series[0].name = label;
    for (auto& category : figure.categories) category = label;
    for (auto& point : figure.series[0].points) point.label = label;
    figure.series = {figure.series[0], figure.series[0]};
    const std::string svg = draw(figure, FigureFormat::svg);
    size_t shown = 0;
    for (size_t at = svg.find("it''s"); at != std::string::npos; at = svg.find("it''s", at + 1)) {
      ++shown;
      CHECK(svg.substr(at, svg.find("</text>", at) - at) == label);
    }
    CHECK(shown >= 6);
  }
  Figure rude = dots();
  rude.categories[0] = std::string("a\x1B[2J\0b\x7F", 8);
  CHECK_THAT(draw(rude, FigureFormat::svg), Catch::Contains(">a [2J b <"));
  rude.categories[0] = "a";
  for (int i = 0; i < 30; ++i) rude.categories[0] += "é";
  CHECK_THAT(draw(rude, FigureFormat::svg), Catch::Contains("éé…<"));
}

TEST_CASE("the format follows from the file's ending") {
  CHECK(figure_format("a/b.svg") == FigureFormat::svg);
  CHECK(figure_format("b.pdf") == FigureFormat::pdf);
  CHECK(figure_format("b.png") == FigureFormat::png);
  CHECK_THROWS_AS(figure_format("b.jpg"), ConfigError);
  CHECK_THROWS_AS(figure_format("svg"), ConfigError);
}

TEST_CASE("without gnuplot the error says what to install") {
  const Variable path("PATH", "/nonexistent");
  CHECK_FALSE(can_draw());
  CHECK_THROWS_WITH(draw(sweep(), FigureFormat::svg), Catch::Contains("gnuplot-nox"));
  CHECK_THROWS_AS(draw(sweep(), FigureFormat::svg), ConfigError);
}

TEST_CASE("gnuplot draws every kind in every format") {
  if (!can_draw()) {
    std::cout << "[skipped] gnuplot is missing\n";
    return;
  }
  Figure bars = dots();
  bars.kind = FigureKind::bars;
  Figure columns = dots();
  columns.kind = FigureKind::columns;
  Figure single = sweep();  // one point, no interval
  single.series = {{"a", {{8, 2.5}}, 1}};
  Figure scatter = sweep();
  scatter.kind = FigureKind::scatter;
  scatter.series[0].points[0].x_low = 7, scatter.series[0].points[0].x_high = 10;
  scatter.front = {{8, 2.5}, {30, 2}};
  Figure classes = columns;  // lines over categories
  classes.kind = FigureKind::lines;
  Figure curves = sweep();
  curves.kind = FigureKind::curves;
  for (const Figure& figure : {sweep(), dots(), bars, columns, single, scatter, classes, curves,
                               shares(), grid(), Figure{}}) {
    if (figure.series.empty()) {
      CHECK_THROWS_AS(draw(figure, FigureFormat::svg), Error);
      continue;
    }
    CHECK_THAT(draw(figure, FigureFormat::svg), Catch::Contains("</svg>"));
    CHECK(draw(figure, FigureFormat::pdf).starts_with("%PDF"));
    CHECK(draw(figure, FigureFormat::png).substr(1, 3) == "PNG");
  }
  // As literal text, not as gnuplot could interpret it.
  CHECK_THAT(draw(sweep(), FigureFormat::svg), Catch::Contains("`date` @x"));
}

TEST_CASE("the parts of a stacked bar follow one another") {
  const std::string script = gnuplot_script(shares(), FigureFormat::svg);
  // position, value, and the two ends of the part
  CHECK_THAT(script, Catch::Contains("$series0 << END\n0 30 0 30\n1 100 0 100\nEND"));
  CHECK_THAT(script, Catch::Contains("$series1 << END\n0 50 30 80\nEND"));
  CHECK_THAT(script, Catch::Contains("$series2 << END\n0 20 80 100\nEND"));
  CHECK_THAT(script, Catch::Contains("set xrange [0:102]"));
  CHECK_THAT(script, Catch::Contains("set label \"20\" at first 90,0 center"));
}

TEST_CASE("the cells of a heat map have the colours of their values, and labels") {
  const std::string script = gnuplot_script(grid(), FigureFormat::svg);
  CHECK_THAT(script, Catch::Contains("set cbrange [1.5:5.5]"));
  CHECK_THAT(script, Catch::Contains("set cblabel \"speedup\""));
  CHECK_THAT(script, Catch::Contains("set xtics scale 0 nomirror (\"1\" 0, \"2\" 1)"));
  CHECK_THAT(script, Catch::Contains("set ytics scale 0 nomirror (\"1\" 0, \"4\" 1)"));
  CHECK_THAT(script, Catch::Contains("set label \"5.50\" at first 1,1 center front textcolor rgb "
                                     "'#ffffff'"));
  CHECK_THAT(script, Catch::Contains("set label \"2.00\" at first 0,1 center front textcolor rgb "
                                     "'#1f2932'"));
  if (!can_draw()) {
    std::cout << "[skipped] gnuplot is missing\n";
    return;
  }
  const std::string svg = draw(grid(), FigureFormat::svg);
  std::vector<std::string> fills;  // by row, from left to right
  for (auto at = svg.find("polygon fill = 'rgb(", svg.find("gnuplot_plot_1"));
       at != std::string::npos && fills.size() < 4; at = svg.find("polygon fill = 'rgb(", at + 1))
    fills.push_back(svg.substr(at + 16, svg.find(')', at) - at - 15));
  CHECK(fills == std::vector<std::string>{"rgb(232, 238, 244)", "rgb(174, 199, 214)",
                                          "rgb(203, 218, 229)", "rgb(  0,  80, 125)"});
}

TEST_CASE("tics are at the points unless their texts could overlap") {
  CHECK_THAT(gnuplot_script(sweep(), FigureFormat::svg),
             Catch::Contains("set xtics scale 0 nomirror (8, 30)"));
  Figure close = sweep();
  close.series = {{"a", {{1, 1}, {2, 1}, {128, 1}}, 1}};
  CHECK_THAT(gnuplot_script(close, FigureFormat::svg),
             Catch::Contains("set xtics scale 0 nomirror  textcolor"));
}

TEST_CASE("a value without an interval has no end marks") {
  if (!can_draw()) {
    std::cout << "[skipped] gnuplot is missing\n";
    return;
  }
  // Strokes of the first plot, that of the intervals; for columns and bars, that of the bars.
  const auto strokes = [](const Figure& figure) {
    const std::string svg = draw(figure, FigureFormat::svg);
    const bool bars = figure.kind == FigureKind::bars || figure.kind == FigureKind::columns;
    const auto begin = svg.find(str("id=\"gnuplot_plot_", bars ? 2 : 1));
    REQUIRE(begin != std::string::npos);
    const std::string plot = svg.substr(begin, svg.find("<g id=", begin) - begin);
    size_t count = 0;
    for (const std::string& line : split(plot, 'M')) count += line.find(" L") != std::string::npos;
    return count;
  };
  for (const FigureKind kind : {FigureKind::rows, FigureKind::bars, FigureKind::columns,
                                FigureKind::lines, FigureKind::scatter}) {
    Figure both = kind == FigureKind::lines || kind == FigureKind::scatter ? sweep() : dots();
    both.kind = kind;
    both.series.resize(1);
    Figure one = both;
    one.series[0].points[1].low = one.series[0].points[1].high = std::nan("");
    CAPTURE(static_cast<int>(kind), gnuplot_script(one, FigureFormat::svg));
    CHECK(strokes(one) + 3 == strokes(both));  // a line and its two ends
  }
}

TEST_CASE("twelve series have marks that differ in shape and in colour") {
  Figure figure;
  for (int s = 0; s < kMarks; ++s) figure.series.push_back({str("arm ", s), {{1.0 * s, 1}}, s});
  const std::string script = gnuplot_script(figure, FigureFormat::svg);
  std::set<std::string> shapes, colours;
  for (const std::string& line : split(script, '\n'))
    for (const auto& [word, found] :
         {std::pair{"pointtype ", &shapes}, {"linecolor rgb ", &colours}})
      if (const auto at = line.find(word);
          at != std::string::npos && line.find("$series") != std::string::npos)
        found->insert(line.substr(at, line.find(' ', at + std::strlen(word)) - at));
  CHECK(shapes.size() == kMarks);
  CHECK(colours.size() == kMarks);
}

TEST_CASE("an SVG inside a page has its own ids, the page's colours and no address") {
  if (!can_draw()) {
    std::cout << "[skipped] gnuplot is missing\n";
    return;
  }
  const std::string svg = inline_svg(draw(sweep(), FigureFormat::svg), "f1-", "speed \"over\" <k>");
  CHECK(svg.starts_with("<svg viewBox=\""));
  CHECK_THAT(svg, Catch::Contains("aria-label=\"speed &quot;over&quot; &lt;k&gt;\""));
  CHECK_THAT(svg, Catch::Contains("var(--series-1)"));
  CHECK_THAT(svg, Catch::Contains("var(--ink)"));
  CHECK_THAT(svg, Catch::Contains("id='f1-gp"));
  CHECK(svg.find("id='gp") == std::string::npos);
  CHECK(svg.find("http") == std::string::npos);
  CHECK(svg.find("rgb(") == std::string::npos);
}
