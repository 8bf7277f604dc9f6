#include "src/report/watch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "src/report/table.hpp"
#include "src/support/number_text.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

namespace {

using Fate = TraceToken::Fate;

// Colours of successive threads (ECMA-48, "select graphic rendition").
constexpr std::array kColours{"36", "33", "32", "35", "34", "31",
                              "96", "93", "92", "95", "94", "91"};
constexpr std::string_view kBold = "1", kDim = "2", kStruckOut = "2;9", kOff = "\x1b[0m";

std::string quoted(const std::string& text) {
  return "\"" + replace_all(replace_all(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

/// A text that is wrapped to as many lines as necessary.
class Wrapped {
 public:
  Wrapped(int columns, int indent) : columns_(std::max(columns - 1, indent + 8)), indent_(indent) {}

  void add(const std::string& text, std::string_view style) {
    if (text.empty()) return;
    open(style);
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      next_code_point(text, at);
      const int width = display_width(std::string_view(text).substr(begin, at - begin));
      if (used_ + width > columns_) {
        close(style);
        lines_.emplace_back(static_cast<size_t>(indent_), ' ');
        used_ = indent_;
        open(style);
      }
      lines_.back().append(text, begin, at - begin);
      used_ += width;
    }
    close(style);
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  void open(std::string_view style) {
    if (!style.empty()) lines_.back() += str("\x1b[", style, "m");
  }
  void close(std::string_view style) {
    if (!style.empty()) lines_.back() += kOff;
  }

  int columns_, indent_, used_ = 0;
  std::vector<std::string> lines_{""};
};

void write(std::FILE* out, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

}  // namespace

Watch::Watch(std::FILE* out, const Tokenizer* tokenizer, int pace_ms)
    : out_(out), tokenizer_(tokenizer), picture_(may_colour(fileno(out))), pace_(pace_ms) {}

Watch::~Watch() {
  if (picture_) draw(true);
}

void Watch::on(const Event& event) {
  std::visit([&](const auto& one) { on_event(one); }, event);
}

Watch::View* Watch::find(int job, const std::string& request) {
  const auto found = std::find_if(views_.begin(), views_.end(), [&](const View& view) {
    return !view.ended && view.job == job && view.request == request;
  });
  return found == views_.end() ? nullptr : &*found;
}

void Watch::on_event(const StreamBegan& stream) {
  View* view = find(stream.job, stream.request);
  if (!view) {
    view = &views_.emplace_back();
    view->job = stream.job;
    view->request = stream.request;
    view->decoder = stream.decoder;
  }
  view->streams.push_back(stream.stream);
  view->threads.push_back({stream.before, {}});
}

void Watch::on_event(const TokenEvent& token) {
  for (View& view : views_)
    if (view.job == token.job && !view.ended)
      for (size_t t = 0; t < view.streams.size(); ++t)
        if (view.streams[t] == token.stream) {
          const Fate fate = !token.final    ? Fate::rejected
                            : token.guessed ? Fate::guessed
                                            : Fate::chosen;
          view.threads[t].tokens.push_back({token.token, token.row, token.pass, fate});
          view.tokens += token.final;
        }
}

void Watch::on_event(const PassRead& pass) {
  View* const found = find(pass.job, pass.request);
  if (!found) return;
  View& view = *found;
  if (picture_) pause(view);
  view.passes = pass.passes;
  view.ended = pass.ended;
  const bool first =
      std::none_of(views_.begin(), views_.end(), [](const View& one) { return one.drawn; });
  view.drawn = true;
  if (!picture_) {
    print(view);
    std::erase_if(views_, [](const View& v) { return v.ended; });
    return;
  }
  draw(false);
  if (first) stands_since_ = std::chrono::steady_clock::now();
}

/// Called before a new pass is drawn. Sequences share passes, so a new pass begins with the first
/// sequence that appears again.
void Watch::pause(const View& view) {
  if (!view.drawn) return;
  std::this_thread::sleep_until(stands_since_ + pace_);
  for (View& one : views_) one.drawn = false;
}

// --- texts ---

/// A token's text; a token without text is shown by its name.
std::string Watch::spelled(Token id) const {
  if (!tokenizer_) return str(" ", id);
  if (const auto bytes = tokenizer_->bytes(id); !bytes.empty()) return std::string(bytes);
  const auto name = tokenizer_->token(id);
  return name.empty() ? str("<", id, ">") : std::string(name);
}

/// Texts by token. If several tokens form a character, the last one gets all of it.
std::vector<std::string> Watch::texts(const TraceThread& thread) const {
  std::vector<std::string> out;
  std::string open;  // the beginning of a character
  for (const TraceToken& token : thread.tokens) {
    if (token.fate == Fate::rejected) {
      out.push_back(visible_text(spelled(token.id)));
      continue;
    }
    open += spelled(token.id);
    const size_t end = finished_utf8(open);
    out.push_back(visible_text(std::string_view(open).substr(0, end)));
    open.erase(0, end);
  }
  if (!open.empty()) {
    size_t last = out.size();
    while (thread.tokens[--last].fate == Fate::rejected) {
    }
    out[last] += "…";
  }
  return out;
}

/// The end of the last line before the thread.
std::string Watch::heading(const TraceThread& thread) const {
  constexpr size_t kMost = 32;
  std::string bytes;
  for (const Token id : thread.heading) bytes += spelled(id);
  std::string_view line = strip(bytes);
  if (const size_t feed = line.rfind('\n'); feed != std::string_view::npos)
    line.remove_prefix(feed + 1);
  const std::string text = visible_text(line);
  size_t begin = text.size();
  for (size_t i = 0; i < kMost && begin > 0; ++i) previous_code_point(text, begin);
  return (begin > 0 ? "…" : "") + text.substr(begin);
}

std::string Watch::summary(const View& view) const {
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2f",
                static_cast<double>(view.tokens) / static_cast<double>(view.passes));
  return str(counted(view.tokens, "token"), " in ", counted(view.passes, "pass"), ", ", rate,
             " a pass");
}

// --- plain lines ---

/// Prints what is new, one line per pass: [thread] with its tokens, at first preceded by its
/// heading; `~` marks a rejected guess.
void Watch::print(View& view) {
  view.printed.resize(view.threads.size());
  std::map<int, std::string> lines;  // by pass
  for (size_t t = 0; t < view.threads.size(); ++t) {
    const TraceThread& thread = view.threads[t];
    const auto text = texts(thread);
    int step = -1;
    for (size_t& i = view.printed[t]; i < thread.tokens.size(); ++i) {
      const TraceToken& token = thread.tokens[i];
      std::string& line = lines[token.step];
      if (token.step != step) {
        line += str(" [", t + 1, i == 0 ? " " + quoted(heading(thread)) : "", "]");
        step = token.step;
      }
      line += str(" ", token.fate == Fate::rejected ? "~" : "", quoted(text[i]));
    }
  }
  const std::string name = visible_text(str(view.decoder, " ", view.request));
  std::string out;
  for (const auto& [step, line] : lines) out += str(name, " pass ", step + 1, ":", line, "\n");
  if (view.ended) out += str(name, ": ", summary(view), "\n");
  write(out_, out);
}

// --- the picture ---

/// The lines of the picture; for each thread the last `most_lines`, 0: all.
std::vector<std::string> Watch::compose(const View& view, size_t most_lines) const {
  const int columns = terminal_size(fileno(out_)).columns;
  Wrapped title(columns, 4);
  title.add(visible_text(str(view.decoder, " ", view.request)), kBold);
  title.add(" · " + summary(view), "");
  std::vector<std::string> lines = title.lines();
  for (size_t t = 0; t < view.threads.size(); ++t) {
    const TraceThread& thread = view.threads[t];
    const std::string colour = kColours[t % kColours.size()];
    Wrapped part(columns, 4);
    part.add(str("[", t + 1, "] "), colour + ";1");
    part.add(heading(thread) + " ", kDim);
    const auto text = texts(thread);
    bool struck = false;  // whether the previous token was a rejected guess
    for (size_t i = 0; i < text.size(); ++i) {
      const TraceToken& token = thread.tokens[i];
      const bool newest = !view.ended && token.step + 1 == view.passes;
      if (token.fate == Fate::rejected) {
        if (newest || !struck) part.add(text[i], kStruckOut);
      } else {
        part.add(text[i], str(colour, newest ? ";1" : "", token.fate == Fate::guessed ? ";4" : ""));
      }
      struck = token.fate == Fate::rejected;
    }
    const size_t all = part.lines().size();
    const size_t first = most_lines > 0 && all > most_lines ? all - most_lines : 0;
    lines.insert(lines.end(), part.lines().begin() + static_cast<std::ptrdiff_t>(first),
                 part.lines().end());
  }
  return lines;
}

/// Sequences that have ended, and are not preceded by a running one, are drawn in full for the last
/// time. The others are drawn in place, limited to the height of the screen.
void Watch::draw(bool last) {
  std::string out;
  if (drawn_lines_ > 0) out += str("\x1b[", drawn_lines_, "A\r\x1b[J");
  size_t done = 0;
  while (done < views_.size() && (last || views_[done].ended)) ++done;
  for (size_t v = 0; v < done; ++v)
    for (const auto& line : compose(views_[v], 0)) out += line + "\n";
  views_.erase(views_.begin(), views_.begin() + static_cast<std::ptrdiff_t>(done));

  const auto room = static_cast<size_t>(std::max(terminal_size(fileno(out_)).rows - 2, 4));
  size_t threads = 0;
  for (const View& view : views_) threads += view.threads.size();
  const size_t titles = std::min(views_.size(), room - 1);
  std::vector<std::string> lines;
  for (const View& view : views_) {
    const auto more =
        compose(view, std::max<size_t>(1, (room - titles) / std::max<size_t>(threads, 1)));
    lines.insert(lines.end(), more.begin(), more.end());
  }
  if (const size_t hidden = lines.size() > room ? lines.size() - room : 0; hidden > 0) {
    lines.resize(room);
    lines.push_back(str("… ", hidden, " more lines"));
  }
  for (const auto& line : lines) out += line + "\n";
  drawn_lines_ = lines.size();
  write(out_, out);
}

void show_again(const Trace& trace, std::FILE* out, const Tokenizer* tokenizer, int pace_ms) {
  Watch watch(out, tokenizer, pace_ms);
  for (const Event& event : events_of(trace)) watch.on(event);
}

}  // namespace pardec
