#include "src/reproduction/fitness.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "src/findings/score_findings.hpp"
#include "src/findings/speed_findings.hpp"
#include "src/findings/warnings.hpp"
#include "src/support/machine_use.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Effects of a code on each Quantity, in the order of the enum; null: there is no rule for it.
const std::array<Effect, 7>* effects_of(std::string_view code) {
  using enum Effect;
  struct Rule {
    std::string_view code;
    std::array<Effect, 7> effects;
  };
  static constexpr std::array kRules{
      // code                answer_speed token_speed  passes  length  structure score   identity
      Rule{"broken", {unfit, unfit, unfit, unfit, unfit, unfit, unfit}},
      Rule{"untrained", {unfit, unfit, unfit, unfit, unfit, unfit, unfit}},
      Rule{"untaught", {unfit, unfit, unfit, unfit, unfit, unfit, beside}},
      Rule{"acceptance", {unfit, unfit, unfit, none, none, none, none}},
      Rule{"hit_limit", {by_token, beside, beside, unfit, beside, beside, beside}},
      Rule{"lengths", {by_token, beside, beside, none, beside, beside, none}},
      Rule{"other_tokenizer", {beside, unfit, unfit, unfit, unfit, beside, beside}},
      Rule{"disturbed", {undisturbed, undisturbed, none, none, none, none, none}},
      Rule{"traced", {unfit, unfit, none, none, none, none, none}},
      Rule{"unsteady", {unfit, unfit, none, none, none, none, none}},
      Rule{"short_batch", {unfit, unfit, none, none, none, none, none}},
      Rule{"short_stack", {unfit, unfit, unfit, none, unfit, beside, beside}},
      Rule{"oversubscribed", {unfit, unfit, none, none, none, none, none}},
      Rule{"not_release", {unfit, unfit, none, none, none, none, none}},
      Rule{"machines", {beside, beside, none, none, none, none, none}},
      Rule{"outliers", {beside, beside, none, none, none, none, none}},
      Rule{"unpaired", {none, none, none, none, none, beside, none}},
      Rule{"few_blocks", {beside, beside, none, none, none, none, none}},
      Rule{"unmeasured", {beside, beside, none, none, none, none, none}},
      Rule{"unfinished", {beside, beside, beside, beside, beside, beside, beside}},
      Rule{"failed", {beside, beside, beside, beside, beside, beside, beside}},
      Rule{"unparsed", {beside, beside, beside, beside, beside, beside, beside}},
      Rule{"empty", {beside, beside, beside, beside, beside, beside, beside}},
      Rule{"departs", {beside, beside, beside, beside, beside, beside, none}},
      Rule{"rouge_letters", {none, none, none, none, none, beside, none}},
  };
  for (const Rule& rule : kRules)
    if (rule.code == code) return &rule.effects;
  return nullptr;
}

template <std::size_t N>
bool names(const std::array<std::string_view, N>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Whether all arms generate the same ids by construction.
bool same_answers(const std::vector<const ArmFinding*>& arms) {
  return std::all_of(arms.begin(), arms.end(), [&](const ArmFinding* arm) {
    return same_by_construction(arm->run.run, arms.front()->run.run);
  });
}

/// Whether training that differs from the settings changes only the answers, and not the number of
/// passes that a decoder needs. This holds if the decoder needs no training, and for the number of
/// examples in a job if their values are chosen separately.
bool changes_answers_alone(const ArmFinding& arm) {
  const RunRow& run = arm.run.run;
  const DecoderEntry& decoder = find_decoder(run.decoder);
  if (!decoder.trained) return true;
  const auto untaught = run.config.value("options_beyond_training", std::vector<std::string>());
  return !decoder.stack_option.empty() && !run.config.contains("taught_otherwise") &&
         !untaught.empty() &&
         std::all_of(untaught.begin(), untaught.end(), [&](const std::string& option) {
           return option.starts_with(str(decoder.stack_option, " "));
         });
}

bool is_of_passes(Quantity quantity) {
  return quantity == Quantity::answer_speed || quantity == Quantity::token_speed ||
         quantity == Quantity::passes;
}

/// Whether the score is of the end of an answer: a program that runs, or the result of a
/// derivation.
bool needs_the_end(std::string_view metric, const ArmFinding& arm) {
  const std::string_view score = metric == "headline" ? headline_score(arm) : metric;
  return score.starts_with("pass_at_") || score == "maths";
}

/// The effect of a warning on a number of these arms, with exceptions to the rule for its code.
Effect effect_here(const Warning& warning, const ArmFinding& arm,
                   const std::vector<const ArmFinding*>& arms, std::string_view metric) {
  const Quantity quantity = quantity_of(metric);
  const Effect effect = effect_of(warning.code, quantity);
  // Forced answers do not depend on the network's training.
  if (arm.run.run.oracle && (warning.code == "untrained" || warning.code == "untaught"))
    return Effect::none;
  // A small cache is expected to keep the number of concurrent jobs below the batch size.
  const bool small_cache = arm.run.run.config.value("cache_blocks", 0) > 0;
  if (warning.code == "short_batch" && small_cache) return std::min(effect, Effect::beside);
  if (warning.code == "untaught" && is_of_passes(quantity) && changes_answers_alone(arm))
    return Effect::beside;
  if (warning.code == "hit_limit" && needs_the_end(metric, arm)) return Effect::unfit;
  if (warning.code == "hit_limit" && effect != Effect::none) {
    if (same_answers(arms)) return Effect::beside;
    // Answers in a given form are not measured by their tokens.
    if (effect == Effect::by_token && arm.run.run.form != "free") return Effect::unfit;
  }
  return effect;
}

}  // namespace

Quantity quantity_of(std::string_view metric) {
  constexpr std::array<std::string_view, 7> kAnswerSpeeds{
      "speed",         "speedup", "examples_per_second", "fields_per_second",
      "field_speedup", "latency", "seconds_per_job"};
  constexpr std::array<std::string_view, 11> kTokenSpeeds{"tokens_per_second",
                                                          "token_speedup",
                                                          "tps_speedup",
                                                          "tokens_per_second_a_request",
                                                          "decode_speed",
                                                          "decode_speedup",
                                                          "tps",
                                                          "p_tps",
                                                          "parallel_stage_speedup",
                                                          "stage_speedup_per_branch",
                                                          "serial_parallel_law"};
  constexpr std::array<std::string_view, 4> kPasses{"tokens_per_forward", "forwards_per_job",
                                                    "rows_per_pass", "acceptance"};
  constexpr std::array<std::string_view, 11> kStructure{
      "threads", "parallel_share", "max_cached",    "max_cached_flat", "max_cached_saved",
      "dp",      "attended",       "attended_flat", "attended_saved",  "ppd",
      "abn"};
  if (names(kAnswerSpeeds, metric)) return Quantity::answer_speed;
  if (names(kTokenSpeeds, metric)) return Quantity::token_speed;
  if (names(kPasses, metric)) return Quantity::passes;
  if (names(kStructure, metric)) return Quantity::structure;
  if (metric == "length" || metric == "tokens_per_example") return Quantity::length;
  if (metric == "em" || metric == "identical") return Quantity::identity;
  return Quantity::score;
}

std::string_view name(Effect effect) {
  switch (effect) {
    case Effect::none:
      return "none";
    case Effect::beside:
      return "beside";
    case Effect::unfit:
      return "unfit";
    case Effect::undisturbed:
      return "unfit if the undisturbed measurements disagree";
    case Effect::by_token:
      return "unfit if the ratio per token disagrees";
  }
  return "";
}

Effect effect_of(std::string_view code, Quantity quantity) {
  const auto* effects = effects_of(code);
  return effects ? (*effects)[static_cast<std::size_t>(quantity)] : Effect::beside;
}

std::vector<Caveat> caveats_of(const Overview& comparison, const std::string& dataset,
                               const std::vector<std::string>& labels, std::string_view metric,
                               const std::vector<Warning>& more) {
  const Quantity quantity = quantity_of(metric);
  std::vector<const ArmFinding*> arms;
  for (const ArmFinding& arm : comparison.arms)
    if (arm.run.run.dataset.name == dataset &&
        std::find(labels.begin(), labels.end(), arm.run.run.label) != labels.end())
      arms.push_back(&arm);
  std::vector<Caveat> caveats;
  const auto add = [&](const Warning& warning, Effect effect) {
    if (effect != Effect::none)
      caveats.push_back({warning.code, warning.dataset, warning.arm, warning.found, effect});
  };
  std::vector<Warning> warnings = comparison.warnings;
  warnings.insert(warnings.end(), more.begin(), more.end());
  for (const ArmFinding* arm : arms) {
    for (const Warning& warning : warnings) {
      // These two warnings compare an arm with its own baseline. Below, they are found for these
      // arms.
      if (warning.dataset != dataset || warning.arm != arm->run.run.label ||
          warning.code == "disturbed" || warning.code == "lengths")
        continue;
      add(warning, effect_here(warning, *arm, arms, metric));
    }
    if (arm->disturbed > 0)
      add({"disturbed", dataset, arm->run.run.label,
           str("other programs used the machine in ", arm->disturbed, " of ",
               counted(arm->measurements, "measurement")),
           ""},
          effect_of("disturbed", quantity));
  }
  const auto tokens = [](const ArmFinding* a, const ArmFinding* b) {
    return a->state.tokens < b->state.tokens;
  };
  const bool open_answers = std::all_of(arms.begin(), arms.end(), [](const ArmFinding* arm) {
    return arm->run.run.form == "free" && !arm->run.run.oracle && arm->state.tokens > 0;
  });
  if (arms.size() > 1 && open_answers) {
    const auto [least, most] = std::minmax_element(arms.begin(), arms.end(), tokens);
    if ((*most)->state.tokens > (1 + kSameLength) * (*least)->state.tokens)
      add({"lengths", dataset, (*most)->run.run.label,
           str("answers have ", fixed((*most)->state.tokens, 1), " tokens of text, those of ",
               (*least)->run.run.label, " ", fixed((*least)->state.tokens, 1)),
           ""},
          effect_of("lengths", quantity));
  }
  return caveats;
}

UndisturbedSpeed undisturbed_speed(const ArmFinding& arm, const MeasuredBlocks& measured,
                                   double confidence) {
  MeasuredBlocks quiet;
  for (const BlockFigures& block : measured.blocks)
    if (!is_disturbed(block.time, arm.run.run.threads)) quiet.blocks.push_back(block);
  ArmFinding alone;
  alone.run.run.threads = arm.run.run.threads;
  add_examples_per_second(alone, quiet, confidence);
  return {alone.examples_per_second, alone.blocks};
}

}  // namespace pardec
