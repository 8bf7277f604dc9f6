#pragma once
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/trace_threads.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// Shows decoders at work, by what the engine tells. Where colours may be used (support:
/// may_colour) it is a picture that redraws itself, thread by thread, each in a colour of its own:
/// tokens of the newest pass bold, guesses that were right underlined, rejected ones dim and struck
/// through (of older passes the first alone). Elsewhere it is one plain line a pass, without escape
/// codes.
class Watch {
 public:
  /// `out` and `tokenizer` outlive this; no tokenizer: ids are shown. A picture stands for
  /// `pace_ms` at least before the next pass is drawn.
  Watch(std::FILE* out, const Tokenizer* tokenizer, int pace_ms);
  /// Leaves the last picture whole.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// What an engine tells, as it tells it. Sequences without a choice are not shown.
  void on(const Event& event);

 private:
  struct View {  // one sequence
    int job;
    std::string request, decoder;
    std::vector<int> streams;  ///< of the job, by thread
    std::vector<TraceThread> threads;
    int passes = 0;
    size_t tokens = 0;
    bool ended = false;
    bool drawn = false;           // in this pass
    std::vector<size_t> printed;  // plain lines: tokens of each thread
  };
  void on_event(const StreamBegan& stream);
  void on_event(const TokenEvent& token);
  void on_event(const PassRead& pass);
  void on_event(const Ended&) {}
  View* find(int job, const std::string& request);
  void print(View& view);
  void draw(bool last);
  void pause(const View& view);
  std::vector<std::string> compose(const View& view, size_t most_lines) const;
  std::string summary(const View& view) const;
  std::string spelled(Token id) const;
  std::string heading(const TraceThread& thread) const;
  std::vector<std::string> texts(const TraceThread& thread) const;

  std::FILE* out_;
  const Tokenizer* tokenizer_;
  bool picture_;
  std::chrono::milliseconds pace_;
  std::chrono::steady_clock::time_point stands_since_{};  // the first picture of this pass
  std::vector<View> views_;                               // in the picture, in order of appearance
  size_t drawn_lines_ = 0;
};

/// How long a picture stands where nobody says it, in milliseconds: long enough to be read.
inline constexpr int kWatchPaceMs = 150;

/// A stored trace, pass by pass as it came about.
void show_again(const Trace& trace, std::FILE* out, const Tokenizer* tokenizer, int pace_ms);

}  // namespace pardec
