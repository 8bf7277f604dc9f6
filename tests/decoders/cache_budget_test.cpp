// A cache budget: answers are the same whichever sequence is preempted, and the cache never exceeds
// the budget.
#include <algorithm>
#include <map>

#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/conformance.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

struct Arm {
  std::string decoder;
  Json options;
};

/// Prompts of a network that forks often, with threads of all lengths; with `times` as many ids.
std::vector<Request> crowd(const Decoder& decoder, const Tokenizer& tokenizer, int count,
                           int times = 1) {
  std::vector<Request> requests;
  for (int i = 0; i < count; ++i) {
    Job job = random_job(str("job", i), 1 + i % 3, 1 + i % 4, static_cast<std::uint64_t>(i));
    job.limits = {.max_new_tokens = times * (8 + (i * 7) % 17), .per_field = 8};
    requests.push_back(make_request(job, decoder, tokenizer));
  }
  return requests;
}

}  // namespace

TEST_CASE(
    "answers under a cache budget equal answers without one, whichever sequence is preempted") {
  Json eos = Json::array();
  for (int id = 20; id < 30; ++id) eos.push_back(id);
  TinyNetwork network("llama", 14, {{"eos_token_id", eos}}, {393, 393, 393});
  Model model = network.load(Dtype::fp64);
  const std::vector<Arm> arms = {
      {"apar", {{"fork_token", 393}, {"child_token", 394}, {"stack", 3}, {"max_depth", 0}}},
      {"apar", {{"fork_token", 393}, {"child_token", 394}, {"stack", 3}, {"max_depth", 1}}},
      {"hpd", {{"k_max", 7}, {"stack", 3}}},
  };
  std::int64_t swapped = 0, recomputed = 0;
  for (const Arm& arm : arms) {
    const auto decoder = make_decoder(arm.decoder, arm.options);
    const auto requests = crowd(*decoder, network.tokenizer(), 12, 3);
    const Ran free = run(model, network.tokenizer(), *decoder, requests, 12, true);
    std::int64_t widest = 0, all = 0;  // blocks of one job, and of all
    for (size_t i = 0; i < requests.size(); ++i) {
      const std::int64_t blocks = (free.of(i).counters.cached_peak + 15) / 16;
      widest = std::max(widest, blocks);
      all += blocks;
    }
    INFO(arm.decoder << " " << arm.options.dump() << ": " << widest << " and " << all << " blocks");
    for (const std::int64_t blocks : {widest, widest + 3, all / 3, all / 2}) {
      INFO("budget " << blocks);
      const CacheBudget budget{.blocks = blocks, .watermark = 0.0};
      const Ran tight = run(model, network.tokenizer(), *decoder, requests, 12, true, budget);
      CHECK(tight.cache.peak_blocks <= blocks);
      CHECK(tight.cache.peak_blocks > 0);
      CHECK((tight.cache.recomputed > 0) == (tight.cache.refed_rows > 0));
      for (size_t i = 0; i < requests.size(); ++i) {
        REQUIRE(tight.errors[i] == "");
        CHECK(chosen_ids(tight.of(i)) == chosen_ids(free.of(i)));
        CHECK(tight.of(i).text == free.of(i).text);
        CHECK(counts(tight.of(i).counters) == counts(free.of(i).counters));
        const Trace &a = tight.traces.at(requests[i].job.id),
                    &b = free.traces.at(requests[i].job.id);
        CHECK(a.tokens == b.tokens);
        CHECK(a.visible == b.visible);
        CHECK(a.emitted == b.emitted);
      }
      swapped += tight.cache.swapped;
      recomputed += tight.cache.recomputed;
    }
  }
  CHECK(swapped > 10);
  CHECK(recomputed > 5);
}

TEST_CASE("a cache budget of the widest sequence is enough if sequences share prefixes") {
  Json eos = Json::array();
  for (int id = 20; id < 30; ++id) eos.push_back(id);
  TinyNetwork network("llama", 14, {{"eos_token_id", eos}});
  Model model = network.load(Dtype::fp64);
  const std::vector<Arm> arms = {
      {"ar", {{"ask", "separately"}, {"prefix_cache", "instruction"}}},
      {"ar", {{"ask", "separately"}, {"prefix_cache", "context"}}},
      {"ippd", {{"contexts", 3}, {"prefix_cache", true}}},
      {"skeleton-of-thought", {{"shared_prefix", false}}},
      {"skeleton-of-thought", {{"shared_prefix", true}}},
  };
  std::int64_t set_aside = 0;
  for (const Arm& arm : arms) {
    const auto decoder = make_decoder(arm.decoder, arm.options);
    const bool skeleton = arm.decoder == "skeleton-of-thought";
    // The prompts of skeletons are long.
    std::vector<Request> requests = crowd(*decoder, network.tokenizer(), skeleton ? 3 : 6);
    if (skeleton)
      for (Request& request : requests) {
        const Tokens plan = network.tokenizer().encode_piece(" x\n2. y\n3. z", false);
        request.oracle = Oracle{{}, {}};
        for (const Context& context : request.job.contexts)
          request.oracle->streams.insert(request.oracle->streams.end(), context.fields.size(),
                                         plan);
      }
    const Ran free = run(model, network.tokenizer(), *decoder, requests, 6, true);
    std::int64_t widest = 0;  // blocks of one sequence
    for (const auto& [name, trace] : free.traces)
      widest = std::max(widest, (std::ssize(trace.tokens) + 15) / 16);
    REQUIRE(free.cache.peak_blocks == 0);  // none is counted
    for (const std::int64_t blocks : {widest, widest + 1, 3 * widest}) {
      INFO(arm.decoder << " " << arm.options.dump() << ": budget " << blocks << ", widest "
                       << widest);
      const CacheBudget budget{.blocks = blocks, .watermark = 0.0};
      const Ran tight = run(model, network.tokenizer(), *decoder, requests, 6, true, budget);
      CHECK(tight.cache.peak_blocks <= blocks);
      set_aside += tight.cache.swapped + tight.cache.recomputed;
      for (size_t i = 0; i < requests.size(); ++i) {
        REQUIRE(tight.errors[i] == "");
        CHECK(chosen_ids(tight.of(i)) == chosen_ids(free.of(i)));
        CHECK(tight.of(i).text == free.of(i).text);
      }
      REQUIRE(tight.traces.size() == free.traces.size());
      for (const auto& [name, trace] : free.traces) {
        CHECK(tight.traces.at(name).tokens == trace.tokens);
        CHECK(tight.traces.at(name).visible == trace.visible);
      }
    }
  }
  CHECK(set_aside > 50);
}

TEST_CASE(
    "a cache budget: first come, first served, with a share left free, and an error if a sequence "
    "cannot fit") {
  TinyNetwork network("llama", 14, Json::object(), {393, 393, 393});
  Model model = network.load(Dtype::fp64);
  const auto decoder = make_decoder("ar", {{"ask", "separately"}});
  const auto open = [&](int i, int length, int limit) {
    return open_request(str("p", i), Tokens(static_cast<size_t>(length), 40 + i), limit);
  };
  // Prompts of 3, 3, 2 and 1 blocks; each answer stays in its prompt's last block.
  const std::vector<Request> requests = {open(0, 40, 4), open(1, 40, 4), open(2, 20, 4),
                                         open(3, 10, 4)};
  const auto peak = [&](CacheBudget budget) {
    const Ran ran = run(model, network.tokenizer(), *decoder, requests, 4, false, budget);
    for (const std::string& error : ran.errors) CHECK(error == "");
    CHECK(ran.cache.swapped + ran.cache.recomputed == 0);
    return ran.cache.peak_blocks;
  };
  CHECK(peak({.blocks = 9, .watermark = 0}) == 9);  // all at once
  CHECK(peak({.blocks = 8, .watermark = 0}) == 8);  // the last one waits
  CHECK(peak({.blocks = 7, .watermark = 0}) ==
        6);  // the third does not fit, and the last waits too
  CHECK(peak({.blocks = 10, .watermark = 0.2}) == 8);  // two blocks stay free
  CHECK(peak({.blocks = 9, .watermark = 0, .prefill_rows = 80}) == 9);
  // Only the first waits for none: prompts of 40 rows start one by one.
  CHECK(peak({.blocks = 9, .watermark = 0, .prefill_rows = 40}) == 9);

  const Ran small = run(model, network.tokenizer(), *decoder, requests, 4, false, {.blocks = 2});
  for (const size_t i : {0, 1})
    CHECK_THAT(small.errors[i],
               Catch::Contains("cache budget of 2 blocks") && Catch::Contains("40 rows"));
  for (const size_t i : {2, 3}) CHECK(small.errors[i] == "");
  // One that outgrows the cache ends with the same error, and the other continues.
  const Ran grown = run(model, network.tokenizer(), *decoder, {open(0, 20, 30), open(1, 5, 4)}, 2,
                        false, {.blocks = 2, .watermark = 0});
  CHECK_THAT(grown.errors[0], Catch::Contains("33 rows"));
  CHECK(grown.errors[1] == "");
}

TEST_CASE("a cache budget without swapping: preempted sequences count, and answers stay the same") {
  Json eos = Json::array();
  for (int id = 20; id < 30; ++id) eos.push_back(id);
  TinyNetwork network("llama", 14, {{"eos_token_id", eos}}, {393, 393, 393});
  Model model = network.load(Dtype::fp64);
  const std::vector<Arm> arms = {
      {"ar", Json::object()},
      {"apar", {{"fork_token", 393}, {"child_token", 394}, {"stack", 3}, {"max_depth", 0}}},
      {"hpd", {{"k_max", 7}, {"stack", 3}}},
  };
  int whole = 0;
  std::map<std::string, int> ended;
  for (const Arm& arm : arms) {
    const auto decoder = make_decoder(arm.decoder, arm.options);
    const auto requests = crowd(*decoder, network.tokenizer(), 12);
    const Ran free = run(model, network.tokenizer(), *decoder, requests, 12, true);
    std::int64_t all = 0, widest = 0;  // blocks, at each one's peak
    for (size_t k = 0; k < requests.size(); ++k) {
      const std::int64_t blocks = (free.of(k).counters.cached_peak + 15) / 16;
      all += blocks;
      widest = std::max(widest, blocks);
    }
    const Ran crowded = run(model, network.tokenizer(), *decoder, requests, 12, true,
                            {.blocks = widest, .watermark = 0, .swaps = false});
    for (const std::string& error : crowded.errors) ended[arm.decoder] += !error.empty();
    for (const std::int64_t blocks : {all / 4, all / 3, all / 2}) {
      INFO(arm.decoder << ": budget " << blocks << " of " << all);
      const Ran tight = run(model, network.tokenizer(), *decoder, requests, 12, true,
                            {.blocks = blocks, .watermark = 0.2, .swaps = false});
      CHECK(tight.cache.peak_blocks <= blocks);
      CHECK(tight.cache.swapped == 0);
      for (size_t i = 0; i < requests.size(); ++i) {
        // If all waiting sequences keep their rows, one of them may have to end.
        if (!tight.errors[i].empty()) {
          CHECK_THAT(tight.errors[i], Catch::Contains("cache budget"));
          continue;
        }
        ++whole;
        CHECK(tight.of(i).text == free.of(i).text);
      }
    }
  }
  CHECK(whole > 95);  // of 108
  // Room for the widest sequence is not enough if the others keep their rows, unless these are
  // computed again.
  CAPTURE(ended["ar"], ended["apar"], ended["hpd"], whole);
  CHECK(ended["ar"] == 0);
  CHECK(ended["apar"] > 0);
}
