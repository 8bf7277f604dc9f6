#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Chat services over HTTP: messages in, one reply out.
namespace pardec::chat {

struct Message {
  std::string role;  ///< system | user | assistant
  std::string text;
};

/// One question to a service.
struct Call {
  std::string key;  ///< the caller's name for it, unique among running calls
  std::vector<Message> messages;
  /// JSON schema of the reply; null: free text. Services write its keys in this order.
  nlohmann::ordered_json schema;
  std::string schema_name;      ///< letters, digits, '_' and '-', at most 64 characters
  std::int64_t max_tokens = 0;  ///< limit of the reply including hidden reasoning; at least 1
  /// Streamed interfaces: further keys of the request, e.g. its `prompt`, which take precedence
  /// over the service's own parameters; `until`: the answer is complete as soon as it contains this
  /// text.
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  std::string until = {};
};

/// Limit of a reply's tokens, so that sums over all calls do not overflow.
inline constexpr std::int64_t kMostTokens = 1'000'000'000;

/// Token counts of the service; -1: unknown.
struct Usage {
  std::int64_t prompt_tokens = -1;      ///< all, including cached ones
  std::int64_t completion_tokens = -1;  ///< including reasoning
  std::int64_t reasoning_tokens = -1;
  std::int64_t cached_tokens = -1;  ///< part of prompt_tokens
};

/// One request for a call: a row of the ledger.
struct Attempt {
  int number = 0;       ///< index of the attempt within its call, from 1
  std::string started;  ///< UTC, e.g. 2026-11-23T02:26:35.123Z
  double waited = 0;    ///< required wait after the previous attempt in seconds; 0 for the first
  double seconds = 0;   ///< from sending to the last byte received
  int http_status = 0;  ///< 0: no answer was received
  std::string request_id;
  std::string format;  ///< the requested format, named as in the key `formats` of a service's
                       ///< description (service.hpp)
  /// Token counts. While the attempt is running, if its outcome is unknown, or if the answer has no
  /// counts, this is the possible maximum.
  Usage usage;
  /// Cost, in the currency of the prices. While the attempt is running, if its outcome is unknown,
  /// or if the answer has no token counts, this is the possible maximum; otherwise the actual cost.
  double cost = 0;
  bool outcome_unknown = false;  ///< sent and possibly paid, without a known result
  std::string error;             ///< empty: an answer was received
  /// The content received, if it is not a readable answer; up to 64 KiB.
  std::string body;
};

enum class ReplyState {
  kAnswered,
  kRefused,   ///< by the model, or by a filter of the service
  kCutShort,  ///< length limit, empty reply, reasoning without an end, or a too long prompt
  kFailed     ///< after all attempts; another run may succeed
};

/// The final result of a call. All texts are UTF-8 and do not contain the service's API key. Their
/// content comes from the service, so it must be escaped wherever it is shown.
struct Reply {
  ReplyState state = ReplyState::kFailed;
  std::string text;    ///< without leading reasoning; if cut short, the part received
  std::string reason;  ///< for states other than kAnswered
  std::string model;   ///< as named by the service; empty: not given
  std::string format;  ///< of the attempt that was answered
  Usage usage;         ///< of the last attempt
  /// Streamed interfaces: the answer as one body (EventStream), and the seconds of the last attempt
  /// until its first token (negative: not known) and until its end.
  nlohmann::json body;
  double first_seconds = -1, seconds = 0;
  double cost = 0;  ///< of all attempts with a known outcome
  int attempts = 0;
};

}  // namespace pardec::chat
