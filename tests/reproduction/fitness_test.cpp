// Which warnings make which numbers unfit to decide a claim.
#include "src/reproduction/fitness.hpp"

#include <algorithm>

#include "src/findings/warnings.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

ArmFinding arm(const char* label, const char* decoder, const char* network) {
  ArmFinding finding;
  RunRow& run = finding.run.run;
  run.label = label;
  run.decoder = decoder;
  run.model.hash = network;
  run.dataset.name = "vicuna-bench";
  run.form = "free";
  finding.state.answers = 20;
  finding.state.tokens = 100;
  return finding;
}

Comparison comparison() {
  Comparison all;
  all.arms = {arm("ar", "ar", "a"), arm("spec", "prompt-lookup", "a"), arm("k5", "space", "b"),
              arm("apar", "apar", "c")};
  return all;
}

void warn(Comparison& all, const char* code, const char* label) {
  all.warnings.push_back({code, "vicuna-bench", label, "found", ""});
}

/// The effect of the only caveat; none: there is no caveat.
Effect effect(const Comparison& all, const std::vector<std::string>& arms, const char* metric) {
  const auto caveats = caveats_of(all, "vicuna-bench", arms, metric);
  CHECK(caveats.size() <= 1);
  return caveats.empty() ? Effect::none : caveats.front().effect;
}

}  // namespace

TEST_CASE("fitness: options that were not trained decide nothing about speed, passes or quality") {
  Comparison all = comparison();
  warn(all, "untaught", "k5");
  for (const char* metric :
       {"speed", "tokens_per_forward", "acceptance", "rouge_l", "length", "tps", "max_cached"})
    CHECK(effect(all, {"k5", "ar"}, metric) == Effect::unfit);
  // Whatever it guesses, it must write the network's own tokens.
  CHECK(effect(all, {"k5", "ar"}, "identical") == Effect::beside);
  CHECK(effect(all, {"apar", "ar"}, "speed") == Effect::none);  // of another arm
  CHECK(caveats_of(all, "mt-bench", {"k5", "ar"}, "speed").empty());
  all = comparison();
  warn(all, "untaught", "ar");
  CHECK(effect(all, {"ar", "k5"}, "speed") == Effect::beside);  // AR takes the same time
  CHECK(effect(all, {"ar", "k5"}, "rouge_l") == Effect::unfit);
}

TEST_CASE("fitness: a stack that was not trained changes answers, but not passes") {
  Comparison all = comparison();
  all.arms.push_back(arm("hpd", "hpd", "d"));
  RunRow& run = all.arms.back().run.run;
  run.config["options_beyond_training"] = {"stack 1, trained with 2"};
  warn(all, "untaught", "hpd");
  CHECK(effect(all, {"hpd", "ar"}, "tokens_per_forward") == Effect::beside);
  CHECK(effect(all, {"hpd", "ar"}, "f1_micro") == Effect::unfit);
  run.config["options_beyond_training"] = {"stack 1, trained with 2", "k_max 8, trained with 30"};
  CHECK(effect(all, {"hpd", "ar"}, "tokens_per_forward") == Effect::unfit);
  run.config["options_beyond_training"] = {"stack 1, trained with 2"};
  run.config["taught_otherwise"] = "the network was trained with another wording";
  CHECK(effect(all, {"hpd", "ar"}, "tokens_per_forward") == Effect::unfit);
}

TEST_CASE("fitness: speed at an acceptance that was not reached decides nothing") {
  Comparison all = comparison();
  all.arms[1].run.run.oracle = "accept-length:3";
  all.arms[1].run.run.config["accept_length"] = 3;
  const auto warned = [&](std::int64_t passes, std::int64_t accepted) {
    all.arms[1].run.totals.drafted = {passes};
    all.arms[1].run.totals.accepted = {accepted};
    all.warnings = warnings_of(all);
    std::erase_if(all.warnings, [](const Warning& one) { return one.code != "acceptance"; });
    return !all.warnings.empty();
  };
  CHECK_FALSE(warned(100, 200));
  CHECK_FALSE(warned(100, 190));
  CHECK(warned(0, 0));
  CHECK(warned(100, 150));
  CHECK(effect(all, {"ar", "spec"}, "speedup") == Effect::unfit);
}

TEST_CASE("fitness: for forced answers the network's training does not matter") {
  for (const char* code : {"untrained", "untaught"})
    for (const char* metric : {"speed", "tokens_per_forward"}) {
      Comparison all = comparison();
      warn(all, code, "k5");
      CHECK(effect(all, {"k5", "ar"}, metric) == Effect::unfit);
      all.arms[2].run.run.oracle = "references";
      CHECK(effect(all, {"k5", "ar"}, metric) == Effect::none);
    }
}

TEST_CASE("fitness: a disturbed time decides if the undisturbed ones decide the same") {
  Comparison all = comparison();
  all.arms[1].disturbed = 3;
  all.arms[1].measurements = 12;
  CHECK(effect(all, {"spec", "ar"}, "speed") == Effect::undisturbed);
  CHECK(effect(all, {"spec", "ar"}, "tokens_per_second") == Effect::undisturbed);
  CHECK(effect(all, {"spec", "ar"}, "tokens_per_forward") == Effect::none);
  CHECK(effect(all, {"spec", "ar"}, "rouge_l") == Effect::none);
  CHECK(caveats_of(all, "vicuna-bench", {"spec"}, "speed").front().found.find("3 of 12") !=
        std::string::npos);
  for (const char* code : {"traced", "unsteady", "oversubscribed", "not_release", "short_batch"}) {
    Comparison other = comparison();
    warn(other, code, "spec");
    CHECK(effect(other, {"spec", "ar"}, "speed") == Effect::unfit);
    CHECK(effect(other, {"spec", "ar"}, "tokens_per_forward") == Effect::none);
  }
}

TEST_CASE("fitness: a small cache holds fewer jobs by design") {
  Comparison all = comparison();
  warn(all, "short_batch", "apar");
  all.arms[3].run.run.config["cache_blocks"] = 32;
  CHECK(effect(all, {"apar"}, "tokens_per_second") == Effect::beside);
}

TEST_CASE("fitness: truncated answers give no length, and no time of an answer") {
  Comparison all = comparison();
  warn(all, "hit_limit", "apar");
  CHECK(effect(all, {"apar", "ar"}, "length") == Effect::unfit);
  CHECK(effect(all, {"apar", "ar"}, "speed") == Effect::by_token);
  CHECK(effect(all, {"apar", "ar"}, "tokens_per_second") == Effect::beside);
  // A program or a derivation without its end is not one that failed.
  CHECK(effect(all, {"apar"}, "pass_at_10") == Effect::unfit);
  CHECK(effect(all, {"apar"}, "maths") == Effect::unfit);
  CHECK(effect(all, {"apar"}, "rouge_l") == Effect::beside);
  all.arms[3].run.run.form = "json";  // a form that is filled in is not measured by its tokens
  CHECK(effect(all, {"apar", "ar"}, "speed") == Effect::unfit);
  // The same ids are cut at the same place.
  all = comparison();
  warn(all, "hit_limit", "spec");
  CHECK(effect(all, {"spec", "ar"}, "speed") == Effect::beside);
}

TEST_CASE("fitness: answers of other lengths are other work") {
  Comparison all = comparison();
  all.arms[3].state.tokens = 120;
  CHECK(effect(all, {"apar", "ar"}, "speed") == Effect::by_token);
  CHECK(effect(all, {"apar", "ar"}, "length") == Effect::none);
  CHECK(effect(all, {"spec", "ar"}, "speed") == Effect::none);
  all.arms[3].state.tokens = 109;
  CHECK(effect(all, {"apar", "ar"}, "speed") == Effect::none);
}

TEST_CASE("fitness: a warning without a rule is only shown") {
  CHECK(effect_of("new_code", Quantity::score) == Effect::beside);
  CHECK(quantity_of("f1_micro") == Quantity::score);
  CHECK(quantity_of("headline") == Quantity::score);
}
