// How long services ask to wait, in every form that they have for it.
#include "src/chat/outcome.hpp"
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

}  // namespace

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
