// The outcome of what services send, and how long they ask to wait, in each form that they use.
#include "src/chat/outcome.hpp"

#include <set>

#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::chat;

namespace {

/// Seconds that these lines ask to wait; 0: they do not.
double waits(std::initializer_list<const char*> lines, int status = 429) {
  HttpHeaders headers;
  take_header_line("Date: Mon, 23 Nov 2026 12:00:00 GMT", headers);
  for (const char* line : lines) take_header_line(line, headers);
  return asked_wait(headers, status).value_or(0);
}

/// Changes a JSON text at random: a byte, a removed or repeated piece, a value of another type.
std::string changed(std::string text, Rng& rng) {
  const char* values[] = {"null", "[]", "{}", "-1", "1e308", "\"\"", "[[[1]]]", "true", "\xff"};
  for (std::uint64_t change = rng.below(4); change-- > 0 && !text.empty();) {
    const std::size_t at = rng.below(text.size()), count = rng.below(12);
    switch (rng.below(4)) {
      case 0:
        text[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.erase(at, count);
        break;
      case 2:
        text.insert(at, text.substr(at, count));
        break;
      default:  // the value after a colon
        if (const std::size_t colon = text.find(':', at); colon != std::string::npos) {
          const std::size_t end = std::min(text.find_first_of(",]}", colon), text.size());
          text.replace(colon + 1, end - colon - 1, values[rng.below(std::size(values))]);
        }
    }
  }
  return text;
}

}  // namespace

TEST_CASE("whatever a service sends has an outcome") {
  const std::pair<Interface, const char*> answers[] = {
      {Interface::kOpenAiChat,
       R"({"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"<think>a</think>b","refusal":null}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":1}}})"},
      {Interface::kAnthropicMessages,
       R"({"type":"message","model":"m","stop_reason":"end_turn","stop_details":null,"content":[{"type":"thinking","thinking":"a"},{"type":"text","text":"b"}],"usage":{"input_tokens":9,"output_tokens":3}})"},
      {Interface::kOpenAiResponses,
       R"({"model":"m","status":"completed","error":null,"incomplete_details":null,"output":[{"type":"reasoning"},{"type":"message","content":[{"type":"output_text","text":"b"}]}],"usage":{"input_tokens":9,"output_tokens":3}})"},
      {Interface::kOpenAiChat,
       R"({"error":{"message":"no","type":"invalid_request_error","param":"temperature","code":"unsupported_value","details":{"error_code":"x"}}})"},
      {Interface::kOpenAiChat, R"({"detail":[{"loc":["body","temperature"],"msg":"bad"}]})"}};
  const Call call{"k", {{"user", "A or B?"}}, Json::object(), "verdict", 64};
  Rng rng(1);
  std::set<std::pair<Next, ReplyState>> seen;
  for (int i = 0; i < 30'000; ++i) {
    const auto& [interface, text] = answers[rng.below(std::size(answers))];
    ServiceSpec spec;
    spec.interface = interface, spec.parameters = {{"temperature", 0}};
    HttpResult result;
    result.sent = true;
    const int statuses[] = {200, 200, 200, 400, 422, 429, 500};
    result.status = statuses[rng.below(std::size(statuses))];
    result.body = changed(text, rng);
    const Outcome outcome = read_outcome(spec, call, Format::kJsonSchema, result);
    seen.emplace(outcome.next, outcome.answer.state);
    INFO(result.status << " " << result.body);
    const bool answered =
        outcome.next == Next::kDone && outcome.answer.state == ReplyState::kAnswered;
    if (answered && (result.status != 200 || outcome.answer.text.empty())) FAIL("no answer");
    if (outcome.next == Next::kDone && !answered && outcome.answer.reason.empty())
      FAIL("no reason");
    if (outcome.next != Next::kDone && outcome.what.empty()) FAIL("no word");
    if (std::max({outcome.usage.prompt_tokens, outcome.usage.completion_tokens}) > 1e12)
      FAIL("tokens without end");
  }
  CHECK(seen.size() >= 5);
}

TEST_CASE("waits by header") {
  CHECK(waits({"Retry-After: 7"}) == 7);
  CHECK(waits({"Retry-After: 1.5"}) == 1.5);
  CHECK(waits({"Retry-After: Mon, 23 Nov 2026 12:01:30 GMT"}) == 90);
  CHECK(waits({"Retry-After: Monday, 23-Nov-26 12:01:30 GMT"}) == 90);
  CHECK(waits({"retry-after-ms: 250", "Retry-After: 60"}) == 0.25);
  CHECK(waits({"retry-after-ms: soon", "Retry-After: 60"}) == 60);
  CHECK(waits({"x-ratelimit-reset-requests: 1s", "x-ratelimit-reset-tokens: 1m30s"}) == 90);
  CHECK(waits({"x-ratelimit-reset-tokens: 6ms"}) == 0.006);
  CHECK(waits({"x-ratelimit-reset-tokens: 1h2m3.5s"}) == 3723.5);
  CHECK(waits({"x-ratelimit-reset-requests: 12.5"}) == 12.5);
  CHECK(waits({"x-ratelimit-reset: 1795435204"}) == 4);
  CHECK(waits({"x-ratelimit-reset: 1795435204500"}) == 4.5);
  CHECK(waits({"anthropic-ratelimit-requests-reset: 2026-11-23T12:00:03Z",
               "anthropic-ratelimit-tokens-reset: 2026-11-23T13:00:09+01:00"}) == 9);
  CHECK(waits({"Retry-After: 2", "x-ratelimit-reset-tokens: 1m30s"}) == 2);
  CHECK(waits({"Retry-After: 1e999"}) > 1e300);
  for (const char* none :
       {"Retry-After: 0", "Retry-After: -5", "Retry-After: soon",
        "Retry-After:", "Retry-After: nan", "Retry-After: Mon, 23 Nov 2026 11:00:00 GMT",
        "x-ratelimit-reset-requests: -1", "x-ratelimit-reset-requests: 5 parsecs",
        "x-ratelimit-limit-requests: 60", "x-ratelimit-reset-tokens: 1.2.3s"}) {
    INFO(none);
    CHECK(waits({none}) == 0);
  }
  CHECK(waits({"x-ratelimit-reset-tokens: 30s"}, 500) == 0);
  CHECK(waits({"Retry-After: 3"}, 503) == 3);
}
