#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

enum class ProgressStyle { automatic, bar, plain, none };

/// Parses auto, bar, plain or none. ConfigError: another name.
ProgressStyle parse_progress_style(std::string_view name);

/// Whether colours may be used on `fd`: it is a terminal, NO_COLOR is unset or empty, and TERM is
/// not "dumb".
bool may_colour(int fd);

struct TerminalSize {
  int columns = 80, rows = 24;
};
/// The size that the terminal of `fd` reports, or else $COLUMNS and $LINES.
TerminalSize terminal_size(int fd);

/// Shows the progress of long work on stderr: a bar on a terminal, otherwise one line every 30
/// seconds. The destructor ends the line.
class Progress {
 public:
  /// `total`: 0 if unknown. `begun`: the amount that was done before.
  Progress(ProgressStyle style, std::string what, std::int64_t total, std::int64_t begun = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `note`: text after the count, e.g. "2 failed · 812 tok/s". `left`: text about the remaining
  /// time, e.g. "0:40 left"; none: it is estimated from the time so far.
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
