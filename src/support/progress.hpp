#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

enum class ProgressStyle { automatic, bar, plain, none };

/// `auto|bar|plain|none`; anything else is a ConfigError.
ProgressStyle parse_progress_style(std::string_view name);

/// True when `fd` is a terminal that may be coloured: NO_COLOR unset or empty, TERM not "dumb".
bool may_colour(int fd);

struct TerminalSize {
  int columns = 80, rows = 24;
};
/// As the terminal of `fd` says, else as COLUMNS and LINES do.
TerminalSize terminal_size(int fd);

/// How far long work is, on stderr: a bar that redraws itself on a terminal, else one line each 30
/// seconds. The destructor ends the line.
class Progress {
 public:
  /// `total` 0: not known. `begun`: how much was done before.
  Progress(ProgressStyle style, std::string what, std::int64_t total, std::int64_t begun = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `note` follows the count, e.g. "2 failed · 812 tok/s". How long is left is told by how long
  /// all took that was done, or is `left`, e.g. "0:40 left", where the caller knows better.
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
