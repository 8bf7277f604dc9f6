// HPD on the engine: the worked examples literally, whole traces against Algorithm 1, the counters
// of a run, and which choices of a value may depend on another value.
#include "decoders/hpd/hpd.hpp"

#include <algorithm>
#include <numeric>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/hpd_reference.hpp"
#include "tests/support/rows_as_text.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr Token T = kLineBreak;

std::unique_ptr<Decoder> hpd(int k_max, int stack, const char* isolated = "none") {
  return make_decoder("hpd", {{"k_max", k_max}, {"stack", stack}, {"isolated", isolated}});
}

/// p = 1 2, seg_1 = 3 4, seg_2 = 5 6, and the choices given.
Request hpd_worked_example(std::vector<Tokens> values) {
  Request request;
  request.job = random_job("worked", 1, 2, 1);
  request.pieces.prefix = {1, 2};
  request.pieces.contexts = {{}};
  request.pieces.segments = {{3, 4}, {5, 6}};
  request.oracle = Oracle{std::move(values), {}};
  return request;
}

Trace trace_of(const Request& request, const Decoder& decoder, TinyNetwork& network) {
  Model model = network.load(Dtype::fp32);
  const Ran ran = run(model, network.tokenizer(), decoder, {request}, 1, true);
  REQUIRE(ran.of().counters.forwards > 0);
  return ran.traces.at(request.job.id);
}

HpdOptions options_of(const Decoder& decoder) {
  const auto options = decoder.options();
  const std::string isolated = options["isolated"];
  return {options["k_max"], options["stack"],
          isolated == "values"     ? HpdIsolation::values
          : isolated == "products" ? HpdIsolation::products
                                   : HpdIsolation::none};
}

std::vector<Tokens> ids_of(const Answers& answers) {
  std::vector<Tokens> ids;
  for (const auto& value : flat(answers)) ids.push_back(value.tokens);
  return ids;
}

/// The trace without the predictions of rows that chose no answer token. It may contain nothing
/// else.
void check_against_algorithm_1(const Trace& trace, const Request& request, const Answers& answers,
                               const Decoder& decoder) {
  const Trace expected =
      algorithm_1(request.pieces.whole_prompt(), request.pieces.segments, ids_of(answers),
                  static_cast<int>(request.job.contexts.size()), options_of(decoder));
  CHECK(trace.tokens == expected.tokens);
  CHECK(trace.position == expected.position);
  CHECK(trace.step == expected.step);
  CHECK(trace.visible == expected.visible);
  CHECK(trace.dropped_at == expected.dropped_at);
  CHECK(trace.emitted == expected.emitted);
  if (!request.oracle) {
    CHECK(trace.from == expected.from);
    CHECK(trace.predicts == expected.predicts);
  }
}

void check_counters(const Request& request, const Answers& answers, const Trace& trace, int k_max) {
  const Counters& c = answers.counters;
  std::int64_t longest = 0, chosen = 0,
               s = static_cast<std::int64_t>(request.pieces.whole_prompt().size());
  CHECK(c.prompt == s);
  for (const auto& segment : request.pieces.segments)
    s += static_cast<std::int64_t>(segment.size());
  CHECK(c.forced == s - c.prompt);
  std::vector<std::int64_t> lengths;
  std::map<std::int64_t, std::int64_t> per_forward;
  for (const auto& value : flat(answers)) {
    lengths.push_back(static_cast<std::int64_t>(value.tokens.size()));
    longest = std::max(longest, lengths.back());
    chosen += lengths.back();
  }
  for (std::int64_t t = 1; t <= longest; ++t)
    ++per_forward[static_cast<int>(
        std::count_if(lengths.begin(), lengths.end(), [&](auto k) { return k >= t; }))];
  CHECK(longest <= k_max);
  CHECK(c.branch_lengths == lengths);  // K_r
  CHECK(c.forwards == longest);        // max K_r
  CHECK(c.chosen == chosen);           // sum K_r
  CHECK(c.fed == s + chosen - std::ssize(lengths));
  CHECK(c.emitted == per_forward);
  CHECK(c.scratch == 0);
  CHECK(c.cached_peak == c.fed);  // nothing is ever dropped, nothing padded
  CHECK(c.parallel_ratio() == Approx(static_cast<double>(chosen) / static_cast<double>(longest)));
  std::int64_t attended = 0, cached = 0, alive = 0;
  for (const auto& seen : trace.visible) attended += std::ssize(seen);
  for (int step = 0; step < longest; ++step)
    cached += alive += std::count(trace.step.begin(), trace.step.end(), step);
  CHECK(c.attended == attended);
  CHECK(c.cached_sum == cached);
  std::int64_t histogram_tokens = 0, histogram_forwards = 0;
  for (const auto& [tokens, forwards] : c.emitted)
    histogram_tokens += tokens * forwards, histogram_forwards += forwards;
  CHECK(histogram_tokens == c.chosen);
  CHECK(histogram_forwards == c.forwards);
  CHECK((c.text <= c.chosen && c.text >= c.chosen - std::ssize(lengths)));
  CHECK(c.prefill_ns + c.decode_ns == c.total_ns);
}

}  // namespace

TEST_CASE("worked example, fed through the engine") {
  TinyNetwork network;
  const Trace trace = trace_of(hpd_worked_example({{7, 8, T}, {9, 10, T}}), *hpd(3, 1), network);
  CHECK(trace.tokens == Tokens{1, 2, 3, 4, 5, 6, 7, 9, 8, 10});
  CHECK(trace.position == std::vector<int>{0, 1, 2, 3, 7, 8, 4, 9, 5, 10});
  CHECK(trace.step == std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 2, 2});
  CHECK(trace.emitted == std::vector<int>{3, 5, 6, 7, 8, 9});
  const char* mask[] = {"1000000000", "1100000000", "1110000000", "1111000000", "1111100000",
                        "1111110000", "1111001000", "1111111100", "1111001010", "1111111111"};
  for (size_t row = 0; row < 10; ++row) CHECK(bits(trace.visible[row], 10) == mask[row]);
}

TEST_CASE("worked example: 3 forwards, 10 tokens fed, 6 chosen, parallelism 2") {
  TinyNetwork network;
  Model model = network.load(Dtype::fp32);
  const Counters c =
      run(model, network.tokenizer(), *hpd(3, 1), {hpd_worked_example({{7, 8, T}, {9, 10, T}})})
          .of()
          .counters;
  CHECK(c.forwards == 3);
  CHECK(c.fed == 10);
  CHECK(c.chosen == 6);
  CHECK(c.parallel_ratio() == 2.0);
  CHECK(c.emitted == std::map<std::int64_t, std::int64_t>{{2, 3}});
}

TEST_CASE("worked example, isolated") {
  TinyNetwork network;
  for (const char* isolated : {"values", "products"}) {
    const Trace trace =
        trace_of(hpd_worked_example({{7, 8, T}, {9, 10, T}}), *hpd(3, 1, isolated), network);
    const bool values = isolated == std::string("values");
    CHECK(bits(trace.visible[7], 10) == (values ? "1111110100" : "1111111100"));  // v21
    CHECK(bits(trace.visible[9], 10) == (values ? "1111110101" : "1111111111"));  // v22
    CHECK(bits(trace.visible[8], 10) == "1111001010");                            // v12
  }
}

TEST_CASE("pruning: a closed value is not fed any more, and its fed rows stay visible") {
  TinyNetwork network;
  const Trace trace = trace_of(hpd_worked_example({{7, T}, {9, 10, T}}), *hpd(3, 1), network);
  CHECK(trace.tokens == Tokens{1, 2, 3, 4, 5, 6, 7, 9, 10});
  CHECK(trace.position == std::vector<int>{0, 1, 2, 3, 7, 8, 4, 9, 10});
  CHECK(trace.step == std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 2});
  CHECK(bits(trace.visible[8], 9) == "111111111");  // 10@10 sees 7@4
  CHECK(trace.emitted == std::vector<int>{3, 5, 6, 7, 8});
}

TEST_CASE(
    "a value that ends at once feeds nothing; a value cut at K_max never feeds its last token") {
  TinyNetwork network;
  const Trace empty = trace_of(hpd_worked_example({{T}, {9, T}}), *hpd(3, 1), network);
  CHECK(empty.tokens == Tokens{1, 2, 3, 4, 5, 6, 9});
  const Trace both = trace_of(hpd_worked_example({{T}, {T}}), *hpd(3, 1), network);
  CHECK(both.tokens == Tokens{1, 2, 3, 4, 5, 6});
  const Request cut = hpd_worked_example({{7, 8, 11}, {9, 10, T}});
  CHECK(trace_of(cut, *hpd(3, 1), network).tokens == Tokens{1, 2, 3, 4, 5, 6, 7, 9, 8, 10});
  Model model = network.load(Dtype::fp32);
  const Answers answers = run(model, network.tokenizer(), *hpd(3, 1), {cut}).of();
  CHECK(answers.fields[0][0].stop == Stop::limit);
  CHECK(answers.fields[0][0].tokens == Tokens{7, 8, 11});
  CHECK(answers.fields[0][1].stop == Stop::terminator);
}

TEST_CASE("a batch of unequal rows is packed without dummies") {
  // Row A as in the worked example, row B with |s| = 4 and one attribute.
  TinyNetwork network;
  Request b = hpd_worked_example({{9, 10, T}});
  b.job = random_job("b", 1, 1, 1);
  b.pieces.segments = {{3, 4}};
  Model model = network.load(Dtype::fp32);
  const Ran ran = run(model, network.tokenizer(), *hpd(3, 1),
                      {hpd_worked_example({{7, 8, T}, {9, 10, T}}), b}, 2, true);
  const Trace& row_b = ran.traces.at("b");
  CHECK(row_b.tokens == Tokens{1, 2, 3, 4, 9, 10});
  CHECK(row_b.position == std::vector<int>{0, 1, 2, 3, 4, 5});
  CHECK(bits(row_b.visible[4], 6) == "111110");
  CHECK(ran.of(1).counters.fed == 6);
}

TEST_CASE("random networks: all rows ever fed are those of Algorithm 1, with the right counts") {
  int empty = 0, early = 0, cut = 0;
  for (const std::uint64_t seed : {11, 12, 13, 14}) {
    const char* family = seed % 2 ? "llama" : "qwen3";
    TinyNetwork network(family, seed);
    Model model = network.load(Dtype::fp32);
    for (const char* isolated : {"none", "values", "products"})
      for (const int k_max : {1, 4, 9}) {
        const auto decoder = hpd(k_max, 3, isolated);
        std::vector<Request> requests;
        for (int i = 0; i < 4; ++i)
          requests.push_back(make_request(
              random_job(str("job", i), 1 + i % 3, 1 + 3 * i, static_cast<std::uint64_t>(k_max)),
              *decoder, network.tokenizer()));
        const Ran ran = run(model, network.tokenizer(), *decoder, requests, 3, true);
        for (size_t i = 0; i < requests.size(); ++i) {
          INFO(family << " seed " << seed << " isolated=" << isolated << " K_max=" << k_max
                      << " request " << i);
          const Answers& answers = ran.of(i);
          const Trace& trace = ran.traces.at(requests[i].job.id);
          check_against_algorithm_1(trace, requests[i], answers, *decoder);
          check_counters(requests[i], answers, trace, k_max);
          const size_t s = static_cast<size_t>(answers.counters.prompt + answers.counters.forced);
          for (size_t row = s; row < trace.tokens.size(); ++row)
            CHECK(network.tokenizer().bytes(trace.tokens[row]).find('\n') ==
                  std::string_view::npos);  // no terminator is computed
          for (const auto& value : flat(answers)) {
            const bool closed =
                network.tokenizer().bytes(value.tokens.back()).find('\n') != std::string_view::npos;
            CHECK(value.stop == (closed ? Stop::terminator : Stop::limit));
            CHECK(value.gaps.size() == value.tokens.size());
            CHECK(value.unforced.empty());
            if (!closed) CHECK(std::ssize(value.tokens) == k_max);
            for (size_t k = 0; k + 1 < value.tokens.size(); ++k)
              CHECK(network.tokenizer().bytes(value.tokens[k]).find('\n') ==
                    std::string_view::npos);
            (closed ? value.tokens.size() == 1 ? empty : early : cut) += 1;
          }
          // Valid JSON by construction, with exactly the fields asked for, that reads back as the
          // answers.
          REQUIRE(answers.text.starts_with("<result>"));
          const Json json = Json::parse(answers.text.substr(8, answers.text.size() - 17));
          REQUIRE(json.size() == answers.fields.size());
          for (size_t j = 0; j < answers.fields.size(); ++j)
            for (size_t n = 0; n < answers.fields[j].size(); ++n) {
              const std::string read = json.at(str(j + 1)).at(str("A", n + 1));
              CHECK(read == answers.fields[j][n].text.value_or("n/a"));
            }
          CHECK(answers.parsed == std::vector<bool>(answers.fields.size(), true));
        }
      }
  }
  INFO("values empty " << empty << ", early " << early << ", cut " << cut);
  CHECK(std::min({empty, early, cut}) > 50);  // the networks end values in all three ways
}

TEST_CASE("K_max = 1: one forward pass") {
  TinyNetwork network("qwen3", 3);
  Model model = network.load(Dtype::fp32);
  const auto decoder = hpd(1, 2);
  const Request request = make_request(random_job("one", 2, 5, 1), *decoder, network.tokenizer());
  const Answers answers = run(model, network.tokenizer(), *decoder, {request}).of();
  CHECK(answers.counters.forwards == 1);
  CHECK(answers.counters.chosen == 10);
  CHECK(answers.counters.fed == answers.counters.prompt + answers.counters.forced);
}

TEST_CASE("one attribute of one product: hpd is autoregressive decoding with its key forced") {
  int compared = 0;
  for (const char* family : {"llama", "qwen3"})
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      TinyNetwork network(family, seed);
      for (const Dtype dtype : {Dtype::fp32, Dtype::fp64}) {
        Model model = network.load(dtype);
        for (const int k_max : {1, 2, 6, 20}) {
          INFO(family << " seed " << seed << " " << name(dtype) << " K_max " << k_max);
          const auto ours = hpd(k_max, 1), ar = make_decoder("ar", {{"forced_keys", true}});
          Job job = random_job("same", 1, 1, seed);
          job.limits.per_field = k_max;
          const Answers a = run(model, network.tokenizer(), *ours,
                                {make_request(job, *ours, network.tokenizer())})
                                .of();
          const Answers b =
              run(model, network.tokenizer(), *ar, {make_request(job, *ar, network.tokenizer())})
                  .of();
          CHECK(a.fields[0][0].tokens == b.fields[0][0].tokens);
          CHECK(a.fields[0][0].text == b.fields[0][0].text);
          CHECK(a.fields[0][0].stop == b.fields[0][0].stop);
          CHECK(a.text == b.text);
          CHECK(a.counters.forwards == b.counters.forwards);
          CHECK(a.counters.fed == b.counters.fed);
          CHECK(a.counters.text == b.counters.text);
          compared += static_cast<int>(a.fields[0][0].tokens.size());
        }
      }
    }
  CHECK(compared > 100);
}

TEST_CASE("a layout that needs more positions than the network has fails before any forward") {
  TinyNetwork network("llama", 1, {{"max_position_embeddings", 128}});
  Model model = network.load(Dtype::fp32);
  const auto decoder = hpd(30, 2);
  const Request request = make_request(random_job("long", 2, 3, 1), *decoder, network.tokenizer());
  const Ran ran = run(model, network.tokenizer(), *decoder, {request}, 1, true);
  CHECK(!ran.answers[0]);
  int s = static_cast<int>(request.pieces.whole_prompt().size());
  for (const auto& segment : request.pieces.segments) s += static_cast<int>(segment.size());
  CHECK_THAT(ran.errors[0], Catch::Contains("context overflow") &&
                                Catch::Contains(str(s + 6 * 30, " positions")) &&
                                Catch::Contains("128"));
  CHECK(ran.traces.empty());
  // One less than too large a K_max is the last that fits: |s| - 1 + R * K_max <
  // max_position_embeddings.
  const int fits = (128 - s) / 6;
  REQUIRE(fits >= 1);
  CHECK(run(model, network.tokenizer(), *hpd(fits, 2), {request}).errors[0] == "");
  CHECK(run(model, network.tokenizer(), *hpd(fits + 1, 2), {request}).errors[0] != "");
}

TEST_CASE("without a tokenizer hpd says that it needs one") {
  TinyNetwork network;
  Model model = network.load(Dtype::fp32);
  const SteadyClock clock;
  Engine engine(model, clock);
  const auto decoder = hpd(2, 1);
  const Request request = hpd_worked_example({{T}, {T}});
  const DecoderContext context{engine, nullptr, false};
  Task<Answers> task = decoder->decode(request, context);
  task.start();
  REQUIRE(task.done());
  CHECK_THROWS_AS(task.result(), ConfigError);
}

TEST_CASE(
    "which choices another value can change: in the paper those of later values from its index on, "
    "with isolation none") {
  // Values of 5 tokens + terminator; two products of three attributes. Token 3 of value 2 is
  // changed.
  TinyNetwork network("llama", 5);
  Model model = network.load(Dtype::fp64);
  constexpr int kValues = 6, kPerProduct = 3, kChanged = 1, kIndex = 3;
  std::vector<Tokens> streams;
  for (int r = 0; r < kValues; ++r) {
    streams.emplace_back();
    for (int k = 1; k <= 5; ++k) streams.back().push_back(20 + 10 * r + k);
    streams.back().push_back(T);
  }
  for (const char* isolated : {"none", "values", "products"}) {
    const auto decoder = hpd(6, 2, isolated);
    Request request = make_request(random_job("moved", 2, 3, 9), *decoder, network.tokenizer());
    request.oracle = Oracle{streams, {}};
    const std::vector<FieldResult> before =
        flat(run(model, network.tokenizer(), *decoder, {request}).of());
    request.oracle->streams[kChanged][kIndex - 1] = 200;
    const std::vector<FieldResult> after =
        flat(run(model, network.tokenizer(), *decoder, {request}).of());
    for (int r = 0; r < kValues; ++r) {
      float largest = 0;
      bool may_any = false;
      for (int k = 1; k <= 6; ++k) {
        // Choice k of value r is made from the row of v_{r,k-1}, which attends to other values'
        // tokens up to k - 1.
        const bool sees_it =
            r == kChanged || (isolated == std::string("none") && r > kChanged) ||
            (isolated == std::string("products") && r > kChanged && r < kPerProduct);
        const bool may_move = sees_it && k - 1 >= kIndex;
        const float difference =
            std::abs(before[static_cast<size_t>(r)].gaps[static_cast<size_t>(k - 1)] -
                     after[static_cast<size_t>(r)].gaps[static_cast<size_t>(k - 1)]);
        INFO("isolated=" << isolated << " value " << r + 1 << " choice " << k << ": gap moved by "
                         << difference);
        // fp64, returned as float32 difference of two logits below 8: two roundings each.
        may_any |= may_move;
        largest = std::max(largest, difference);
        if (may_move) continue;
        CHECK(difference <= 4 * 8 * 0x1p-24f);
        CHECK(before[static_cast<size_t>(r)].unforced[static_cast<size_t>(k - 1)] ==
              after[static_cast<size_t>(r)].unforced[static_cast<size_t>(k - 1)]);
      }
      INFO("isolated=" << isolated << " value " << r + 1 << ": gaps moved by up to " << largest);
      CHECK((largest > 1e-3f) == may_any);
    }
  }
}
