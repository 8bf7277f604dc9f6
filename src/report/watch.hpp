#pragma once
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/trace_threads.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// Shows decoders at work, from the engine's events (`--watch`). If the terminal supports colours
/// (may_colour), a picture is redrawn after each pass, with a colour for each thread of a sequence.
/// Tokens of the newest pass are bold, and accepted guesses are underlined. Rejected guesses are
/// dim and struck through. If several guesses in a row were rejected, all of them are shown for the
/// newest pass, and only the first of them for older passes. Without colours, one line is printed
/// for each pass of a sequence, without escape codes.
class Watch {
 public:
  /// `tokenizer`: null: ids are shown instead of texts. `pace_ms`: the shortest time, in
  /// milliseconds, for which a picture is shown. `out` and `tokenizer` must outlive this object.
  Watch(std::FILE* out, const Tokenizer* tokenizer, int pace_ms);
  /// Draws the sequences that are still in the picture once more, in full.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Handles an event of the engine. If a picture is drawn, waits until the previous picture was
  /// shown for `pace_ms`. Sequences without a chosen token are not shown.
  void on(const Event& event);

 private:
  struct View {  // one sequence
    int job;
    std::string request, decoder;
    std::vector<int> streams;  ///< for each entry of `threads`: its stream in the job
    std::vector<TraceThread> threads;
    int passes = 0;
    size_t tokens = 0;
    bool ended = false;
    bool drawn = false;           // whether it was drawn in this pass
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
  // when the first picture of this pass was drawn
  std::chrono::steady_clock::time_point stands_since_{};
  std::vector<View> views_;  // the sequences in the picture, in order of appearance
  size_t drawn_lines_ = 0;
};

/// Default of `pace_ms`: long enough to read a picture.
inline constexpr int kWatchPaceMs = 150;

/// Replays a stored trace pass by pass, as Watch shows a running decoder. For the parameters, see
/// Watch::Watch.
void show_again(const Trace& trace, std::FILE* out, const Tokenizer* tokenizer, int pace_ms);

}  // namespace pardec
