#pragma once
#include <optional>
#include <string>

#include "src/chat/adapter.hpp"
#include "src/http/client.hpp"

namespace pardec::chat {

/// What is to be done after an attempt.
enum class Next {
  kDone,      ///< the answer is final
  kAgain,     ///< the fault may pass
  kFallBack,  ///< the format was refused
  kStop       ///< so would all others be
};

/// What came of an attempt.
struct Outcome {
  Next next = Next::kDone;
  Answer answer;                 ///< where done; failed ones have a reason
  std::string what;              ///< of anything else
  std::optional<double> wait;    ///< seconds, as the service asks
  bool limited = false;          ///< too much was asked at a time
  bool unreachable = false;      ///< nothing was sent
  bool outcome_unknown = false;  ///< perhaps paid for
  std::string parameter;         ///< that was refused: a key of the description
  Usage usage;
};

/// Reads what came for a call that asked for `format`.
Outcome read_outcome(const ServiceSpec& spec, const Call& call, Format format,
                     const HttpResult& result);

/// Seconds that an answer's head asks to wait: retry-after-ms, retry-after (seconds or a date), for
/// 429 else the longest time to a reset of a limit (x-ratelimit-reset-*, anthropic-ratelimit-*-
/// reset). Dates count from the answer's own.
std::optional<double> asked_wait(const HttpHeaders& headers, int status);

}  // namespace pardec::chat
