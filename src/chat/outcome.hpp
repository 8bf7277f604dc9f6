#pragma once
#include <optional>
#include <string>

#include "src/chat/adapter.hpp"
#include "src/http/client.hpp"

namespace pardec::chat {

/// The next step after an attempt.
enum class Next {
  kDone,      ///< the answer is final
  kAgain,     ///< the fault is temporary
  kFallBack,  ///< the format was refused
  kStop       ///< all other calls would fail as well
};

/// The result of an attempt.
struct Outcome {
  Next next = Next::kDone;
  Answer answer;                 ///< if done; failed ones have a reason
  std::string what;              ///< the reason, unless done
  std::optional<double> wait;    ///< in seconds, as requested by the service
  bool limited = false;          ///< too many requests or tokens at a time
  bool unreachable = false;      ///< nothing was sent
  bool outcome_unknown = false;  ///< possibly paid
  std::string parameter;         ///< refused parameter: a key of the service's description
  Usage usage;
  Json body;  ///< of a streamed answer
};

/// Evaluates the result of a request that asked for `format`.
Outcome read_outcome(const ServiceSpec& spec, const Call& call, Format format,
                     const HttpResult& result);

/// The wait in seconds requested by the headers of an answer: retry-after-ms, retry-after (seconds
/// or a date). For 429 without these, the longest time to the reset of a limit
/// (x-ratelimit-reset-*, anthropic-ratelimit-*-reset). Dates are relative to the answer's own date.
std::optional<double> asked_wait(const HttpHeaders& headers, int status);

}  // namespace pardec::chat
