#pragma once
#include <optional>
#include <string>

#include "src/chat/adapter.hpp"
#include "src/http/client.hpp"

namespace pardec::chat {

/// What to do after an attempt.
enum class Next {
  kDone,      ///< nothing: the answer is final
  kAgain,     ///< repeat it: the fault is temporary
  kFallBack,  ///< use the next format: this one was refused
  kStop       ///< stop: all other calls would fail too
};

/// The result of an attempt.
struct Outcome {
  Next next = Next::kDone;
  Answer answer;                 ///< for kDone; a failed answer has a reason
  std::string what;              ///< the reason, unless kDone
  std::optional<double> wait;    ///< seconds to wait, as requested by the service
  bool limited = false;          ///< the service reports too many requests or tokens
  bool unreachable = false;      ///< nothing was sent
  bool outcome_unknown = false;  ///< the request was possibly charged
  std::string parameter;         ///< the key in the service's description that was refused
  Usage usage;
  Json body;  ///< body of a streamed answer
};

/// Evaluates the result of an HTTP request with this format.
Outcome read_outcome(const ServiceSpec& spec, const Call& call, Format format,
                     const HttpResult& result);

/// The number of seconds to wait that the headers of an answer request: retry-after-ms, or
/// retry-after (seconds or a date). For status 429 without these headers, it is the longest time
/// until a limit is reset (x-ratelimit-reset-*, anthropic-ratelimit-*-reset). Dates are compared
/// with the answer's own date.
std::optional<double> asked_wait(const HttpHeaders& headers, int status);

}  // namespace pardec::chat
