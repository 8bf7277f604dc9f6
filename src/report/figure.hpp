#pragma once
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// One value of a figure with its interval; ends that are NaN are not drawn.
struct FigurePoint {
  double x = 0;  ///< a number, or the index of a category
  double y = 0;
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  std::string label = {};  ///< written beside the point; empty: nothing
  double x_low = std::numeric_limits<double>::quiet_NaN(), x_high = x_low;  ///< of `scatter`
};

struct FigureSeries {
  std::string name;
  std::vector<FigurePoint> points;
  int colour = 0;  ///< of kMarks; 0 is grey, for baselines
};

/// Marks that are told apart by shape alone, and by colour alone.
inline constexpr int kMarks = 12;

enum class FigureKind {
  lines,    ///< y over a numeric x, or over categories, points joined
  columns,  ///< a bar a series at each category, from left to right
  rows,     ///< a dot with its interval a category, from top to bottom
  bars,     ///< a bar with its interval a category, from top to bottom
  scatter,  ///< a mark with its two intervals, y over x
};

/// A figure as a value. gnuplot draws it, from a script that holds its data.
struct Figure {
  FigureKind kind = FigureKind::lines;
  std::string title;
  std::string x_label, y_label;
  std::vector<std::string> categories;  ///< names of the categories; empty: x is a number
  std::vector<FigureSeries> series;
  std::vector<FigurePoint> front;   ///< joined by a dashed line beneath the marks, of `scatter`
  bool legend = true;               ///< names of two series and more, beside the plot
  std::optional<double> reference;  ///< a dashed line at this value, e.g. 1 for a speedup
  bool from_zero = true;            ///< the axis of values begins at 0
  std::vector<std::string> warnings = {};  ///< codes that hold for some of it; not drawn
  /// In points of 1/96 inch. Long names and the legend come beside this width; height 0: by
  /// content.
  double width = 720, height = 0;
};

enum class FigureFormat { svg, pdf, png };

/// By the ending of a file's name; ConfigError for others than .svg, .pdf, .png.
FigureFormat figure_format(const std::filesystem::path& file);

/// The script that gnuplot gets: begins with its data, uses no file, and prints to standard output.
/// Texts stand in single quotes, in which gnuplot replaces nothing.
std::string gnuplot_script(const Figure& figure, FigureFormat format);

/// True where gnuplot can be started.
bool can_draw();

/// The figure drawn. ConfigError when gnuplot is missing (what to install), RunError when it fails.
/// Makes no file that outlives the call.
std::string draw(const Figure& figure, FigureFormat format);

/// An SVG by `draw` made part of an HTML page: without prologue, with `prefix` before its ids, its
/// colours as variables of the page (--ink, --rule, --series-0 ...), and a text for screen readers.
/// It is not made narrower than its words can be read at.
std::string inline_svg(std::string svg, std::string_view prefix, std::string_view description);

}  // namespace pardec
