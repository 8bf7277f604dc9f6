#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Chat services over HTTP. A call has messages, and ends with one reply.
namespace pardec::chat {

/// A message of a conversation.
struct Message {
  std::string role;  ///< system | user | assistant
  std::string text;
};

/// One question to a service. A call may take more than one HTTP request (Attempt).
struct Call {
  std::string key;  ///< chosen by the caller to identify the call; unique among running calls
  std::vector<Message> messages;
  /// JSON schema of the reply; null: free text. The order of keys matters: services write the keys
  /// of the reply in the order of the schema.
  nlohmann::ordered_json schema;
  std::string schema_name;  ///< letters, digits, '_' and '-', at most 64 characters
  /// Maximum number of tokens of the reply, including hidden reasoning: from 1 to kMostTokens.
  std::int64_t max_tokens = 0;
  /// For streamed interfaces only. `parameters`: further keys of the request, e.g. `prompt` with a
  /// text or token ids. They take precedence over the parameters of the service. `until`: the
  /// answer is complete as soon as it contains this text; empty: there is no such text.
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  std::string until = {};
};

/// The largest `max_tokens`. The limit keeps sums over all calls from overflow.
inline constexpr std::int64_t kMostTokens = 1'000'000'000;

/// Token counts that the service reports; -1: unknown.
struct Usage {
  std::int64_t prompt_tokens = -1;      ///< including cached tokens
  std::int64_t completion_tokens = -1;  ///< including reasoning tokens
  std::int64_t reasoning_tokens = -1;
  std::int64_t cached_tokens = -1;  ///< the cached part of prompt_tokens
};

/// One HTTP request for a call.
struct Attempt {
  int number = 0;          ///< index of the attempt within its call, from 1
  std::string started;     ///< UTC, e.g. 2026-11-23T02:26:35.123Z
  double waited = 0;       ///< seconds of waiting after the call's previous attempt
  double seconds = 0;      ///< seconds from sending to the last byte received
  int http_status = 0;     ///< 0: no answer was received
  std::string request_id;  ///< the service's id of the request; empty: none
  std::string format;      ///< the requested format, named as in the key `formats` of a service's
                           ///< description (service.hpp)
  /// Token counts. They are upper limits while the attempt is running, if its outcome is unknown,
  /// or if `error` is empty but the answer has no counts.
  Usage usage;
  /// Cost, in the currency of the prices. An upper limit in the same cases as `usage`.
  double cost = 0;
  bool outcome_unknown = false;  ///< sent and possibly charged, with an unknown result
  /// What went wrong, or why an answer with an error status was a refusal. Empty: an answer with a
  /// good status (2xx) was received and could be read.
  std::string error;
  /// The received body, at most 64 KiB of it, if `error` is not empty.
  std::string body;
};

/// How a call ended.
enum class ReplyState {
  kAnswered,
  kRefused,  ///< by the model, or by a filter of the service
  /// length limit, empty reply, reasoning without an end, or a prompt that is too long or was cut
  /// by the service
  kCutShort,
  kFailed  ///< there is no usable answer; a later call may succeed
};

/// The final result of a call. All texts are valid UTF-8 and do not contain the service's API key.
/// They come from the service and must be escaped wherever they are shown.
struct Reply {
  ReplyState state = ReplyState::kFailed;
  /// The text without reasoning; if cut short, the received part. Streamed interfaces: the whole
  /// text, with reasoning.
  std::string text;
  std::string reason;   ///< why the state is not kAnswered; empty for kAnswered
  std::string model;    ///< model name that the service reports; empty: none
  std::string format;   ///< Attempt::format of the last attempt
  Usage usage;          ///< usage of the last attempt
  nlohmann::json body;  ///< streamed interfaces only: the answer as one body (EventStream)
  /// streamed interfaces only: seconds until the first token of the last attempt; negative: unknown
  double first_seconds = -1;
  double seconds = 0;  ///< Attempt::seconds of the last attempt
  double cost = 0;     ///< cost of all attempts with a known outcome
  int attempts = 0;    ///< number of HTTP requests
};

}  // namespace pardec::chat
