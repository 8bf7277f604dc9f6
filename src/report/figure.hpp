#pragma once
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// One value of a figure with its interval [low, high]. NaN ends are not drawn.
struct FigurePoint {
  /// place of the value: a number, or the index of a category (see FigureKind)
  double x = 0;
  double y = 0;  ///< the value; for `rows`, `bars` and `stacked`, its axis is horizontal
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;  ///< interval of y
  std::string label = {};  ///< text next to the point; empty: no text
  double x_low = std::numeric_limits<double>::quiet_NaN(), x_high = x_low;  ///< interval of x
};

/// Values of a figure that are drawn with the same mark and colour, e.g. the values of one arm.
struct FigureSeries {
  std::string name;
  std::vector<FigurePoint> points;
  /// index of mark and colour, at least 0; 0 is grey, for baselines; the marks repeat: index kMarks
  /// looks like index 0
  int colour = 0;
};

/// Number of different marks. Marks differ both in shape and in colour, so that either is enough to
/// tell series apart.
inline constexpr int kMarks = 12;

/// The kinds of figures. In `columns`, `rows` and `bars`, each series has one bar or mark, with an
/// interval, for each category.
enum class FigureKind {
  lines,    ///< points joined by lines; x is a number or a category
  columns,  ///< upright bars; categories from left to right
  rows,     ///< marks; categories from top to bottom
  bars,     ///< bars from left to right; categories from top to bottom
  scatter,  ///< one mark for each point, with intervals in x and y; x is a number
  curves,   ///< lines without marks; x is a number
  /// one bar for each category, whose parts are the values of the series; categories from top to
  /// bottom
  stacked,
  /// A grid of coloured cells, with a label in each. Each series is a row, from top to bottom; x is
  /// the index of the column's category, and the value gives the colour.
  heat,
};

/// The content of a figure. gnuplot draws it from a script that includes the data.
struct Figure {
  FigureKind kind = FigureKind::lines;
  std::string title;  ///< empty: none
  /// Labels of the horizontal axis and of the vertical axis; empty: none. For `rows`, `bars` and
  /// `stacked`, x_label is about the values (FigurePoint::y), and y_label is not drawn.
  std::string x_label, y_label;
  std::string value_label = {};         ///< for `heat`: label of the colours
  std::vector<std::string> categories;  ///< names of the categories; empty: x is numeric
  std::vector<FigureSeries> series;
  /// for `scatter`: the Pareto front, points joined by a dashed line under the marks
  std::vector<FigurePoint> front;
  /// whether the names of series are shown next to the plot; `heat`, and a single series without a
  /// front, never have a legend
  bool legend = true;
  std::optional<double> reference;  ///< a dashed line at this value of y, e.g. 1 for a speedup
  bool from_zero = true;            ///< whether the axis of the values includes 0
  /// codes of warnings about values of the figure; not drawn
  std::vector<std::string> warnings = {};
  /// Size in units of 1/96 inch. Long names and the legend are added to the width. The height is at
  /// least the height of the legend. Height 0: determined by the content.
  double width = 720, height = 0;
};

enum class FigureFormat { svg, pdf, png };

/// The format for the file's extension. ConfigError: the extension is not .svg, .pdf or .png.
FigureFormat figure_format(const std::filesystem::path& file);

/// The gnuplot script of a figure. It begins with the data, reads no file, and draws to standard
/// output. All texts are escaped, so that gnuplot interprets no markup in them.
std::string gnuplot_script(const Figure& figure, FigureFormat format);

/// Whether gnuplot can be started. RunError: see run_child.
bool can_draw();

/// Draws the figure, and returns the bytes of the image. Leaves no files. ConfigError: gnuplot is
/// missing; the message says what to install. RunError: gnuplot cannot be started, or fails. Other
/// causes of a RunError: see run_child.
std::string draw(const Figure& figure, FigureFormat format);

/// Prepares an SVG from `draw` for an HTML page, and returns the result:
///   - The text before the <svg> element is removed.
///   - `prefix` is put before each id, so that the ids of several figures differ.
///   - Colours are replaced by CSS variables of the page (--ink, --rule, --series-0 ...).
///   - A minimum width keeps texts readable.
///   - `description` is added for screen readers.
///
/// The result is empty if `svg` has no <svg> element.
std::string inline_svg(std::string svg, std::string_view prefix, std::string_view description);

}  // namespace pardec
