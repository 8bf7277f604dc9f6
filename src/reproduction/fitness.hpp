#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"

/// Decides which warnings make a number unfit to decide a claim. experiments/papers/README.md has
/// the table.
namespace pardec {

/// The kind of quantity that a metric measures. The metrics are examples.
enum class Quantity {
  answer_speed,  ///< time per answer: speed, seconds_per_job
  token_speed,   ///< time per token: tokens_per_second, tps
  passes,        ///< count of passes, and work of a pass: forwards_per_job, tokens_per_forward
  length,        ///< tokens per answer: length
  structure,     ///< threads, branches, and the rows that they cache and attend to: max_cached, dp
  score,         ///< quality of answers: headline
  identity,      ///< share of answers or fields that equal the baseline's: identical, em
};
/// The kind of a metric; unknown metrics are scores.
Quantity quantity_of(std::string_view metric);

/// A view of measurements. Some warnings (Effect::undisturbed, Effect::by_token) make a number
/// unfit only if another view leads to another decision.
enum class MeasuredView {
  all,          ///< all measurements
  undisturbed,  ///< without disturbed measurements (is_disturbed)
  by_token,     ///< ratios of speeds per text token instead of per answer
};

/// The effect of a warning on the use of a number.
enum class Effect {
  none,         ///< the warning is about something else
  beside,       ///< the number can decide; the warning is reported next to the verdict
  unfit,        ///< the number decides nothing
  undisturbed,  ///< the number can decide if MeasuredView::undisturbed gives the same decision
  by_token,     ///< the number can decide if MeasuredView::by_token gives the same decision
};
/// The effect in words, e.g. "unfit if the ratio per token disagrees".
std::string_view name(Effect effect);
/// The effect of a warning on a quantity. `code`: a code in results/table.md; for unknown codes,
/// the effect is Effect::beside.
Effect effect_of(std::string_view code, Quantity quantity);

/// A warning about a number (Warning), and its effect.
struct Caveat {
  std::string code, dataset, arm, found;
  Effect effect;

  bool operator==(const Caveat&) const = default;
};

/// The warnings about a number that is computed from `arms` (labels) on a dataset, e.g. a ratio of
/// two arms. Arms that were not run have no warnings. Warnings with Effect::none are left out. The
/// effect is effect_of the warning, except for some arms (experiments/papers/README.md,
/// "Exceptions"): for example, warnings about training have no effect on forced answers. `more`:
/// warnings in addition to the warnings of the comparison.
std::vector<Caveat> caveats_of(const Overview& comparison, const std::string& dataset,
                               const std::vector<std::string>& arms, std::string_view metric,
                               const std::vector<Warning>& more = {});

/// The speed of an arm over undisturbed measurements only (is_disturbed). Second measurements
/// (`--repair`) are not used.
struct UndisturbedSpeed {
  Interval examples_per_second;
  std::int64_t blocks;  ///< number of distinct blocks with an undisturbed measurement
};
/// Computes this speed. `measured`: the arm's blocks. `confidence`: of the interval, e.g. 0.95.
UndisturbedSpeed undisturbed_speed(const ArmFinding& arm, const MeasuredBlocks& measured,
                                   double confidence);

}  // namespace pardec
