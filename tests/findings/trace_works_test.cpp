#include <string>
#include <vector>

#include "src/engine/trace_threads.hpp"
#include "src/findings/roofline.hpp"
#include "src/findings/roofline_share.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// Two rows of a prompt, the second of which chose the only token.
Trace trace_of(const std::string& request, const std::string& group) {
  Trace trace;
  trace.request = request;
  trace.group = group;
  trace.decoder = trace.arm = "ar";
  trace.examples = {"example"};
  trace.tokens = {1, 2};
  trace.position = {0, 1};
  trace.step = {0, 0};
  trace.visible = {{0}, {0, 1}};
  trace.predicts = {std::nullopt, 3};
  trace.from.resize(2);
  trace.banned.resize(2);
  trace.allowed.resize(2);
  trace.dropped_at.resize(2);
  trace.emitted = {1};
  return trace;
}

std::vector<TraceWork> works_of(const std::vector<Trace>& traces) {
  std::vector<TraceWork> works;
  for (const Trace& trace : traces) add_work(works, trace);
  return works;
}

}  // namespace

TEST_CASE("the least time counts the experts that passes read") {
  // 1000 weights of layers, of which a row's 4 experts of 50 each are a part; 2 bytes per weight;
  // no head.
  NetworkSize network;
  network.layer_weights = 1000;
  network.bytes_per_layer_weight = 2;
  network.expert_weights = 50;
  network.experts_of_row = 4;
  Hardware machine;
  machine.bytes_per_second = 10;
  machine.flop_per_second = 1e9;
  CHECK(least_seconds({.passes = 3, .experts = 12}, network, machine) == 600);
  CHECK(least_seconds({.passes = 3, .experts = 20}, network, machine) == 600 + 8 * 50 * 2 / 10);
  // Counts of older databases, and of parts of a pass, do not make the bound smaller.
  CHECK(least_seconds({.passes = 3}, network, machine) == 600);
}

TEST_CASE("the least time on several devices is shared, or that of their link") {
  NetworkSize network;
  network.layer_weights = 1000;
  network.bytes_per_layer_weight = 2;
  network.summed_per_row = 100;
  network.bytes_per_value = 2;
  Hardware machine;
  machine.bytes_per_second = 10;
  machine.flop_per_second = 1e9;
  machine.devices = 4;
  machine.link_bytes_per_second = 1e9;
  CHECK(least_seconds({.passes = 3, .fed = 5}, network, machine) == 150);
  machine.link_bytes_per_second = 5;  // each device sends 3/4 of 100 values twice for a row
  CHECK(least_seconds({.passes = 3, .fed = 5}, network, machine) == 300);
}

TEST_CASE("requests of one group share passes, whatever their names are") {
  const auto works = works_of({trace_of("first field", "job"), trace_of("second field", "job")});
  REQUIRE(works.size() == 1);
  CHECK(works[0].requests.size() == 2);
  REQUIRE(works[0].passes.size() == 1);
  CHECK(works[0].passes[0].rows == 4);
  CHECK(works[0].chosen == 2);
}

TEST_CASE("requests without a group run alone, though their names look like fields") {
  CHECK(works_of({trace_of("job/0/0", ""), trace_of("job/0/1", "")}).size() == 2);
  CHECK(works_of({trace_of("job/point-1", ""), trace_of("job/point-2", "")}).size() == 2);
}

TEST_CASE("the same request again, and another group, start again") {
  CHECK(works_of({trace_of("a", "job"), trace_of("a", "job")}).size() == 2);
  CHECK(works_of({trace_of("a", "one job"), trace_of("b", "other job")}).size() == 2);
}

TEST_CASE("the group of a trace is written and read; a trace without one has none") {
  CHECK(parse_trace(Json(to_json(trace_of("a", "job"))), "t").group == "job");
  CHECK_FALSE(to_json(trace_of("a", "")).contains("group"));
  CHECK(parse_trace(Json(to_json(trace_of("a", ""))), "t").group.empty());
}
