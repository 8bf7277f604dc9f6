#include "src/report/figure.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include "src/report/html.hpp"
#include "src/report/table.hpp"
#include "src/support/child_program.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

/// Grey for the baseline, Okabe and Ito's colours, then Tol's muted ones. Colour-blind readers can
/// tell them apart, and all have different shapes.
constexpr std::array<const char*, kMarks> kPalette{"#6b7280", "#0072b2", "#d55e00", "#009e73",
                                                   "#cc79a7", "#e69f00", "#56b4e9", "#882255",
                                                   "#332288", "#999933", "#117733", "#aa4499"};
/// gnuplot's point types: six filled ones, then the same ones open.
constexpr std::array<int, kMarks> kShapes{7, 5, 9, 13, 11, 15, 6, 4, 8, 12, 10, 14};
constexpr const char* kInk = "#1f2933";
constexpr const char* kRule = "#d3d8de";
/// Texts on coloured areas, which are the same in the page's dark scheme: on strong and on light
/// colours.
constexpr const char *kOnColour = "#ffffff", *kOnLight = "#1f2932";
/// Colours of a heat map, from the lowest value to the highest.
constexpr const char *kLowest = "#e8eef4", *kHighest = "#00507d";

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.8g", value);
  return std::isfinite(value) ? text : "NaN";
}

/// A text in double quotes with escapes, for places where gnuplot does not interpret it further.
/// gnuplot's single quotes cannot contain two quotes in a row. Control characters become spaces.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : repair_utf8(text)) {
    if (c == '"')
      out += "\\042";
    else if (c == '\\')
      out += "\\134";
    else if (c == '`')
      out += "\\140";
    else
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  return out + "\"";
}

/// A name at a tic: gnuplot truncates it after 49 bytes, possibly within a character.
std::string at_tic(std::string_view category) {
  constexpr std::size_t kMost = 49;
  const std::string_view dots = "…";
  std::string text = repair_utf8(category);
  if (text.size() <= kMost) return text;
  std::size_t end = kMost - dots.size();
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end).append(dots);
}

std::string colour(const FigureSeries& series) {
  return kPalette[static_cast<std::size_t>(series.colour) % kPalette.size()];
}

int shape(const FigureSeries& series) {
  return kShapes[static_cast<std::size_t>(series.colour) % kShapes.size()];
}

bool lies(const Figure& figure) {
  return figure.kind == FigureKind::rows || figure.kind == FigureKind::bars ||
         figure.kind == FigureKind::stacked;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Range positions(const Figure& figure) {
  Range range;
  for (const auto& series : figure.series)
    for (const auto& point : series.points)
      for (const double value : {point.x, point.x_low, point.x_high}) range.add(value);
  return range.low <= range.high ? range : Range{0, 1};
}

/// The largest number of series with a mark at the same place.
std::size_t marks_at_a_place(const Figure& figure) {
  std::map<double, std::size_t> marks;
  std::size_t most = 0;
  for (const auto& series : figure.series)
    for (const auto& point : series.points) most = std::max(most, ++marks[point.x]);
  return most;
}

/// Whether marks of several series at the same place stay there.
bool shares_places(FigureKind kind) {
  return kind == FigureKind::scatter || kind == FigureKind::curves || kind == FigureKind::stacked ||
         kind == FigureKind::heat;
}

/// The offset of the marks of series `s` from their place. Marks are side by side around the
/// middle, so that no interval hides another.
double offset(const Figure& figure, std::size_t s) {
  if (marks_at_a_place(figure) < 2 || shares_places(figure.kind) ||
      (figure.kind == FigureKind::lines && !figure.categories.empty()))
    return 0;
  const auto count = static_cast<double>(figure.series.size());
  const Range x = positions(figure);
  const double width = figure.kind == FigureKind::lines
                           ? 0.012 * count * (x.high > x.low ? x.high - x.low : 2)
                           : 0.84;
  return width * ((static_cast<double>(s) + 0.5) / count - 0.5);
}

double thickness(const Figure& figure) {
  if (figure.kind == FigureKind::stacked) return 0.56;
  return marks_at_a_place(figure) < 2 ? 0.56 : 0.72 / static_cast<double>(figure.series.size());
}

/// In columns; 0: no mark has a label.
int widest_label(const Figure& figure) {
  int most = 0;
  for (const auto& series : figure.series)
    for (const auto& point : series.points) most = std::max(most, display_width(point.label));
  return most;
}

bool has_legend(const Figure& figure) {
  return figure.legend && figure.kind != FigureKind::heat &&
         (figure.series.size() > 1 || !figure.front.empty());
}

constexpr std::string_view kFrontName = "Pareto front";

/// The largest width of some names, in columns.
template <typename Names, typename Name>
double widest(const Names& names, const Name& name) {
  int most = 0;
  for (const auto& one : names) most = std::max(most, display_width(name(one)));
  return most;
}

double widest_name(const Figure& figure) {
  const double series = widest(figure.series, [](const auto& one) { return one.name; });
  return figure.front.empty() ? series : std::max(series, 1.0 * std::ssize(kFrontName));
}

double widest_category(const Figure& figure) {
  return widest(figure.categories, [](const auto& one) { return at_tic(one); });
}

constexpr double kLetter = 7.2, kLine = 20;  // size of a letter and a line in the legend

/// Width including the names and legend next to the plot.
double width_of(const Figure& figure) {
  const double beside = has_legend(figure) ? 44 + kLetter * widest_name(figure) : 0;
  return figure.width + beside +
         (lies(figure) ? kLetter * std::max(0.0, widest_category(figure) - 14) : 0);
}

/// The given height, otherwise determined by the content and at least that of the legend.
double height_of(const Figure& figure) {
  const double legend =
      has_legend(figure) ? 110 + kLine * (1.0 * std::ssize(figure.series) + !figure.front.empty())
                         : 0;
  if (figure.height > 0) return std::max(legend, figure.height);
  if (figure.kind == FigureKind::heat)
    return 120 + 52.0 * static_cast<double>(figure.series.size());
  if (figure.kind == FigureKind::stacked)
    return std::max(legend, 96 + 34.0 * static_cast<double>(figure.categories.size()));
  if (!lies(figure)) return std::max(legend, 360.0);
  const double per_mark = figure.kind == FigureKind::bars ? 17 : widest_label(figure) > 0 ? 20 : 13;
  const double per_row = std::max(
      26.0,
      per_mark * static_cast<double>(marks_at_a_place(figure) < 2 ? 1 : figure.series.size()));
  return std::max(legend, 82 + per_row * static_cast<double>(figure.categories.size()));
}

std::string terminal(const Figure& figure, FigureFormat format) {
  const double width = width_of(figure), height = height_of(figure);
  switch (format) {
    case FigureFormat::svg:
      return str("set terminal svg noenhanced size ", number(width), ",", number(height),
                 " dynamic font 'Helvetica,13' linewidth 1.2\n");
    case FigureFormat::pdf:
      return str("set terminal pdfcairo noenhanced size ", number(width / 96), ",",
                 number(height / 96), " font 'DejaVu Sans,9' linewidth 1.2\n");
    case FigureFormat::png:
      return str("set terminal pngcairo noenhanced size ", number(2 * width), ",",
                 number(2 * height), " fontscale 2 font 'DejaVu Sans,9' linewidth 2.4\n");
  }
  return "";
}

/// The part of a bar that a point of series `s` is: from the sum of the series before it.
Range part_of_bar(const Figure& figure, std::size_t s, const FigurePoint& point) {
  double begin = 0;
  for (std::size_t before = 0; before < s; ++before)
    for (const FigurePoint& other : figure.series[before].points)
      if (other.x == point.x && std::isfinite(other.y)) begin += other.y;
  return {begin, begin + point.y};
}

/// Data blocks $series0 ...: position, value, low, high; for `scatter` also the horizontal low and
/// high. For `stacked`, low and high are the ends of the part.
std::string data(const Figure& figure) {
  std::string out;
  if (!figure.front.empty()) {
    out += "$front << END\n";
    for (const FigurePoint& point : figure.front)
      out += str(number(point.x), " ", number(point.y), "\n");
    out += "END\n";
  }
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    out += str("$series", s, " << END\n");
    for (const FigurePoint& point : figure.series[s].points) {
      const Range part = figure.kind == FigureKind::stacked ? part_of_bar(figure, s, point)
                                                            : Range{point.low, point.high};
      out += str(number(point.x + offset(figure, s)), " ", number(point.y), " ", number(part.low),
                 " ", number(part.high),
                 figure.kind == FigureKind::scatter
                     ? str(" ", number(point.x_low), " ", number(point.x_high))
                     : "",
                 "\n");
    }
    out += "END\n";
  }
  return out;
}

Range values(const Figure& figure) {
  Range range;
  for (std::size_t s = 0; s < figure.series.size(); ++s)
    for (const auto& point : figure.series[s].points) {
      for (const double value : {point.y, point.low, point.high}) range.add(value);
      if (figure.kind == FigureKind::stacked) range.add(part_of_bar(figure, s, point).high);
    }
  if (figure.reference) range.add(*figure.reference);
  if (figure.from_zero) range.add(0);
  if (!(range.low <= range.high)) return {0, 1};
  if (range.low == range.high) range.high += 1;
  return range;
}

/// Labels of the marks as gnuplot labels. For horizontal figures, they are in a column at the right
/// end, where they cannot cover a mark or line; otherwise above the mark.
std::string labels(const Figure& figure) {
  std::string out;
  for (std::size_t s = 0; s < figure.series.size(); ++s)
    for (const FigurePoint& point : figure.series[s].points) {
      if (point.label.empty() || !std::isfinite(point.y)) continue;
      if (figure.kind == FigureKind::stacked) {
        const Range part = part_of_bar(figure, s, point);
        out += str("set label ", in_quotes(point.label), " at first ",
                   number((part.low + part.high) / 2), ",", number(point.x),
                   " center front textcolor rgb '", kOnColour, "'\n");
        continue;
      }
      if (figure.kind == FigureKind::heat) {
        const Range all = values(figure);
        const bool dark = point.y - all.low > 0.55 * (all.high - all.low);
        out += str("set label ", in_quotes(point.label), " at first ", number(point.x), ",", s,
                   " center front textcolor rgb '", dark ? kOnColour : kOnLight, "'\n");
        continue;
      }
      const double across = point.x + offset(figure, s);
      const double end = std::isfinite(point.high) ? point.high : point.y;
      out += lies(figure)
                 ? str("set label ", in_quotes(point.label), " at graph 1, first ", number(across),
                       " right front textcolor rgb '", kInk, "'\n")
                 : str("set label ", in_quotes(point.label), " at first ", number(across), ",",
                       number(end), " center offset 0,0.7 front textcolor rgb '", kInk, "'\n");
    }
  return out;
}

std::string named_tics(const std::vector<std::string>& names) {
  std::vector<std::string> tics;
  // A % would begin a format here.
  for (std::size_t c = 0; c < names.size(); ++c)
    tics.push_back(str(in_quotes(replace_all(at_tic(names[c]), "%", "%%")), " ", c));
  return "(" + join(tics, ", ") + ")";
}

/// Tics at these numbers, unless their texts could overlap.
std::string number_tics(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<std::string> at;
  std::size_t widest = 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (!at.empty()) nearest = std::min(nearest, value - values[at.size() - 1]);
    at.push_back(number(value));
    widest = std::max(widest, at.back().size());
  }
  const bool apart = values.size() < 2 ||
                     nearest * 72 > (values.back() - values.front()) * static_cast<double>(widest);
  return values.size() <= 12 && apart ? "(" + join(at, ", ") + ")" : "";
}

std::string axes(const Figure& figure) {
  const Range range = values(figure);
  const double span = range.high - range.low;
  const double low = figure.from_zero && range.low >= 0 ? 0 : range.low - 0.05 * span;
  std::string out;
  const auto line = [&](const auto&... parts) { out += str(parts..., "\n"); };
  const std::string ink = str(" textcolor rgb '", kInk, "'");
  if (figure.kind == FigureKind::heat) {
    std::vector<std::string> rows;
    for (const FigureSeries& series : figure.series) rows.push_back(series.name);
    line("set xrange [-0.5:", number(static_cast<double>(figure.categories.size()) - 0.5), "]");
    line("set yrange [", number(static_cast<double>(rows.size()) - 0.5), ":-0.5]");
    line("set xtics scale 0 nomirror ", named_tics(figure.categories), ink);
    line("set ytics scale 0 nomirror ", named_tics(rows), ink);
    line("set cbtics scale 0", ink);
    line("set border 0");
    line("set palette defined (0 '", kLowest, "', 1 '", kHighest, "')");
    line("set cbrange [", number(range.low), ":", number(range.high), "]");
    line("set colorbox noborder");
    if (!figure.value_label.empty()) line("set cblabel ", in_quotes(figure.value_label), ink);
  } else if (lies(figure)) {
    const double count = static_cast<double>(figure.categories.size());
    line("set yrange [", number(count - 0.4), ":-0.6]");
    line("set xrange [", number(low), ":",
         number(range.high + (figure.kind == FigureKind::stacked
                                  ? 0.02  // labels are in the bars
                                  : std::max(widest_label(figure) > 0 ? 0.2 : 0.05,
                                             0.05 + 0.025 * widest_label(figure))) *
                                 span),
         "]");
    line("set ytics scale 0 ", named_tics(figure.categories), ink);
    line("set xtics scale 0 nomirror", ink);
    line("set grid xtics noytics linetype 1 linecolor rgb '", kRule, "' linewidth 0.6");
    line("set border 0");
    if (figure.reference)
      line("set arrow from first ", number(*figure.reference), ", graph 0 to first ",
           number(*figure.reference), ", graph 1 nohead dashtype 2 linecolor rgb '", kInk,
           "' back");
  } else {
    line("set yrange [", number(low), ":", number(range.high + 0.12 * span), "]");
    if (!figure.categories.empty()) {
      line("set xrange [-0.6:", number(static_cast<double>(figure.categories.size()) - 0.4), "]");
      line("set xtics scale 0 nomirror ", named_tics(figure.categories), ink);
    } else {
      const Range x = positions(figure);
      const double margin = x.low == x.high ? 1 : 0.05 * (x.high - x.low);
      line("set xrange [", number(x.low - margin), ":", number(x.high + margin), "]");
      std::vector<double> at;
      for (const auto& series : figure.series)
        for (const auto& point : series.points) at.push_back(point.x);
      line("set xtics scale 0 nomirror ", figure.kind == FigureKind::lines ? number_tics(at) : "",
           ink);
    }
    line("set ytics scale 0 nomirror", ink);
    line("set grid ytics ", figure.kind == FigureKind::scatter ? "xtics" : "noxtics",
         " linetype 1 linecolor rgb '", kRule, "' linewidth 0.6");
    line("set border 1 linecolor rgb '", kRule, "'");
    if (figure.reference)
      line("set arrow from graph 0, first ", number(*figure.reference), " to graph 1, first ",
           number(*figure.reference), " nohead dashtype 2 linecolor rgb '", kInk, "' back");
  }
  if (!figure.x_label.empty()) line("set xlabel ", in_quotes(figure.x_label), ink);
  if (!figure.y_label.empty() && !lies(figure)) line("set ylabel ", in_quotes(figure.y_label), ink);
  return out;
}

/// The plot command: for each series one mark, and one interval if there are any.
std::string plots(const Figure& figure) {
  std::vector<std::string> parts;
  if (!figure.front.empty())
    parts.push_back(str("$front using 1:2 with lines dashtype 2 linewidth 1.4 linecolor rgb '",
                        kInk, "' title ", in_quotes(kFrontName)));
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    const FigureSeries& series = figure.series[s];
    const std::string of = str("$series", s), rgb = str(" linecolor rgb '", colour(series), "'");
    const std::string title = has_legend(figure) ? " title " + in_quotes(series.name) : " notitle";
    const bool intervals =
        std::any_of(series.points.begin(), series.points.end(),
                    [](const auto& p) { return std::isfinite(p.low) && std::isfinite(p.high); });
    const std::string half = number(thickness(figure) / 2);
    switch (figure.kind) {
      case FigureKind::lines:
        if (intervals)
          parts.push_back(of + " using 1:2:3:4 with yerrorbars pointtype 0" + rgb +
                          " linewidth 1.4 notitle");
        parts.push_back(str(of, " using 1:2 with linespoints pointtype ", shape(series),
                            " pointsize 0.8 linewidth 1.8", rgb, title));
        break;
      case FigureKind::curves:
        parts.push_back(
            str(of, " using 1:2 with lines dashtype ", s + 1, " linewidth 2", rgb, title));
        break;
      case FigureKind::stacked:
        parts.push_back(of + " using (0):1:3:4:($1-" + half + "):($1+" + half +
                        ") with boxxyerror fillstyle solid 0.9 noborder" + rgb + title);
        break;
      case FigureKind::heat:
        parts.push_back(str(of, " using 1:(", s, "):($1-0.49):($1+0.49):(", s, "-0.47):(", s,
                            "+0.47):2 with boxxyerror fillstyle solid 1 noborder fillcolor "
                            "palette notitle"));
        break;
      case FigureKind::scatter:
        // Thin, so that the marks of many arms stay readable.
        if (intervals)
          parts.push_back(of + " using 1:2:3:4 with yerrorbars pointtype 0" + rgb +
                          " linewidth 0.8 notitle");
        if (std::any_of(series.points.begin(), series.points.end(),
                        [](const auto& p) { return std::isfinite(p.x_low); }))
          parts.push_back(of + " using 1:2:5:6 with xerrorbars pointtype 0" + rgb +
                          " linewidth 0.8 notitle");
        parts.push_back(str(of, " using 1:2 with points pointtype ", shape(series),
                            " pointsize 1.1 linewidth 1.6", rgb, title));
        break;
      case FigureKind::columns:
        parts.push_back(of + " using 1:(0):($1-" + half + "):($1+" + half +
                        "):(0):2 with boxxyerror fillstyle solid 0.9 noborder" + rgb + title);
        if (intervals)
          parts.push_back(of + " using 1:2:3:4 with yerrorbars pointtype 0 linecolor rgb '" + kInk +
                          "' linewidth 1.2 notitle");
        break;
      case FigureKind::rows:
        if (intervals)
          parts.push_back(of + " using 2:1:3:4 with xerrorbars pointtype 0" + rgb +
                          " linewidth 1.8 notitle");
        parts.push_back(str(of, " using 2:1 with points pointtype ", shape(series),
                            " pointsize 0.9 linewidth 1.4", rgb, title));
        break;
      case FigureKind::bars:
        parts.push_back(of + " using (0):1:(0):2:($1-" + half + "):($1+" + half +
                        ") with boxxyerror fillstyle solid 0.9 noborder" + rgb + title);
        if (intervals)
          parts.push_back(of + " using 2:1:3:4 with xerrorbars pointtype 0 linecolor rgb '" + kInk +
                          "' linewidth 1.2 notitle");
        break;
    }
  }
  return "plot " + join(parts, ", \\\n     ") + "\n";
}

/// Ignores the user's settings.
ChildRun run_gnuplot(const std::string& script) { return run_child({"gnuplot", "-d"}, script); }

}  // namespace

FigureFormat figure_format(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".svg") return FigureFormat::svg;
  if (ending == ".pdf") return FigureFormat::pdf;
  if (ending == ".png") return FigureFormat::png;
  throw ConfigError(str(file.string(), ": ends with '", ending, "', expected .svg, .pdf or .png"));
}

std::string gnuplot_script(const Figure& figure, FigureFormat format) {
  std::string out = data(figure) + terminal(figure, format);
  const auto line = [&](const auto&... parts) { out += str(parts..., "\n"); };
  line("set encoding utf8");
  line("set bars 0.7");
  // otherwise a point without an interval would have one that ends at 0
  line("set datafile missing NaN");
  if (!figure.title.empty()) {
    const int size = format == FigureFormat::svg ? 15 : 10;
    line("set label ", in_quotes(figure.title), " at graph 0, graph 1 left offset 0,1.6 font ',",
         size, "' textcolor rgb '", kInk, "'");
    line("set tmargin 4");
  }
  if (lies(figure)) line("set lmargin ", std::max(4.0, widest_category(figure)) + 1);
  if (has_legend(figure)) {
    line("set rmargin ", widest_name(figure) + 6);
    line(
        "set key outside right top vertical reverse Left samplen 1.5 spacing 1 maxcols 1 "
        "textcolor rgb '",
        kInk, "'");
  } else {
    line("set rmargin ", figure.kind == FigureKind::heat ? 12 : 3);
    line("unset key");
  }
  return out + axes(figure) + labels(figure) + plots(figure);
}

bool can_draw() { return run_gnuplot("exit\n").good(); }

std::string draw(const Figure& figure, FigureFormat format) {
  const ChildRun drawn = run_gnuplot(gnuplot_script(figure, format));
  if (drawn.error == ENOENT)
    throw ConfigError(
        "gnuplot is missing, it draws the figures; install it: apt-get install gnuplot-nox");
  if (drawn.error != 0)
    throw RunError(str("gnuplot cannot be started: ", std::strerror(drawn.error)));
  if (drawn.status != 0 || drawn.out.empty())
    throw RunError(str("gnuplot failed: ", strip(drawn.complaint)));
  return drawn.out;
}

std::string inline_svg(std::string svg, std::string_view prefix, std::string_view description) {
  const std::size_t begin = svg.find("<svg");
  const std::size_t open_end = svg.find('>', begin), body = open_end + 1;
  if (begin == std::string::npos || open_end == std::string::npos) return "";
  std::string head = svg.substr(begin, open_end - begin), view = "0 0 720 360";
  if (const auto at = head.find("viewBox=\""); at != std::string::npos)
    view = head.substr(at + 9, head.find('"', at + 9) - at - 9);
  svg = svg.substr(body);
  for (const char* attribute : {"title", "desc"}) {  // written by gnuplot, not about the figure
    const auto from = svg.find(str("<", attribute, ">")), to = svg.find(str("</", attribute, ">"));
    if (from != std::string::npos && to != std::string::npos)
      svg.erase(from, to - from + std::strlen(attribute) + 3);
  }
  svg = replace_all(svg, "xlink:href", "href");
  svg = replace_all(svg, "id='gp", str("id='", prefix, "gp"));
  svg = replace_all(svg, "id=\"", str("id=\"", prefix));
  svg = replace_all(svg, "href='#", str("href='#", prefix));
  svg = replace_all(svg, "url(#", str("url(#", prefix));
  svg = replace_all(svg, "font-family=\"Helvetica\"", "font-family=\"inherit\"");
  // Discs under the middle of error bars, which would also be white in the dark scheme.
  svg = replace_all(svg, "color='white'", "visibility='hidden'");
  const auto variable = [&](const char* hex, const std::string& name) {
    unsigned red = 0, green = 0, blue = 0;
    std::sscanf(hex, "#%2x%2x%2x", &red, &green, &blue);
    char text[40];
    for (const char* form : {"rgb(%3u, %3u, %3u)", "rgb(%u,%u,%u)"}) {  // of lines and of texts
      std::snprintf(text, sizeof text, form, red, green, blue);
      svg = replace_all(svg, text, str("var(--", name, ")"));
    }
  };
  variable(kInk, "ink");
  variable(kRule, "rule");
  for (std::size_t i = 0; i < kPalette.size(); ++i) variable(kPalette[i], str("series-", i));
  double width = 720;
  std::sscanf(view.c_str(), "%*f %*f %lf", &width);
  return str("<svg viewBox=\"", view, "\" style=\"width:", number(width),
             "px;min-width:", number(std::round(0.8 * width)), "px\" role=\"img\" aria-label=\"",
             escape_html(description), "\">", svg);
}

}  // namespace pardec
