#include "src/reproduction/bound_evidence.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// A prompt of one row, then passes of `rows` rows, each of which sees only itself and is chosen.
Trace trace_of(const std::string& arm, std::vector<std::string> examples, int passes, int rows) {
  Trace trace;
  trace.request = examples.front();
  trace.decoder = trace.arm = arm;
  trace.examples = std::move(examples);
  for (int pass = 0; pass < passes; ++pass)
    for (int row = 0; row < rows; ++row) {
      trace.visible.push_back({static_cast<int>(trace.tokens.size())});
      trace.emitted.push_back(static_cast<int>(trace.tokens.size()));
      trace.tokens.push_back(1);
      trace.step.push_back(pass);
      trace.predicts.emplace_back(1);
    }
  return trace;
}

/// A device whose passes take about as long as its memory needs for the weights.
BoundSetting setting() {
  BoundSetting setting;
  NetworkSize network;
  network.layer_weights = 1e9;
  network.bytes_per_value = network.bytes_per_layer_weight = network.bytes_per_head_weight = 2;
  setting.networks.push_back({"net", network, std::nullopt});
  Hardware machine;
  machine.name = "box";
  machine.bytes_per_second = 1e12;
  machine.flop_per_second = 1e18;
  setting.machines.push_back(machine);
  return setting;
}

std::string name_of(int example) { return "e" + std::to_string(example); }

bool near(double a, double b) { return std::abs(a - b) < 1e-9 * std::abs(b); }

}  // namespace

TEST_CASE("bounds: a ratio of passes is the speedup, and varies as examples do") {
  std::vector<Trace> traces;
  double passes = 0, fewer = 0;
  for (int e = 0; e < 12; ++e) {
    const int ids = 24 + 12 * (e % 3);
    traces.push_back(trace_of("ar", {name_of(e)}, ids, 1));
    traces.push_back(trace_of("two", {name_of(e)}, ids / 2, 2));
    traces.push_back(trace_of("varies", {name_of(e)}, ids / (2 + e % 2), 2 + e % 2));
    passes += ids;
    fewer += ids / (2 + e % 2);
  }
  const BoundEvidence evidence({{"data", traces}}, setting(), {});
  const Scope place{"data, net on box"};
  CHECK(evidence.places() == std::vector<std::string>{place.dataset});

  const Measured twice = *evidence.ratio(place, "two", "ar", "speed").measured;
  CHECK(near(twice.value.estimate, 2));
  CHECK(near(twice.value.low, 2));  // of every example
  CHECK(near(twice.value.high, 2));
  CHECK(twice.units == 12);
  CHECK(twice.logarithmic);

  const Measured varies = *evidence.ratio(place, "varies", "ar", "speed").measured;
  CHECK(near(varies.value.estimate, passes / fewer));
  CHECK(varies.value.low < varies.value.estimate);
  CHECK(varies.value.low > 2);
  CHECK(varies.value.high < 3);
  CHECK(near(evidence.level(place, "varies", "tokens_per_forward").measured->value.estimate,
             passes / fewer));
  CHECK(near(evidence.level(place, "two", "rows_per_pass").measured->value.estimate, 2));
  CHECK(near(evidence.level(place, "two", "length").measured->value.estimate, passes / 12));
  const Measured more = *evidence.difference(place, "varies", "ar", "tokens_per_forward").measured;
  CHECK(near(more.value.estimate, passes / fewer - 1));
  CHECK_FALSE(more.logarithmic);

  CHECK(evidence.level(place, "ar", "latency").lacks == "latency, which no roofline has");
  CHECK(evidence.ratio(place, "none", "ar", "speed").lacks == "a trace of arm none");
  CHECK(evidence.level({place.dataset, {"maths"}}, "ar", "speed").lacks == "traces by category");
}

TEST_CASE("bounds: a bound limits a speedup over the baseline, and no other ratio") {
  std::vector<Trace> traces;
  for (int e = 0; e < 12; ++e) {
    traces.push_back(trace_of("ar", {name_of(e)}, 24, 1));
    traces.push_back(trace_of("two", {name_of(e)}, 12, 2));
    traces.push_back(trace_of("four", {name_of(e)}, 6, 4));
  }
  BoundSetting with_baseline = setting();
  with_baseline.baseline = "ar";
  const BoundEvidence evidence({{"data", traces}}, with_baseline, {}, {}, true);
  const Scope place{"data, net on box"};
  const auto ratio = [&](const char* a, const char* b, const char* metric) {
    return evidence.ratio(place, a, b, metric).measured->standing;
  };
  CHECK(ratio("two", "ar", "speed") == Standing::at_most);
  CHECK(ratio("ar", "two", "speed") == Standing::at_least);
  CHECK(ratio("four", "two", "speed") == Standing::nothing);
  // A number that is counted in the traces is no bound.
  CHECK(ratio("four", "two", "tokens_per_forward") == Standing::itself);
  CHECK(evidence.level(place, "two", "speed").measured->standing == Standing::at_most);
  CHECK(evidence.level(place, "two", "tokens_per_forward").measured->standing == Standing::itself);
  CHECK(evidence.difference(place, "two", "ar", "speed").measured->standing == Standing::nothing);
  CHECK(
      evidence.ratio_of_ratios(place, {"four", "ar"}, {"two", "ar"}, "speed").measured->standing ==
      Standing::nothing);
  CHECK(evidence.qualifiers(place.dataset).text() == "bound, scaled");
}

TEST_CASE("bounds: warnings about answers concern the bound, those about their time do not") {
  Overview made;
  made.arms.emplace_back();
  made.arms.back().run.run.label = "k5";
  made.arms.back().run.run.decoder = "space";
  made.arms.back().run.run.dataset.name = "data";
  made.arms.back().disturbed = 3;
  for (const char* code : {"untaught", "traced", "short_batch"})
    made.warnings.push_back({code, "data", "k5", "found", ""});
  const BoundEvidence evidence({{"data", {trace_of("k5", {"e"}, 3, 1)}}}, setting(), {}, {made});
  const auto caveats = evidence.caveats("data, net on box", {"k5"}, "speed");
  REQUIRE(caveats.size() == 1);
  CHECK(caveats[0].code == "untaught");
  CHECK(caveats[0].effect == Effect::unfit);
}

TEST_CASE("bounds: examples of one prompt are one unit, whichever arm has the prompt") {
  std::vector<Trace> traces;
  for (int e = 0; e < 12; ++e) traces.push_back(trace_of("ar", {name_of(e)}, 20, 1));
  for (int e = 0; e < 12; e += 3)
    traces.push_back(trace_of("stack", {name_of(e), name_of(e + 1), name_of(e + 2)}, 20, 3));
  const BoundEvidence evidence({{"data", traces}}, setting(), {});
  const Scope place{"data, net on box"};
  const Measured thrice = *evidence.ratio(place, "stack", "ar", "speed").measured;
  CHECK(thrice.units == 4);
  CHECK(near(thrice.value.estimate, 3));
  CHECK(near(evidence.level(place, "stack", "length").measured->value.estimate, 20));

  // All examples in one prompt: none can be left out, and their spread is unknown.
  traces.push_back(trace_of(
      "all",
      [] {
        std::vector<std::string> all;
        for (int e = 0; e < 12; ++e) all.push_back(name_of(e));
        return all;
      }(),
      20, 12));
  const BoundEvidence single({{"data", traces}}, setting(), {});
  const Measured one = *single.ratio(place, "stack", "ar", "speed").measured;
  CHECK(one.units == 1);
  CHECK(near(one.value.estimate, 3));
  CHECK(std::isnan(one.value.low));
}

TEST_CASE("bounds: parallel jobs share what a pass reads") {
  std::vector<Trace> traces;
  for (int e = 0; e < 12; ++e)
    for (const char* arm : {"one", "four"}) traces.push_back(trace_of(arm, {name_of(e)}, 20, 1));
  BoundSetting four = setting();
  four.batches["four"] = 4;
  const BoundEvidence evidence({{"data", traces}}, four, {});
  const Found ratio = evidence.ratio({"data, net on box"}, "four", "one", "speed");
  CHECK(near(ratio.measured->value.estimate, 4));
  CHECK(near(ratio.measured->value.low, 4));  // of each example, however long it is
  CHECK(near(ratio.measured->value.high, 4));
  CHECK(ratio.measured->units == 12);
  CHECK(near(
      evidence.level({"data, net on box"}, "four", "tokens_per_forward").measured->value.estimate,
      1));
}

TEST_CASE("bounds: arms are compared on the examples that both have") {
  std::vector<Trace> traces;
  for (int e = 0; e < 12; ++e) traces.push_back(trace_of("ar", {name_of(e)}, e < 6 ? 20 : 90, 1));
  for (int e = 0; e < 6; ++e) traces.push_back(trace_of("two", {name_of(e)}, 10, 2));
  traces.push_back(trace_of("late", {name_of(11)}, 45, 2));
  const BoundEvidence evidence({{"data", traces}}, setting(), {});
  const Scope place{"data, net on box"};
  const Measured twice = *evidence.ratio(place, "two", "ar", "speed").measured;
  CHECK(near(twice.value.estimate, 2));
  CHECK(twice.units == 6);
  CHECK(near(evidence.level(place, "two", "length").measured->value.estimate, 20));
  CHECK(evidence.ratio(place, "two", "late", "speed").lacks == "an example of two and late");
}

TEST_CASE("bounds: in two speedups over the same examples, what is common cancels") {
  std::vector<Trace> traces;
  for (int e = 0; e < 12; ++e) {
    const int share = 2 + e % 3;
    traces.push_back(trace_of("ar", {name_of(e)}, 60, 1));
    traces.push_back(trace_of("a", {name_of(e)}, 60 / share, share));
    traces.push_back(trace_of("b", {name_of(e)}, 120 / share, share));
  }
  const BoundEvidence evidence({{"data", traces}}, setting(), {});
  const Scope place{"data, net on box"};
  const Measured a = *evidence.ratio(place, "a", "ar", "speed").measured;
  CHECK(a.value.high / a.value.low > 1.2);
  const Measured link =
      *evidence.ratio_of_ratios(place, {"a", "ar"}, {"b", "ar"}, "speed").measured;
  CHECK(near(link.value.estimate, 2));
  CHECK(near(link.value.low, 2));
  CHECK(near(link.value.high, 2));
}

TEST_CASE("bounds: by the token, without the prompt's pass and its token") {
  std::vector<Trace> traces;
  for (int e = 0; e < 12; ++e) {
    traces.push_back(trace_of("ar", {name_of(e)}, 21, 1));
    traces.push_back(
        trace_of("longer", {name_of(e)}, 31, 2));  // 2 ids in a pass, also in the prompt's
  }
  BoundSetting with_baseline = setting();
  with_baseline.baseline = "ar";
  const BoundEvidence evidence({{"data", traces}}, with_baseline, {});
  const Scope place{"data, net on box"};
  // Twelve answers of 62 ids in 30 passes after the prompt's, compared with 20 in 20.
  const Measured ratio = *evidence.ratio(place, "longer", "ar", "decode_speed").measured;
  CHECK(near(ratio.value.estimate, 61.0 / 30));
  CHECK(ratio.standing == Standing::at_most);
  CHECK(near(evidence.ratio(place, "longer", "ar", "speed").measured->value.estimate, 21.0 / 31));
  CHECK(evidence.ratio(place, "ar", "longer", "decode_speed").measured->standing ==
        Standing::at_least);
  CHECK(evidence.level(place, "ar", "decode_speed").measured->standing == Standing::at_most);
}

TEST_CASE("bounds: fewer than six examples have no interval") {
  std::vector<Trace> traces;
  for (int e = 0; e < 5; ++e) {
    traces.push_back(trace_of("ar", {name_of(e)}, 20 + e, 1));
    traces.push_back(trace_of("two", {name_of(e)}, 10 + e % 2, 2));
  }
  const Scope place{"data, net on box"};
  const auto interval = [&] {
    return BoundEvidence({{"data", traces}}, setting(), {})
        .ratio(place, "two", "ar", "speed")
        .measured->value;
  };
  CHECK(std::isnan(interval().low));
  CHECK(interval().estimate > 1);
  traces.push_back(trace_of("ar", {name_of(5)}, 25, 1));
  traces.push_back(trace_of("two", {name_of(5)}, 11, 2));
  CHECK(interval().low > 1);
}

TEST_CASE("bounds: each dataset has its own places, whatever names the others have") {
  const std::vector<Trace> traces{trace_of("ar", {"a"}, 4, 1), trace_of("ar", {"b"}, 6, 1)};
  const BoundEvidence evidence({{"data", traces}, {"data, more of it", traces}}, setting(), {});
  CHECK(evidence.places().size() == 2);
  CHECK(evidence.places_of("data") == std::vector<std::string>{"data, net on box"});
  CHECK(evidence.places_of("more").empty());
}
