// IPPD on the engine: the worked example literally, and its answers against independent decoding
// (by ar and by slow loops), with pads, orders and batches of all kinds.
#include "decoders/ippd/ippd.hpp"

#include <algorithm>
#include <numeric>

#include "metrics/attention_model.hpp"
#include "metrics/decoding_metrics.hpp"
#include "src/engine/prefix_cache.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/ippd_reference.hpp"
#include "tests/support/rows_as_text.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

// As in batch_test.cpp: another batch shape moves fp32 logits by some 5e-6.
constexpr float kTie = 5e-5f;

std::unique_ptr<Decoder> ippd(int contexts, bool prefix_cache = false) {
  return make_decoder("ippd", {{"contexts", contexts}, {"prefix_cache", prefix_cache}});
}
std::unique_ptr<Decoder> separately(const char* prefix_cache = "none") {
  return make_decoder("ar", {{"ask", "separately"}, {"prefix_cache", prefix_cache}});
}

/// The request with only the first 1 + (seed + c) % n of the n fields of context c, so that
/// contexts have different numbers of them.
Request uneven(Request request, std::uint64_t seed) {
  for (size_t c = 0; c < request.pieces.fields.size(); ++c) {
    auto& fields = request.pieces.fields[c];
    fields.resize(1 + (seed + c) % fields.size());
    request.job.contexts[c].fields.resize(fields.size());
  }
  return request;
}

/// Ends of sequence among the ids that these networks choose often, so that answers are of all
/// lengths.
Json many_ends() {
  Json eos = Json::array();
  for (int id = 30; id < 90; ++id) eos.push_back(id);
  return {{"eos_token_id", eos}};
}

IppdPrompt prompt_of(const Request& request) {
  return {request.pieces.prefix, request.pieces.contexts, request.pieces.fields};
}

/// p = P0 P1; c_1 = C0 C1 with x_11 = Q0, x_12 = R0 R1; c_2 = D0 with x_21 = S0; the ids given are
/// chosen.
Request ippd_worked_example(std::vector<Tokens> answers) {
  Request request;
  request.form = Form::value;
  request.job = random_job("worked", 2, 2, 1);
  request.job.contexts[1].fields.resize(1);
  request.pieces.prefix = {10, 11};
  request.pieces.contexts = {{20, 21}, {30}};
  request.pieces.fields = {{{40}, {50, 51}}, {{60}}};
  request.oracle = Oracle{std::move(answers), {}};
  return request;
}

/// One prompt of a padded batch, as the paper runs it (section 4.4), on the engine: `left` pads
/// before everything, and in each decode step pads up to `width` rows. Returns the ids of every
/// question.
Task<void> padded(Engine& engine, IppdLayout layout, int left, int width, int limit,
                  std::vector<Token> eos, std::vector<Tokens>& chosen) {
  Sequence sequence = engine.open("padded", "test");
  for (const auto& sees : layout.sees) sequence.add_segment(sees);
  const int pads = sequence.add_segment({});
  int column = 0;
  Step step;
  const auto pad = [&] { step.add(3, {0, column++, pads, 0}, Origin::forced); };
  for (int i = 0; i < left; ++i) pad();
  for (size_t i = 0; i < layout.tokens.size(); ++i)
    step.add(layout.tokens[i], layout.labels[i], Origin::prompt);
  for (const auto& question : layout.questions) step.want(left + question.end);
  chosen.assign(layout.questions.size(), {});
  std::vector<int> open(chosen.size());
  std::iota(open.begin(), open.end(), 0);
  while (!open.empty()) {
    StepResult result = co_await sequence.forward(std::exchange(step, Step{}));
    std::vector<int> still_open;
    for (size_t i = 0; i < open.size(); ++i) {
      Tokens& y = chosen[static_cast<size_t>(open[i])];
      y.push_back(result.outputs[i].best);
      if (static_cast<int>(y.size()) == limit ||
          std::find(eos.begin(), eos.end(), y.back()) != eos.end())
        continue;
      still_open.push_back(open[i]);
      const int row =
          step.add(y.back(), layout.answer(open[i], static_cast<int>(y.size())), Origin::chosen);
      step.want(row);
    }
    while (step.size() < width) pad();
    open = still_open;
  }
}

}  // namespace

TEST_CASE("ippd worked example, fed through the engine") {
  TinyNetwork network;
  Model model = network.load(Dtype::fp32);
  const char* mask[] = {"100000000000000", "110000000000000", "111000000000000", "111100000000000",
                        "111110000000000", "111101000000000", "111101100000000", "110000010000000",
                        "110000011000000", "111110000100000", "111101100010000", "110000011001000",
                        "111110000100100", "111101100010010", "110000011001001"};
  for (const bool cached : {false, true}) {
    const Ran ran = run(model, network.tokenizer(), *ippd(2, cached),
                        {ippd_worked_example({{71, 72, 73}, {81, 82, 83}, {91, 92, 93}})}, 1, true);
    const Trace& trace = ran.traces.at("worked");
    CHECK(trace.tokens == Tokens{10, 11, 20, 21, 40, 50, 51, 30, 60, 71, 81, 91, 72, 82, 92});
    CHECK(trace.position == std::vector<int>{0, 1, 2, 3, 4, 4, 5, 2, 3, 5, 6, 4, 6, 7, 5});
    for (size_t row = 0; row < 15; ++row) CHECK(bits(trace.visible[row], 15) == mask[row]);
    CHECK(trace.emitted == std::vector<int>{4, 6, 8, 9, 10, 11, 12, 13, 14});
    // A cached instruction is computed one pass before the rest.
    CHECK(trace.step == (cached ? std::vector<int>{0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3}
                                : std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2}));
    CHECK(ran.traces.size() == 1);
    CHECK(ran.of().counters.forwards == 3 + cached);
    CHECK(ran.of().counters.fed == 15);
    CHECK(ran.of().counters.prompt == 9);
  }
}

TEST_CASE("ippd: an answer that ends early is not fed any more") {
  TinyNetwork network;
  Model model = network.load(Dtype::fp32);
  constexpr Token kEnd = 0;
  const Ran ran = run(model, network.tokenizer(), *ippd(2),
                      {ippd_worked_example({{71, kEnd}, {81, 82, kEnd}, {91, 92, kEnd}})}, 1, true);
  const Trace& trace = ran.traces.at("worked");
  CHECK(trace.tokens == Tokens{10, 11, 20, 21, 40, 50, 51, 30, 60, 71, 81, 91, 82, 92});
  CHECK(trace.position == std::vector<int>{0, 1, 2, 3, 4, 4, 5, 2, 3, 5, 6, 4, 7, 5});
  CHECK(bits(trace.visible[12], 14) == "11110110001010");
  CHECK(bits(trace.visible[13], 14) == "11000001100101");
  const Counters& c = ran.of().counters;
  CHECK(c.branch_lengths == std::vector<std::int64_t>{2, 3, 3});
  CHECK(c.emitted == std::map<std::int64_t, std::int64_t>{{2, 1}, {3, 2}});
  CHECK(c.chosen == 8);
  CHECK(c.text == 5);
  for (const auto& field : flat(ran.of())) CHECK(field.stop == Stop::eos);
  // The rows that a padded batch would have computed for a prompt with one answer of two computed
  // tokens.
  CHECK(pad_columns(std::vector<BranchLengths>{c.branch_lengths, {3}}) == 2 + 1);
}

TEST_CASE("ippd equals independent decoding by slow loops, as does the paper's padded batch") {
  int compared = 0, ended = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const char* family = seed % 2 ? "llama" : "qwen3";
    TinyNetwork network(family, seed, many_ends());
    std::vector<Token> eos;
    for (int id = 30; id < 90; ++id) eos.push_back(id);
    std::vector<Request> requests;
    std::vector<IppdPrompt> prompts;
    const auto decoder = ippd(2);
    for (int b = 0; b < 2; ++b) {
      Job job = random_job(str("slow", b), 2 - b, 3, seed);
      job.limits.per_field = 4;
      requests.push_back(
          uneven(make_request(job, *decoder, network.tokenizer()), seed + static_cast<size_t>(b)));
      prompts.push_back(prompt_of(requests.back()));
    }
    const auto expected = slow_independent(network.slow(), prompts, 4, eos);
    CHECK(slow_ippd(network.slow(), prompts, 4, eos) == expected);
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp64}) {
      Model model = network.load(dtype);
      const Ran ran = run(model, network.tokenizer(), *decoder, requests, 2);
      for (size_t b = 0; b < 2; ++b) {
        INFO(family << " seed " << seed << " " << name(dtype) << " prompt " << b);
        const std::vector<FieldResult> answers = flat(ran.of(b));
        REQUIRE(answers.size() == expected[b].size());
        for (size_t k = 0; k < answers.size(); ++k) {
          CHECK(answers[k].tokens == expected[b][k]);
          compared += static_cast<int>(answers[k].tokens.size());
          ended += answers[k].stop == Stop::eos;
        }
      }
    }
  }
  CHECK(compared > 50);
  CHECK(ended > 5);
}

TEST_CASE("ippd equals ar ask=separately on every field: stacks, orders, pads, caches, batches") {
  int compared = 0, ended = 0, limited = 0;
  float smallest = 1;
  for (const std::uint64_t seed : {11, 12, 13, 14, 15, 16, 17, 18}) {
    const char* family = seed % 2 ? "llama" : "qwen3";
    TinyNetwork network(family, seed, many_ends());
    std::vector<Token> eos;
    for (int id = 30; id < 90; ++id) eos.push_back(id);
    const Tokenizer& tokenizer = network.tokenizer();
    Model model = network.load(Dtype::fp32);
    Rng rng(seed);
    for (const int contexts : {1, 2, 5}) {
      // ar is given every context in its own job, ippd all of them in one.
      Job job = random_job(str("eq", contexts), contexts, 4, seed);
      job.limits.per_field = 6;
      const auto ar = separately();
      std::vector<Request> alone;
      for (const Context& context : job.contexts) {
        Job one = job;
        one.id = context.id;
        one.contexts = {context};
        alone.push_back(make_request(one, *ar, tokenizer));
      }
      const Ran independent = run(model, tokenizer, *ar, alone, 3);
      std::vector<FieldResult> expected;
      for (size_t c = 0; c < alone.size(); ++c)
        for (const FieldResult& field : flat(independent.of(c))) expected.push_back(field);
      for (const FieldResult& field : expected) {
        for (const float gap : field.gaps) smallest = std::min(smallest, gap);
        ++(field.stop == Stop::eos ? ended : limited);
      }

      const Request stacked = make_request(job, *ippd(contexts), tokenizer);
      REQUIRE(stacked.pieces.prefix == alone[0].pieces.prefix);
      const auto check = [&](const std::vector<FieldResult>& got,
                             const std::vector<size_t>& places) {
        REQUIRE(got.size() == places.size());
        for (size_t i = 0; i < got.size(); ++i) {
          const FieldResult& want = expected[places[i]];
          CHECK(got[i].tokens == want.tokens);
          CHECK(got[i].text == want.text);
          CHECK(got[i].stop == want.stop);
          ++compared;
        }
      };
      std::vector<size_t> in_order(expected.size());
      std::iota(in_order.begin(), in_order.end(), size_t{0});
      INFO(family << " seed " << seed << ", " << contexts << " contexts");
      for (const bool cached : {false, true})
        check(flat(run(model, tokenizer, *ippd(contexts, cached), {stacked}).of()), in_order);

      // Questions of each context in another order, and contexts too.
      Request shuffled = stacked;
      std::vector<size_t> order(static_cast<size_t>(contexts)), places;
      std::iota(order.begin(), order.end(), size_t{0});
      std::reverse(order.begin(), order.end());
      for (size_t c = 0; c < order.size(); ++c) {
        std::vector<size_t> fields{0, 1, 2, 3};
        for (size_t i = fields.size(); i > 1; --i) std::swap(fields[i - 1], fields[rng.below(i)]);
        shuffled.pieces.contexts[c] = stacked.pieces.contexts[order[c]];
        for (size_t f = 0; f < fields.size(); ++f) {
          shuffled.pieces.fields[c][f] = stacked.pieces.fields[order[c]][fields[f]];
          places.push_back(4 * order[c] + fields[f]);
        }
      }
      check(flat(run(model, tokenizer, *ippd(contexts), {shuffled}).of()), places);

      // A batch of uneven prompts, with and without the cache of the instruction.
      std::vector<Request> batch;
      std::vector<std::vector<size_t>> kept;
      for (std::uint64_t cut = 0; cut < 4; ++cut) {
        batch.push_back(uneven(stacked, cut));
        batch.back().job.id += str("-", cut);
        kept.emplace_back();
        for (size_t c = 0; c < batch.back().pieces.fields.size(); ++c)
          for (size_t f = 0; f < batch.back().pieces.fields[c].size(); ++f)
            kept.back().push_back(4 * c + f);
      }
      for (const bool cached : {false, true}) {
        const Ran ran = run(model, tokenizer, *ippd(contexts, cached), batch, 3);
        for (size_t i = 0; i < batch.size(); ++i) check(flat(ran.of(i)), kept[i]);
      }

      // Left pads, and pads up to a wider row in every step.
      for (const int left : {0, 3}) {
        const SteadyClock clock;
        Engine engine(model, clock);
        std::vector<Tokens> ids;
        const IppdLayout layout = lay_out(stacked.pieces, "padded");
        engine.run(
            1, 1,
            [&](int) {
              return padded(engine, layout, left, static_cast<int>(expected.size()) + 2, 6, eos,
                            ids);
            },
            [](const Ended& end) { end.rethrow(); });
        REQUIRE(ids.size() == expected.size());
        for (size_t k = 0; k < ids.size(); ++k) CHECK(ids[k] == expected[k].tokens);
      }
    }
  }
  INFO("smallest gap " << smallest << "; a tie within the rounding of fp32 needs another seed");
  REQUIRE(smallest > kTie);
  CHECK(compared > 2000);
  CHECK(std::min(ended, limited) > 50);
}

TEST_CASE("ippd: the same prefix cache in ar gives the same answers, and counts what it saves") {
  TinyNetwork network("qwen3", 9, many_ends());
  Model model = network.load(Dtype::fp32);
  const Tokenizer& tokenizer = network.tokenizer();
  std::vector<Request> requests;
  for (int i = 0; i < 4; ++i) {
    Job job = random_job(str("job", i), 1 + i % 2, 3, 5);
    job.limits.per_field = 1 + i;
    requests.push_back(make_request(job, *separately(), tokenizer));
  }
  REQUIRE(requests[0].pieces.prefix == requests[3].pieces.prefix);
  const Ran plain = run(model, tokenizer, *separately(), requests, 2);
  const std::int64_t p = std::ssize(requests[0].pieces.prefix);
  for (const std::string cache : {"instruction", "context"}) {
    const Ran ran = run(model, tokenizer, *separately(cache.c_str()), requests, 2, true);
    for (size_t i = 0; i < requests.size(); ++i) {
      INFO(cache << " request " << i);
      CHECK(chosen_ids(ran.of(i)) == chosen_ids(plain.of(i)));
      const Counters &now = ran.of(i).counters, &before = plain.of(i).counters;
      const std::int64_t fields = std::ssize(before.branch_lengths);
      std::int64_t c =
          0;  // tokens of contexts that are computed once instead of once for each field
      for (const Tokens& context : requests[i].pieces.contexts) c += (3 - 1) * std::ssize(context);
      const bool pays = i == 0;
      CHECK(now.prompt ==
            before.prompt - fields * p + (pays ? p : 0) - (cache == "context" ? c : 0));
      CHECK(now.fed == before.fed - before.prompt + now.prompt);
      CHECK(now.forwards == before.forwards + pays + (cache == "context"));
      CHECK(now.chosen == before.chosen);
      CHECK(now.branch_lengths == before.branch_lengths);
      std::map<std::int64_t, std::int64_t> emitted = before.emitted;
      if (pays || cache == "context") emitted[0] = pays + (cache == "context");
      CHECK(now.emitted == emitted);
      CHECK(now.total_ns >= now.prefill_ns);
    }
    // The trace of each field still has its whole prompt.
    for (const auto& [name, trace] : ran.traces) {
      const auto parts = split(name, '/');
      const Request& request = requests[static_cast<size_t>(parts[0].back() - '0')];
      const Tokens prompt = request.pieces.field_prompt(std::stoul(parts[1]), std::stoul(parts[2]));
      CHECK(std::equal(prompt.begin(), prompt.end(), trace.tokens.begin()));
    }
    CHECK(ran.traces.size() == 3u * (1 + 2 + 1 + 2));
  }
}

TEST_CASE("ippd: forward passes and what each gives follow from the answers' lengths") {
  TinyNetwork network("llama", 3);
  Model model = network.load(Dtype::fp32);
  const Tokenizer& tokenizer = network.tokenizer();
  Rng rng(8);
  for (int round = 0; round < 8; ++round) {
    const int contexts = 1 + round % 4, fields = 1 + static_cast<int>(rng.below(5));
    std::vector<std::vector<std::optional<std::string>>> references(static_cast<size_t>(contexts));
    for (auto& values : references)
      for (int f = 0; f < fields; ++f) {
        const std::uint64_t letters = rng.below(7);
        values.push_back(letters ? std::optional(std::string(letters, 'q')) : std::nullopt);
      }
    for (const bool cached : {false, true}) {
      const auto decoder = ippd(contexts, cached);
      Request request = make_request(
          random_job(str("ref", round), contexts, fields, static_cast<std::uint64_t>(round)),
          *decoder, tokenizer);
      const SteadyClock clock;
      Engine engine(model, clock);
      request.oracle = decoder->reference_oracle(request, references, {engine, &tokenizer, false});
      const Ran ran = run(model, tokenizer, *decoder, {request}, 1, true);
      const Answers& answers = ran.of();
      const Counters& c = answers.counters;
      INFO("round " << round << " cached " << cached);
      std::vector<std::int64_t> lengths;
      std::int64_t s = std::ssize(request.pieces.prefix);
      std::vector<CommonContext> stack;
      size_t k = 0;
      for (size_t j = 0; j < references.size(); ++j) {
        s += std::ssize(request.pieces.contexts[j]);
        stack.push_back({std::ssize(request.pieces.contexts[j]), {}, {}});
        for (size_t f = 0; f < references[j].size(); ++f, ++k) {
          s += std::ssize(request.pieces.fields[j][f]);
          const FieldResult& field = answers.fields[j][f];
          CHECK(field.text == references[j][f]);
          CHECK(field.tokens == request.oracle->streams[k]);
          CHECK(field.unforced.size() == field.tokens.size());
          CHECK(field.stop == Stop::eos);
          lengths.push_back(std::ssize(field.tokens));
          stack.back().x.push_back(std::ssize(request.pieces.fields[j][f]));
          stack.back().y.push_back(lengths.back());
        }
      }
      const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
      const std::int64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
      CHECK(c.forwards == longest + cached);  // one pass for p, if it is cached
      CHECK(c.branch_lengths == lengths);
      CHECK(c.prompt == s);
      CHECK(c.forced == 0);
      CHECK(c.chosen == sum);
      CHECK(c.text == sum - std::ssize(lengths));
      CHECK(c.fed == s + sum - std::ssize(lengths));
      CHECK(c.scratch == 0);
      CHECK(c.prefill_ns + c.decode_ns == c.total_ns);
      // Step widths: step t has a row for each answer that is longer than t - 1 ids.
      const Trace& trace = ran.traces.at(request.job.id);
      std::map<std::int64_t, std::int64_t> emitted;
      if (cached) ++emitted[0];
      for (std::int64_t t = 1; t <= longest; ++t) {
        const auto open =
            std::count_if(lengths.begin(), lengths.end(), [&](auto n) { return n >= t; });
        ++emitted[static_cast<int>(open)];
        if (t > 1)
          CHECK(std::count(trace.step.begin(), trace.step.end(),
                           static_cast<int>(t) - 1 + cached) == open);
      }
      CHECK(c.emitted == emitted);
      // The paper's count of memory accesses equals the engine's: queries and keys of each pass.
      if (cached) continue;
      const StagedCost model_cost = ippd_cost(std::ssize(request.pieces.prefix), stack);
      CHECK(model_cost.prefill.accesses + model_cost.decode.accesses ==
            static_cast<double>(c.fed + c.cached_sum));
    }
  }
}

TEST_CASE("ippd: the number of positions of a triplet decides, and not the length of the stack") {
  TinyNetwork network("llama", 2, {{"max_position_embeddings", 64}, {"eos_token_id", nullptr}});
  Model model = network.load(Dtype::fp32);
  const auto decoder = ippd(6), ar = separately();
  Job job = random_job("long", 6, 4, 3);
  job.limits.per_field = 1000;
  const Request request = make_request(job, *decoder, network.tokenizer());
  REQUIRE(lay_out(request.pieces, "long").tokens.size() > 64);
  const Ran ran = run(model, network.tokenizer(), *decoder, {request});
  const Ran independent = run(model, network.tokenizer(), *ar, {request});
  CHECK(chosen_ids(ran.of()) == chosen_ids(independent.of()));
  for (const auto& field : flat(ran.of())) CHECK(field.stop == Stop::context);

  TinyNetwork small("llama", 2, {{"max_position_embeddings", 16}});
  Model short_model = small.load(Dtype::fp32);
  const Ran failed = run(short_model, small.tokenizer(), *decoder, {request});
  CHECK_THAT(failed.errors[0], Catch::Contains("context overflow") && Catch::Contains("16"));
}

TEST_CASE("ippd: sampling draws what ar ask=separately draws from the same seed") {
  TinyNetwork network("qwen3", 4, many_ends());
  Model model = network.load(Dtype::fp64);
  Job job = random_job("drawn", 3, 3, 3);
  job.limits.per_field = 8;
  job.sampling = {.temperature = 0.9, .top_k = 30};
  const auto decoder = ippd(3), ar = separately();
  const Request request = make_request(job, *decoder, network.tokenizer());
  const Answers drawn = run(model, network.tokenizer(), *decoder, {request}).of();
  CHECK(chosen_ids(drawn) == chosen_ids(run(model, network.tokenizer(), *ar, {request}).of()));
  job.sampling = {};
  const Request greedy = make_request(job, *decoder, network.tokenizer());
  CHECK(chosen_ids(drawn) != chosen_ids(run(model, network.tokenizer(), *decoder, {greedy}).of()));
}
