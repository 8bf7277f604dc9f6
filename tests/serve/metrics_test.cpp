#include "src/serve/metrics.hpp"

#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::serve;

TEST_CASE("guesses by the number that was accepted in a pass") {
  Counters counters;
  // Four passes with three guesses: 3, 0, 1 and 1 accepted; one with a single guess, accepted.
  for (const int kept : {3, 0, 1, 1}) counters.count_draft(3, kept);
  counters.count_draft(1, 1);
  const GuessCounts counts = guess_counts(counters);
  CHECK(counts.steps == 5);
  CHECK(counts.drafted == 13);
  CHECK(counts.accepted == 6);
  CHECK(counts.histogram == std::vector<std::int64_t>{1, 3, 0, 1});
  CHECK(
      dump(reply_metrics(counters)["speculative_decoding"]) ==
      R"({"num_spec_tokens":3,"num_spec_steps":5,"num_draft_tokens":13,"num_accepted_draft_tokens":6,)"
      R"("mean_acceptance_length":2.2,"draft_acceptance_rate":0.46153846153846156,)"
      R"("acceptance_histogram":[1,3,0,1]})");
  CHECK(reply_metrics({}).is_null());
  CHECK(guess_counts({}).histogram.empty());
}

TEST_CASE("the page of metrics") {
  Metrics metrics;
  Counters counters;
  counters.chosen = 7;
  counters.count_draft(2, 1);
  metrics.add({"stop", 5, counters, 0.002, 0.02, 3});
  metrics.add({"stop", 5, counters, 0.002, 0.02, 500});
  metrics.add_failed("abort");
  const std::string text = metrics.text("a\"b\\\n", {2, 3, 40, 50});
  const auto has = [&](const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
  };
  const std::string model = R"(model_name="a\"b\\\n")";
  CHECK(has("pardec:num_requests_running{" + model + "} 2"));
  CHECK(has("pardec:pass_answers_total{" + model + "} 50"));
  CHECK(has("pardec:generation_tokens_total{" + model + "} 14"));
  CHECK(has("pardec:request_success_total{" + model + R"(,finished_reason="stop"} 2)"));
  CHECK(has("pardec:request_success_total{" + model + R"(,finished_reason="abort"} 1)"));
  CHECK(has("pardec:request_queue_time_seconds_bucket{" + model + R"(,le="0.001"} 0)"));
  CHECK(has("pardec:request_queue_time_seconds_bucket{" + model + R"(,le="0.005"} 2)"));
  CHECK(has("pardec:e2e_request_latency_seconds_bucket{" + model + R"(,le="120"} 1)"));
  CHECK(has("pardec:e2e_request_latency_seconds_bucket{" + model + R"(,le="+Inf"} 2)"));
  CHECK(has("pardec:e2e_request_latency_seconds_sum{" + model + "} 503"));
  CHECK(has("vllm:spec_decode_num_accepted_tokens_per_pos_total{" + model + R"(,position="0"} 2)"));
  CHECK(has("# TYPE vllm:spec_decode_num_drafts_total counter"));
}
