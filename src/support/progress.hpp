#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

/// How progress is shown on stderr.
enum class ProgressStyle {
  /// bar if stderr is a terminal, TERM is not "dumb", and no launcher (launch.hpp) started this
  /// process; otherwise plain
  automatic,
  bar,    ///< one line that is redrawn
  plain,  ///< a new line every 30 seconds
  none,   ///< nothing is shown
};

/// Parses auto, bar, plain or none. ConfigError: another name.
ProgressStyle parse_progress_style(std::string_view name);

/// Whether colours may be used on `fd`: it is a terminal, NO_COLOR is unset or empty, TERM is not
/// "dumb", and no launcher (launch.hpp) started this process. (mpirun gives each process a
/// terminal, even if mpirun's own output goes to a file.)
bool may_colour(int fd);

/// The size of a terminal, in characters.
struct TerminalSize {
  int columns = 80, rows = 24;
};
/// The size that the terminal of `fd` reports. A number that the terminal does not report is taken
/// from $COLUMNS or $LINES, or, if the variable is not set, is 80 columns or 24 rows.
TerminalSize terminal_size(int fd);

/// Shows the progress of long work on stderr. The destructor shows the last state, with the total
/// time, unless the style is `none`.
class Progress {
 public:
  /// `what`: a text before the count. `total`: the amount of work, including `begun`; 0: unknown.
  /// `begun`: the amount that was done before; it does not affect the estimate of the remaining
  /// time.
  Progress(ProgressStyle style, std::string what, std::int64_t total, std::int64_t begun = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the new state if the last drawing is old enough (0.1 s for a bar, otherwise 30 s).
  /// `done`: the amount that is done, including `begun`. `note`: text after the count, e.g.
  /// "2 failed · 812 tok/s". `left`: text about the remaining time, e.g. "0:40 left"; empty: no
  /// such text; none: the remaining time is estimated from the time so far.
  void update(std::int64_t done, const std::string& note,
              const std::optional<std::string>& left = std::nullopt);

 private:
  void draw(bool last);

  ProgressStyle style_;
  std::string what_, note_;
  std::optional<std::string> left_;
  std::int64_t total_, begun_, done_;
  std::int64_t started_ns_, drawn_ns_ = 0;
  bool drawn_ = false;
};

}  // namespace pardec
