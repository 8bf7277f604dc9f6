#pragma once
#include <optional>
#include <string>

#include "src/chat/adapter.hpp"
#include "src/http/client.hpp"

namespace pardec::chat {

/// What to do with a call after an attempt.
enum class Next {
  kDone,      ///< nothing: the outcome is final, although it may be a refusal or a failure
  kAgain,     ///< repeat the request: the fault is temporary
  kFallBack,  ///< use the next format: the service refused this format
  kStop       ///< stop: all other calls would fail too
};

/// The result of an attempt.
struct Outcome {
  Next next = Next::kDone;
  Answer answer;                 ///< only if `next` is kDone
  std::string what;              ///< if `next` is not kDone: the fault, or the service's message
  std::optional<double> wait;    ///< seconds that the service asks to wait; none: it does not ask
  bool limited = false;          ///< the service is overloaded, or reports too many requests
  bool unreachable = false;      ///< nothing was sent
  bool outcome_unknown = false;  ///< the request was possibly charged
  /// If `next` is kStop: the key of the service's description whose value the service refused, e.g.
  /// "parameters.temperature"; empty: no such key is known.
  std::string parameter;
  Usage usage;
  Json body;  ///< only for streamed interfaces: the body of the answer (EventStream::body)
};

/// Evaluates the result of an HTTP request. `format`: the format that the request asked for. Does
/// not throw because of anything that the service sent.
Outcome read_outcome(const ServiceSpec& spec, const Call& call, Format format,
                     const HttpResult& result);

/// The number of seconds that the headers of an answer ask to wait: retry-after-ms, or retry-after
/// (seconds or a date). For status 429 without these headers, this is the longest time until a
/// limit is reset (x-ratelimit-reset-*, anthropic-ratelimit-*-reset). Dates are compared with the
/// header `date` if there is one, otherwise with this machine's clock. None: the headers do not ask
/// to wait.
std::optional<double> asked_wait(const HttpHeaders& headers, int status);

}  // namespace pardec::chat
