#include "src/chat/outcome.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "src/support/text.hpp"

namespace pardec::chat {

namespace {

/// An error message in the formats of different servers: {"error": {...}} (OpenAI, Anthropic),
/// {"error": "text"} (Ollama), {"object": "error", ...} (vLLM), {"detail": ...} (FastAPI).
struct Complaint {
  /// invalid: the request is invalid, regardless of the status
  bool there = false, invalid = false;
  std::string message, type, code, parameter;
  int status = 0;  ///< if the code is a status
};

Complaint complaint_of(const Json& body) {
  Complaint complaint;
  const Json* error = &member(body, "error");
  if (error->is_null() && member(body, "object") == "error") error = &body;
  if (error->is_null() && body.is_object() && body.contains("detail")) {
    const Json& detail = body.at("detail");
    complaint.there = true;
    if (detail.is_array() && !detail.empty()) {  // [{"loc": ["body", "temperature"], "msg": ""}]
      complaint.message = text_of(member(detail.front(), "msg"));
      const Json& at = member(detail.front(), "loc");
      if (at.is_array() && at.size() > 1) complaint.parameter = text_of(at.at(1));
    } else {
      complaint.message = detail.is_string() ? text_of(detail) : dump(detail);
    }
    return complaint;
  }
  if (error->is_null()) return complaint;
  complaint.there = true;
  if (!error->is_object()) {
    complaint.message = error->is_string() ? text_of(*error) : dump(*error);
    return complaint;
  }
  complaint.message = text_of(member(*error, "message"));
  complaint.type = text_of(member(*error, "type"));
  complaint.parameter = text_of(member(*error, "param"));
  const Json& code = member(*error, "code");
  complaint.code = text_of(code);
  if (code.is_number_integer()) complaint.status = static_cast<int>(count_of(code));
  if (const std::string inner = text_of(member(member(*error, "details"), "error_code"));
      !inner.empty())
    complaint.code = inner;
  // llama-cpp-python returns FastAPI's error 422 with status 500: "1 validation error: {'type':
  // 'literal_error', 'loc': ('body', 'response_format', 'type'), ...".
  constexpr std::string_view kPlace = "'loc': ('body', '";
  const std::string& words = complaint.message;
  if (const std::size_t at = words.find(kPlace);
      at != std::string::npos && words.find(" validation error") < at) {
    const std::size_t begin = at + kPlace.size();
    complaint.invalid = true;
    complaint.parameter = words.substr(begin, words.find('\'', begin) - begin);
  }
  return complaint;
}

template <std::size_t count>
bool any_of(const std::array<std::string_view, count>& names, const Complaint& complaint) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return complaint.code == name || complaint.type == name;
  });
}

constexpr std::array<std::string_view, 13> kQuota = {"credit_balance_exhausted",
                                                     "insufficient_quota",
                                                     "billing_hard_limit_reached",
                                                     "usage_limit_exceeded",
                                                     "organization_spend_limit_exceeded",
                                                     "project_spend_limit_exceeded",
                                                     "organization_usage_limit_exceeded",
                                                     "enforced_spend_limit_reached",
                                                     "contract_spend_limit_reached",
                                                     "linked_organization_spend_limit_reached",
                                                     "linked_organization_billing_unavailable",
                                                     "organization_on_hold",
                                                     "billing_error"};
constexpr std::array<std::string_view, 7> kRefusals = {"content_filter",
                                                       "content_policy_violation",
                                                       "ResponsibleAIPolicyViolation",
                                                       "invalid_prompt",
                                                       "bio_policy",
                                                       "cyber_policy",
                                                       "misalignment_policy_violation"};
constexpr std::array<std::string_view, 3> kLimits = {"rate_limit_exceeded", "rate_limit_error",
                                                     "too_many_requests"};
constexpr std::array<std::string_view, 1> kOverload = {"overloaded_error"};

/// Whether a text contains a whole word, not only as part of a longer one.
bool has_word(std::string_view text, std::string_view word) {
  const auto part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
  }
  return false;
}

/// The key of the service's description that was refused; empty: no known key.
std::string refused_parameter(const ServiceSpec& spec, const Complaint& complaint) {
  const auto means = [&](std::string_view key) {
    if (complaint.parameter.empty()) return has_word(complaint.message, key);
    return complaint.parameter == key || complaint.parameter.starts_with(str(key, ".")) ||
           complaint.parameter.starts_with(str(key, "["));
  };
  for (const auto& [key, value] : spec.parameters.items())
    if (means(key)) return str("parameters.", key);
  for (const char* name : {"response_format", "text.format", "output_config", "output_format",
                           "json_schema", "json_object"})
    if (means(name)) return "formats";
  for (const char* name : {"max_tokens", "max_completion_tokens", "max_output_tokens"})
    if (means(name)) return "token_limit";
  return complaint.parameter == "model" ? "model" : "";
}

/// The service's words, short enough for one line.
std::string words_of(const Complaint& complaint, const std::string& body) {
  constexpr std::size_t kMost = 300;
  std::string words = complaint.message;
  const std::string& name = complaint.code.empty() ? complaint.type : complaint.code;
  if (!name.empty()) words = words.empty() ? name : str(name, ": ", words);
  if (words.empty()) words = body;
  return visible_text(shortened(words, kMost));
}

Outcome again(std::string what) {
  Outcome outcome;
  outcome.next = Next::kAgain, outcome.what = std::move(what);
  return outcome;
}
Outcome stop(std::string what) {
  Outcome outcome = again(std::move(what));
  outcome.next = Next::kStop;
  return outcome;
}
Outcome done(ReplyState state, std::string reason) {
  Outcome outcome;
  outcome.answer.state = state, outcome.answer.reason = std::move(reason);
  return outcome;
}

bool too_long(const Complaint& complaint) {
  const auto says = [&](std::string_view words) {
    return complaint.message.find(words) != std::string::npos;
  };
  return complaint.code == "context_length_exceeded" || says("maximum context length") ||
         says("prompt is too long") || says("context size") || says("maximum number of tokens");
}

Outcome read_error(const ServiceSpec& spec, const Call& call, Format format, int status,
                   const Complaint& complaint, const HttpResult& result) {
  const std::string words = str("status ", result.status, ": ", words_of(complaint, result.body));
  const std::string may_again = header(result.headers, "x-should-retry");
  if (status == 402 || any_of(kQuota, complaint))
    return stop(str("there is no quota left; ", words));
  if (any_of(kRefusals, complaint)) return done(ReplyState::kRefused, words);

  const bool limit = status == 429 || any_of(kLimits, complaint);
  const bool overload = status == 503 || status == 529 || any_of(kOverload, complaint);
  const bool passes = limit || overload || status == 408 || status == 409 ||
                      (status >= 500 && status != 501 && !complaint.invalid);
  if (may_again == "true" || (passes && may_again != "false")) {
    Outcome outcome = again(words);
    outcome.limited = limit || overload;
    outcome.wait = asked_wait(result.headers, limit ? 429 : status);
    // The server behind a gateway may have answered.
    outcome.outcome_unknown = status == 502 || status == 504 || status == 520 || status == 524;
    return outcome;
  }
  if (limit) return stop(str("the service says not to ask again; ", words));
  if (passes) return done(ReplyState::kFailed, words);

  if (status == 401 || status == 403)
    return stop(str(spec.key_env.empty() ? "a key is asked for, and 'key_env' names none; "
                                         : "the key was refused; ",
                    words));
  if (status == 404 || status == 405 || status == 410 || status == 501)
    return stop(str("the base URL or the model's name is wrong; ", words));
  if (too_long(complaint)) return done(ReplyState::kCutShort, str("it is too long; ", words));
  if (status == 400 || status == 422 || complaint.invalid) {
    const std::string parameter = refused_parameter(spec, complaint);
    if (parameter == "formats" && !call.schema.is_null() && format != spec.formats.back()) {
      Outcome outcome = again(words);
      outcome.next = Next::kFallBack;
      return outcome;
    }
    if (!parameter.empty()) {
      Outcome outcome = stop(str("'", parameter, "' was refused; ", words));
      outcome.parameter = parameter;
      return outcome;
    }
  }
  return done(ReplyState::kFailed, words);
}

/// The status that an error sent with status 200 should have had.
int status_of(const Complaint& complaint) {
  if (complaint.status >= 400 && complaint.status < 600) return complaint.status;
  if (complaint.type == "invalid_request_error") return 400;
  return 500;
}

Outcome read_good(const ServiceSpec& spec, const Call& call, Format format,
                  const HttpResult& result) {
  constexpr std::int64_t kPlentyOfBytes = 4096, kMostBytesAToken = 12;
  Json body;
  try {
    body = parse_json(repair_utf8(result.body), "the answer", 0);
  } catch (const DataError& error) {
    Outcome outcome = again(visible_text(error.what()));
    outcome.outcome_unknown = true;
    return outcome;
  }
  const Adapter& adapter = adapter_of(spec.interface);
  Outcome outcome;
  if (const Complaint complaint = complaint_of(body); complaint.there)
    outcome = read_error(spec, call, format, status_of(complaint), complaint, result);
  else
    try {
      outcome.answer = adapter.read(body);
    } catch (const NoAnswer& none) {
      outcome = again(str("the answer ", visible_text(none.what)));
    }
  outcome.usage = adapter.usage(body);
  outcome.outcome_unknown = outcome.next == Next::kAgain && outcome.usage.completion_tokens < 0;
  std::int64_t bytes = 0;
  for (const Message& message : call.messages)
    bytes += static_cast<std::int64_t>(message.text.size());
  if (outcome.next == Next::kDone && outcome.answer.state == ReplyState::kAnswered &&
      outcome.usage.prompt_tokens > 0 && bytes > kPlentyOfBytes &&
      outcome.usage.prompt_tokens < bytes / kMostBytesAToken) {
    outcome.answer.state = ReplyState::kCutShort;
    outcome.answer.reason =
        str("the service read ", outcome.usage.prompt_tokens, " tokens of a prompt of ", bytes,
            " bytes: it was cut (Ollama: num_ctx)");
  }
  if (adapter.streams()) outcome.body = std::move(body);
  return outcome;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc::result_out_of_range) return HUGE_VAL;
  if (fault != std::errc() || end != text.data() + text.size() || std::isnan(value))
    return std::nullopt;
  return value;
}

/// Seconds of a duration such as "1m30s", "6ms", "2h".
std::optional<double> duration(std::string_view text) {
  double seconds = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto value = number(text.substr(0, digits));
    text.remove_prefix(digits);
    const std::size_t letters = std::min(text.find_first_of("0123456789."), text.size());
    const std::string_view unit = text.substr(0, letters);
    text.remove_prefix(letters);
    if (!value) return std::nullopt;
    if (unit == "ms")
      seconds += *value / 1000;
    else if (unit == "s")
      seconds += *value;
    else if (unit == "m")
      seconds += *value * 60;
    else if (unit == "h")
      seconds += *value * 3600;
    else if (unit == "d")
      seconds += *value * 86400;
    else
      return std::nullopt;
  }
  return seconds;
}

/// Seconds until the time in a text, in any format that services use.
std::optional<double> time_left(const std::string& text, double now) {
  constexpr double kEpoch = 1e9, kEpochMilliseconds = 1e12;  // larger values are points in time
  if (const auto value = number(text)) {
    if (*value >= kEpochMilliseconds && std::isfinite(*value)) return *value / 1000 - now;
    return *value >= kEpoch && std::isfinite(*value) ? *value - now : *value;
  }
  if (const auto length = duration(text)) return length;
  if (const auto date = http_date(text)) return *date - now;
  return std::nullopt;
}

}  // namespace

std::optional<double> asked_wait(const HttpHeaders& headers, int status) {
  const double now = http_date(header(headers, "date"))
                         .value_or(std::chrono::duration<double>(
                                       std::chrono::system_clock::now().time_since_epoch())
                                       .count());
  const auto positive = [](std::optional<double> seconds) {
    return seconds && *seconds > 0 ? seconds : std::nullopt;
  };
  if (const auto wait = positive(number(header(headers, "retry-after-ms")))) return *wait / 1000;
  if (const auto wait = positive(time_left(header(headers, "retry-after"), now))) return wait;
  if (status != 429) return std::nullopt;
  std::optional<double> longest;
  for (const auto& [name, value] : headers) {
    if (!name.starts_with("x-ratelimit-reset") &&
        !(name.starts_with("anthropic-ratelimit-") && name.ends_with("-reset")))
      continue;
    if (const auto wait = positive(time_left(value, now)))
      longest = std::max(longest.value_or(0), *wait);
  }
  return longest;
}

Outcome read_outcome(const ServiceSpec& spec, const Call& call, Format format,
                     const HttpResult& result) {
  if (result.fault == HttpFault::too_large) {
    Outcome outcome = done(ReplyState::kFailed, result.what);
    outcome.outcome_unknown = true;
    return outcome;
  }
  if (result.fault != HttpFault::none) {
    Outcome outcome = again(visible_text(result.what));
    outcome.unreachable = result.fault == HttpFault::unreachable;
    outcome.outcome_unknown = result.sent;
    return outcome;
  }
  if (result.status >= 200 && result.status < 300) return read_good(spec, call, format, result);
  if (result.status < 400)
    return stop(str("status ", result.status, " leads to '",
                    visible_text(header(result.headers, "location")),
                    "', and redirects are not followed; name the right base URL"));
  Json body;
  try {
    body = parse_json(repair_utf8(result.body), "the answer", 0);
  } catch (const DataError&) {  // some gateways send HTML
  }
  return read_error(spec, call, format, result.status, complaint_of(body), result);
}

}  // namespace pardec::chat
