#pragma once
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// One value of a figure with its interval. Ends that are NaN are not drawn.
struct FigurePoint {
  double x = 0;  ///< a number, or the index of a category
  double y = 0;
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  std::string label = {};  ///< written next to the point; empty: nothing
  double x_low = std::numeric_limits<double>::quiet_NaN(), x_high = x_low;  ///< for `scatter`
};

struct FigureSeries {
  std::string name;
  std::vector<FigurePoint> points;
  /// index of the series' mark and colour, less than kMarks; 0 is grey, used for baselines
  int colour = 0;
};

/// Number of marks. They differ in shape as well as in colour, so that either is sufficient.
inline constexpr int kMarks = 12;

enum class FigureKind {
  lines,    ///< y over a numeric x, or over categories, with joined points
  columns,  ///< one bar per series at each category, from left to right
  rows,     ///< one dot with its interval per category, from top to bottom
  bars,     ///< one bar with its interval per category, from top to bottom
  scatter,  ///< one mark with its two intervals, y over x
};

/// A figure as a value. gnuplot draws it, from a script that includes the data.
struct Figure {
  FigureKind kind = FigureKind::lines;
  std::string title;
  std::string x_label, y_label;
  std::vector<std::string> categories;  ///< names of the categories; empty: x is a number
  std::vector<FigureSeries> series;
  std::vector<FigurePoint> front;  ///< for `scatter`: joined by a dashed line under the marks
  bool legend = true;  ///< shows the names of series next to the plot if there are at least two
  std::optional<double> reference;  ///< a dashed line at this value, e.g. 1 for a speedup
  bool from_zero = true;            ///< whether the axis of values begins at 0
  /// codes of warnings about some of the values; not drawn
  std::vector<std::string> warnings = {};
  /// Size in units of 1/96 inch. Long names and the legend are added to the width. Height 0:
  /// determined by the content.
  double width = 720, height = 0;
};

enum class FigureFormat { svg, pdf, png };

/// Determined by the file's extension. ConfigError: it is not .svg, .pdf or .png.
FigureFormat figure_format(const std::filesystem::path& file);

/// The script for gnuplot. It begins with the data, uses no file, and prints to standard output.
/// Texts are in double quotes with escapes, in which gnuplot replaces nothing.
std::string gnuplot_script(const Figure& figure, FigureFormat format);

/// Whether gnuplot can be started.
bool can_draw();

/// Draws the figure. ConfigError: gnuplot is missing (says what to install). RunError: gnuplot
/// failed. Leaves no files.
std::string draw(const Figure& figure, FigureFormat format);

/// Prepares an SVG made by `draw` for an HTML page: removes the prologue, adds `prefix` to its ids,
/// makes its colours variables of the page (--ink, --rule, --series-0 ...), and adds a text for
/// screen readers. Its minimum width keeps the text readable.
std::string inline_svg(std::string svg, std::string_view prefix, std::string_view description);

}  // namespace pardec
