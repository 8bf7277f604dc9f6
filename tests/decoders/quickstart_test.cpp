// The conformance suite on the quickstart model, in fp32 and with default options. Every decoder of
// the registry replays, is the same alone and in a batch, and equals ar if it guesses ahead.
// (conformance_test.cpp: on random networks, with many options.)
#include <algorithm>
#include <array>

#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/ranks.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

// As in conformance_test.cpp; six layers of 256 accumulate more error than three of 64.
constexpr double kTolerance = 2e-3;
constexpr float kTie = 1e-3f;

/// Decoders that guess ahead: greedily, their ids are ar's.
constexpr std::array kGuess = {"speculative", "prompt-lookup",    "medusa",
                               "lookahead",   "self-speculative", "space"};

Job product(const std::string& id, const std::string& category, const std::string& text,
            const std::vector<std::string>& attributes) {
  Job job;
  job.id = id;
  job.limits = {.max_new_tokens = 24, .per_field = 8};
  Context context{id, category, text, {}};
  for (const std::string& attribute : attributes) context.fields.push_back({attribute, "", {}});
  job.contexts.push_back(context);
  return job;
}

std::vector<Job> products() {
  return {
      product("hat", "Hat", "Orla wool winter hat, dark green, one size", {"Color", "Material"}),
      product("lamp", "Lamp", "Brightway LED desk lamp 12 W, white", {"Wattage"}),
      product("tea", "Tea", "Hilltop green tea with lemon, 40 bags, 80 g",
              {"Flavor", "Count", "Weight"})};
}

const std::filesystem::path kFolder =
    std::filesystem::path(PARDEC_SOURCE_DIR) / "experiments/quickstart";

}  // namespace

TEST_CASE("quickstart: every decoder replays, is the same in a batch, and guesses change nothing") {
  const PromptFile wording =
      parse_prompt_file(read_file(kFolder / "prompts" / "attributes.txt"), "attributes.txt");
  const Model::Options options{.ranks = ranks()};
  Model model = Model::load(kFolder / "model", options),
        draft = Model::load(kFolder / "draft", options);
  const Tokenizer tokenizer = Tokenizer::load(kFolder / "model" / "tokenizer.json");
  const SlowTransformer slow(kFolder / "model"), slow_draft(kFolder / "draft");
  for (const DecoderEntry& entry : decoders()) {
    INFO("decoder " << entry.name);
    const auto decoder = make_decoder(entry.name, Json::object());
    std::vector<Request> requests;
    for (const Job& job : products())
      requests.push_back(make_request(job, *decoder, tokenizer, wording));
    const auto decode = [&](const Decoder& with, int live, bool traced = false) {
      return run(model, tokenizer, with, requests, live, traced, {}, &draft);
    };
    const Ran alone = decode(*decoder, 1), packed = decode(*decoder, 3, true);
    for (const std::string& error : alone.errors) REQUIRE(error == "");
    for (size_t i = 0; i < requests.size(); ++i) CHECK(wrong_counts(alone.of(i)) == "");
    const bool guesses = std::find(kGuess.begin(), kGuess.end(), entry.name) != kGuess.end();
    CHECK(differences(packed, alone, kTie, /*counted=*/!guesses) == std::vector<std::string>{});

    Ran first = packed;  // one answer is enough for naive loops
    std::erase_if(first.traces, [](const auto& trace) {
      return trace.second.request != "lamp" && !trace.second.request.starts_with("lamp/");
    });
    first.answers = {packed.answers[1]};
    const ReplayedRun again = replay(first, {requests[1]}, slow, &slow_draft, kTolerance);
    CHECK(again.wrong == std::vector<std::string>{});
    CHECK(again.worst_gap <= 2 * kTolerance);
    CHECK(again.choices > 0);

    if (guesses) {
      const Ran ar = decode(*make_decoder("ar", Json::object()), 3);
      CHECK(differences(ar, packed, kTie, /*counted=*/false) == std::vector<std::string>{});
      for (size_t i = 0; i < requests.size(); ++i)
        CHECK(packed.of(i).counters.forwards <= ar.of(i).counters.forwards);
    }
    if (entry.name == "ippd") {
      const Ran ar = decode(*make_decoder("ar", {{"ask", "separately"}}), 3);
      for (size_t i = 0; i < requests.size(); ++i)
        if (smallest_gap(ar.of(i)) >= kTie) CHECK(chosen_ids(ar.of(i)) == chosen_ids(packed.of(i)));
    }
  }
}
