#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pardec::chat {

/// Reads an answer of /completions or /chat/completions that arrives as server-sent events, and
/// measures the time until the first token.
class EventStream {
 public:
  /// Starts the clock, so create this object when the request is sent. `until`: the answer is
  /// complete as soon as it contains this text; empty: there is no such text.
  explicit EventStream(std::string until);

  /// Reads the next bytes of the body. Returns false if the answer is complete because it contains
  /// the constructor's `until`, otherwise true. Does not throw.
  bool take(std::string_view piece);

  /// Whether an event has arrived. If not, the body may be one JSON text instead of a stream.
  bool any() const { return any_; }
  /// Whether some event could not be read.
  bool broken() const { return broken_; }
  /// The answer in the form of a body that is not streamed. The object has the members of all
  /// events; if several events have the same member, the last value is used. The member "choices"
  /// has one choice, with the keys "text", "token_ids" and "finish_reason", and the key "reasoning"
  /// if there is reasoning. "token_ids" is null if the service sent no ids. "finish_reason" is
  /// "until" if the text `until` ended the answer, and null if the stream has none, for example
  /// because it broke off. If the service reported an error, there is no choice.
  nlohmann::json body() const;
  /// Seconds from construction until the first text or token id; negative: none arrived.
  double first_seconds() const { return first_; }

 private:
  void take_line(std::string_view line);
  void take_event();
  void take_choice(const nlohmann::json& choice);

  std::string until_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string line_, data_;  ///< incomplete line; data lines of the incomplete event
  bool any_ = false, broken_ = false, complete_ = false;
  double first_ = -1;
  nlohmann::json members_ = nlohmann::json::object();
  std::string text_, reasoning_;
  nlohmann::json ids_, finish_;
};

}  // namespace pardec::chat
