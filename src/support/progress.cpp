#include "src/support/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "src/support/clock.hpp"
#include "src/support/error.hpp"
#include "src/support/launch.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

ProgressStyle parse_progress_style(std::string_view name) {
  if (name == "auto") return ProgressStyle::automatic;
  if (name == "bar") return ProgressStyle::bar;
  if (name == "plain") return ProgressStyle::plain;
  if (name == "none") return ProgressStyle::none;
  throw ConfigError(str("`progress` is '", name, "', expected auto, bar, plain or none"));
}

namespace {

/// Whether a person looks at `fd`. mpirun gives each process a terminal that nobody looks at.
bool is_watched(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) && !(term && std::string_view(term) == "dumb") && !launch().together;
}

}  // namespace

bool may_colour(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_watched(fd) && !(no_colour && *no_colour);
}

TerminalSize terminal_size(int fd) {
  TerminalSize size;
  winsize said{};
  ::ioctl(fd, TIOCGWINSZ, &said);  // a terminal that does not know its size reports zeros
  const auto choose = [](int& value, int from_terminal, const char* variable) {
    const char* set = std::getenv(variable);
    const int given = set ? std::atoi(set) : 0;
    if (from_terminal > 0)
      value = from_terminal;
    else if (given > 0)
      value = given;
  };
  choose(size.columns, said.ws_col, "COLUMNS");
  choose(size.rows, said.ws_row, "LINES");
  return size;
}

namespace {

constexpr std::int64_t kBarEvery = 100'000'000, kPlainEvery = 30'000'000'000;

}  // namespace

Progress::Progress(ProgressStyle style, std::string what, std::int64_t total, std::int64_t begun)
    : style_(style),
      what_(std::move(what)),
      total_(total),
      begun_(begun),
      done_(begun),
      started_ns_(SteadyClock().now_ns()) {
  if (style_ == ProgressStyle::automatic) {
    style_ = is_watched(STDERR_FILENO) ? ProgressStyle::bar : ProgressStyle::plain;
  }
  drawn_ns_ = started_ns_;
}

Progress::~Progress() {
  if (style_ != ProgressStyle::none) draw(true);
}

void Progress::update(std::int64_t done, const std::string& note,
                      const std::optional<std::string>& left) {
  done_ = done;
  note_ = note;
  left_ = left;
  if (style_ == ProgressStyle::none) return;
  const std::int64_t now = SteadyClock().now_ns();
  if (now - drawn_ns_ < (style_ == ProgressStyle::bar ? kBarEvery : kPlainEvery)) return;
  drawn_ns_ = now;
  draw(false);
}

void Progress::draw(bool last) {
  const double seconds = static_cast<double>(SteadyClock().now_ns() - started_ns_) * 1e-9;
  std::string line = str(what_, " ", done_);
  if (total_ > 0) line += str("/", total_);
  if (!note_.empty()) line += " · " + visible_text(note_);
  if (last)
    line += " · " + duration(static_cast<std::int64_t>(seconds)) + " in all";
  else if (left_)
    line += left_->empty() ? "" : " · " + *left_;
  else if (done_ > begun_ && done_ < total_)
    line += " · " +
            duration(static_cast<std::int64_t>(seconds / static_cast<double>(done_ - begun_) *
                                                   static_cast<double>(total_ - done_) +
                                               0.5)) +
            " left";
  if (style_ == ProgressStyle::plain) {
    std::fprintf(stderr, "%s\n", line.c_str());
    return;
  }
  const int width =
      std::clamp(terminal_size(STDERR_FILENO).columns - static_cast<int>(line.size()) - 4, 0, 30);
  std::string bar;
  if (width >= 8) {
    const int full =
        total_ > 0 ? static_cast<int>(width * std::min(done_, total_) / total_) : width;
    bar = "[" + std::string(static_cast<size_t>(full), '#') +
          std::string(static_cast<size_t>(width - full), '.') + "] ";
  }
  std::fprintf(stderr, "\r\033[K%s%s%s", bar.c_str(), line.c_str(), last ? "\n" : "");
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace pardec
