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
  std::string key;  ///< the caller's name of it, unique among the calls that are under way
  std::vector<Message> messages;
  /// JSON schema of the reply; null: free text. Services write its keys in this order.
  nlohmann::ordered_json schema;
  std::string schema_name;      ///< letters, digits, '_' and '-', at most 64
  std::int64_t max_tokens = 0;  ///< of the reply with its hidden reasoning; at least 1
};

/// Of a reply, at most: sums of them over all calls stay numbers.
inline constexpr std::int64_t kMostTokens = 1'000'000'000;

/// Tokens as the service counts them; -1: it does not say.
struct Usage {
  std::int64_t prompt_tokens = -1;      ///< all, cached ones too
  std::int64_t completion_tokens = -1;  ///< reasoning included
  std::int64_t reasoning_tokens = -1;
  std::int64_t cached_tokens = -1;  ///< of the prompt's
};

/// One request for a call: a row of the ledger.
struct Attempt {
  int number = 0;       ///< of the call's attempts, from 1
  std::string started;  ///< UTC, as 2026-11-23T02:26:35.123Z
  double waited = 0;    ///< seconds that were to pass after the attempt before; 0 for the first
  double seconds = 0;   ///< from sending to the last byte
  int http_status = 0;  ///< 0: no answer came
  std::string request_id;
  std::string format;  ///< what it asked for, as 'formats' names it
  /// The most that it can take while it is under way, where its outcome is unknown, and for an
  /// answer without a count of tokens.
  Usage usage;
  /// Money, in the currency of the prices. The most that it can cost while it is under way, where
  /// its outcome is unknown, and for an answer without a count of tokens; else what it did cost.
  double cost = 0;
  bool outcome_unknown = false;  ///< sent, and perhaps paid for: nobody knows
  std::string error;             ///< empty: an answer came
  /// What came where it could not be read as an answer, up to 64 KiB.
  std::string body;
};

enum class ReplyState {
  kAnswered,
  kRefused,   ///< by the model, or by a filter of the service
  kCutShort,  ///< the length's limit, nothing said, reasoning without an end, a prompt too long
  kFailed     ///< after all attempts; another run may have more luck
};

/// What came of a call in the end. All texts are UTF-8 and hold no key of ours, but what they say
/// is the service's: they are to be escaped wherever they are shown.
struct Reply {
  ReplyState state = ReplyState::kFailed;
  std::string text;    ///< without reasoning in front; where cut short, as far as it came
  std::string reason;  ///< of any other state than kAnswered
  std::string model;   ///< as the service names it; empty: it does not
  std::string format;  ///< of the attempt that was answered
  Usage usage;         ///< of the last attempt
  double cost = 0;     ///< of all attempts whose outcome is known
  int attempts = 0;
};

}  // namespace pardec::chat
