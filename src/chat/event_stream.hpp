#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pardec::chat {

/// Reads an answer of /completions or /chat/completions that is streamed as server-sent events,
/// piece by piece, and notes when its text arrived.
class EventStream {
 public:
  /// Times count from here. `until`: the answer is complete with this text; empty: no such text.
  explicit EventStream(std::string until);

  /// Reads the next piece of the body. Returns whether the stream needs more pieces. Does not
  /// throw.
  bool take(std::string_view piece);

  /// Whether the body is such a stream as far as it was read; otherwise it is one JSON text.
  bool any() const { return any_; }
  /// Whether an event could not be read.
  bool broken() const { return broken_; }
  /// The answer as a body that was not streamed: the members of all events, with one choice
  /// {"text", "reasoning", "token_ids", "finish_reason"}. `finish_reason` is "until" after that
  /// text, and null if the stream has no end.
  nlohmann::json body() const;
  /// Seconds until the first text or id; negative: there was none.
  double first_seconds() const { return first_; }

 private:
  void take_line(std::string_view line);
  void take_event();
  void take_choice(const nlohmann::json& choice);

  std::string until_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string line_, data_;  ///< the incomplete line; the data lines of the incomplete event
  bool any_ = false, broken_ = false, complete_ = false;
  double first_ = -1;
  nlohmann::json members_ = nlohmann::json::object();
  std::string text_, reasoning_;
  nlohmann::json ids_, finish_;
};

}  // namespace pardec::chat
