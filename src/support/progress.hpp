#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

enum class ProgressStyle { automatic, bar, plain, none };

/// `auto|bar|plain|none`. ConfigError: another name.
ProgressStyle parse_progress_style(std::string_view name);

/// Whether `fd` is a terminal that may be coloured: NO_COLOR is unset or empty, and TERM is not
/// "dumb".
bool may_colour(int fd);

struct TerminalSize {
  int columns = 80, rows = 24;
};
/// The size reported by the terminal of `fd`, otherwise COLUMNS and LINES.
TerminalSize terminal_size(int fd);

/// Shows the progress of long work on stderr: a bar that redraws itself on a terminal, otherwise
/// one line every 30 seconds. The destructor ends the line.
class Progress {
 public:
  /// `total` 0: unknown. `begun`: the amount done before.
  Progress(ProgressStyle style, std::string what, std::int64_t total, std::int64_t begun = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `note` follows the count, e.g. "2 failed · 812 tok/s". The remaining time is estimated from
  /// the time taken so far. A caller that knows better passes it as `left`, e.g. "0:40 left".
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
