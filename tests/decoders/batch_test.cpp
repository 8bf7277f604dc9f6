// Batch invariance: a job's answer is the same alone and packed with others, however many and
// however long.
#include <algorithm>
#include <set>

#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

// fp32: another batch shape sums in another order, which moves logits by some 5e-6 (measured in
// tests/model). Choices with a gap below ten times that may turn; the test has none.
constexpr float kTie = 5e-5f;

struct Arm {
  std::string decoder;
  Json options;
  Sampling sampling;
};

void check_same(const Counters& a, const Counters& b) {
  CHECK(a.prompt == b.prompt);
  CHECK(a.chosen == b.chosen);
  CHECK(a.forced == b.forced);
  CHECK(a.fed == b.fed);
  CHECK(a.text == b.text);
  CHECK(a.forwards == b.forwards);
  CHECK(a.cached_peak == b.cached_peak);
  CHECK(a.cached_sum == b.cached_sum);
  CHECK(a.attended == b.attended);
  CHECK(a.scratch == b.scratch);
  CHECK(a.branch_lengths == b.branch_lengths);
  CHECK(a.emitted == b.emitted);
}

}  // namespace

TEST_CASE("answers alone equal answers packed with others") {
  const std::vector<Arm> arms = {
      {"hpd", {{"k_max", 7}, {"stack", 3}}, {}},
      {"hpd", {{"k_max", 4}, {"stack", 3}, {"isolated", "products"}}, {}},
      {"hpd", {{"k_max", 4}, {"stack", 3}, {"isolated", "values"}}, {.temperature = 0.8}},
      {"ar", {{"stack", 3}}, {}},
      {"ar", {{"forced_keys", true}, {"stack", 3}}, {}},
      {"ar", {{"ask", "separately"}}, {}},
      {"ar", {{"stack", 3}}, {.temperature = 1.0, .top_k = 20, .top_p = 0.9}},
  };
  for (const char* family : {"llama", "qwen3"}) {
    Json eos = Json::array();
    for (int id = 20; id < 40; ++id) eos.push_back(id);
    TinyNetwork network(family, 14, {{"eos_token_id", eos}});
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp64}) {
      Model model = network.load(dtype);
      for (const Arm& arm : arms) {
        if (arm.sampling.temperature > 0 && dtype == Dtype::fp32)
          continue;  // a draw has no gap to keep clear of
        const auto decoder = make_decoder(arm.decoder, arm.options);
        std::vector<Request> requests;
        for (int i = 0; i < 17; ++i) {
          Job job =
              random_job(str("job", i), 1 + i % 3, 1 + (i * 5) % 4, static_cast<std::uint64_t>(i));
          job.limits = {.max_new_tokens = 3 + (i * 7) % 12, .per_field = 1 + i % 6};
          job.sampling = arm.sampling;
          requests.push_back(make_request(job, *decoder, network.tokenizer()));
        }
        INFO(family << " " << name(dtype) << " " << arm.decoder << " " << arm.options.dump());
        const Ran alone = run(model, network.tokenizer(), *decoder, requests, 1);
        float smallest = 1;
        std::set<size_t> lengths;
        for (size_t i = 0; i < requests.size(); ++i) {
          if (arm.sampling.temperature == 0)
            smallest = std::min(smallest, smallest_gap(alone.of(i)));
          for (const Tokens& ids : chosen_ids(alone.of(i))) lengths.insert(ids.size());
        }
        CHECK(lengths.size() > 2);  // some end early, some late
        INFO("smallest gap " << smallest
                             << "; a tie within the rounding of fp32 needs another seed");
        if (dtype == Dtype::fp32) REQUIRE(smallest > kTie);
        for (const int live : {2, 5, 16}) {
          const Ran packed = run(model, network.tokenizer(), *decoder, requests, live);
          for (size_t i = 0; i < requests.size(); ++i) {
            INFO("request " << i << " among " << live);
            CHECK(chosen_ids(packed.of(i)) == chosen_ids(alone.of(i)));
            CHECK(packed.of(i).text == alone.of(i).text);
            CHECK(packed.of(i).stop == alone.of(i).stop);
            // Which of an answer's separate sequences ends first does not depend on the others
            // either.
            check_same(packed.of(i).counters, alone.of(i).counters);
          }
        }
      }
    }
  }
}
