#pragma once
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/trace_threads.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// Shows decoders at work, from the engine's events. If colours may be used (support: may_colour),
/// it shows a picture that is redrawn, with each thread in its own colour: tokens of the newest
/// pass in bold, accepted guesses underlined, rejected guesses dim and struck through (of older
/// passes only the first). Otherwise it prints one plain line per pass, without escape codes.
class Watch {
 public:
  /// `out` and `tokenizer` must outlive this object. Without a tokenizer, ids are shown. A picture
  /// is shown for at least `pace_ms` before the next pass is drawn.
  Watch(std::FILE* out, const Tokenizer* tokenizer, int pace_ms);
  /// Completes the last picture.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Handles the engine's events, in their order. Sequences without a choice are not shown.
  void on(const Event& event);

 private:
  struct View {  // one sequence
    int job;
    std::string request, decoder;
    std::vector<int> streams;  ///< streams of the job, by thread
    std::vector<TraceThread> threads;
    int passes = 0;
    size_t tokens = 0;
    bool ended = false;
    bool drawn = false;           // in this pass
    std::vector<size_t> printed;  // for plain lines: number of tokens of each thread
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
  // when the first picture of this pass was shown
  std::chrono::steady_clock::time_point stands_since_{};
  std::vector<View> views_;  // in the picture, in order of appearance
  size_t drawn_lines_ = 0;
};

/// Default time for which a picture is shown, in milliseconds: long enough to be read.
inline constexpr int kWatchPaceMs = 150;

/// Shows a stored trace, pass by pass, as it was generated.
void show_again(const Trace& trace, std::FILE* out, const Tokenizer* tokenizer, int pace_ms);

}  // namespace pardec
