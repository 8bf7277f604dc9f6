#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"

/// Decides which warnings make a number unfit to decide a claim. experiments/papers/README.md has
/// the table.
namespace pardec {

/// The kind of quantity that a claim's metric measures.
enum class Quantity {
  answer_speed,  ///< time per answer, e.g. speed, seconds_per_job
  token_speed,   ///< time per token, e.g. tokens_per_second, tps
  passes,        ///< work per pass, e.g. tokens_per_forward, acceptance
  length,        ///< tokens per answer
  structure,     ///< threads and branches, and the numbers of rows that they cache and attend to
  score,         ///< quality of answers
  identity,      ///< share of answers or fields that equal the baseline's
};
/// The kind of a metric; unknown metrics are scores.
Quantity quantity_of(std::string_view metric);

/// A view of measurements. A decision counts despite a warning if it is the same in the matching
/// view.
enum class MeasuredView {
  all,          ///< all measurements
  undisturbed,  ///< without measurements during which other processes used the machine
  by_token,     ///< speeds per text token, not per answer
};

/// The effect of a warning on the use of a number.
enum class Effect {
  none,         ///< the warning is about something else
  beside,       ///< the number decides; the warning is reported next to the verdict
  unfit,        ///< the number cannot decide
  undisturbed,  ///< the number decides if the undisturbed measurements alone give the same decision
  by_token,     ///< the number decides if the speed per token gives the same decision
};
std::string_view name(Effect effect);
/// The effect of a warning on a quantity. `code`: a code in results/table.md; for codes without a
/// rule, the effect is Effect::beside.
Effect effect_of(std::string_view code, Quantity quantity);

/// A warning about a number.
struct Caveat {
  std::string code, dataset, arm, found;
  Effect effect;

  bool operator==(const Caveat&) const = default;
};

/// The warnings about a number that is computed from `arms` on a dataset, e.g. a ratio of two arms.
/// Arms that were not run have no warnings. Warnings with Effect::none are left out. Effects are
/// those of effect_of, except for some arms: for example, forced answers do not depend on the
/// network's training. `more`: warnings in addition to those of the comparison.
std::vector<Caveat> caveats_of(const Overview& comparison, const std::string& dataset,
                               const std::vector<std::string>& arms, std::string_view metric,
                               const std::vector<Warning>& more = {});

/// The speed of an arm over undisturbed measurements only. Second measurements (`--repair`) are not
/// used.
struct UndisturbedSpeed {
  Interval examples_per_second;
  std::int64_t blocks;  ///< number of distinct undisturbed blocks
};
/// `measured`: the arm's blocks. `confidence`: of the interval, e.g. 0.95.
UndisturbedSpeed undisturbed_speed(const ArmFinding& arm, const MeasuredBlocks& measured,
                                   double confidence);

}  // namespace pardec
