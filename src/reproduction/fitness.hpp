#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"

/// Determines which warnings of a comparison make which numbers unfit to decide a claim: the table
/// in experiments/papers/README.md.
namespace pardec {

/// What a claim's metric measures.
enum class Quantity {
  answer_speed,  ///< time per answer, e.g. speed, seconds_per_job
  token_speed,   ///< time per token, e.g. tokens_per_second, tps
  passes,        ///< work per pass, e.g. tokens_per_forward, acceptance
  length,
  structure,  ///< threads, branches, and the rows that they cache and attend to
  score,
  identity,
};
Quantity quantity_of(std::string_view metric);

/// Other views of the same measurements, which show whether a disturbance affects the decision.
enum class MeasuredView {
  all,
  undisturbed,  ///< without measurements during which other processes used the machine
  by_token,     ///< speeds per token of text instead of per answer
};

/// The effect of a warning on a number.
enum class Effect {
  none,         ///< the warning is about something else
  beside,       ///< the warning is reported next to the verdict
  unfit,        ///< the number decides nothing
  undisturbed,  ///< the number decides if the undisturbed measurements alone give the same decision
  by_token,     ///< the number decides if the speed per token gives the same decision
};
std::string_view name(Effect effect);
/// For codes of results/table.md. Unknown codes: Effect::beside.
Effect effect_of(std::string_view code, Quantity quantity);

/// A warning about a number.
struct Caveat {
  std::string code, dataset, arm, found;
  Effect effect;

  bool operator==(const Caveat&) const = default;
};

/// The warnings of a comparison about these arms on a dataset that concern a number computed from
/// all of them (e.g. a ratio). Arms that were not run have no warnings. `more`: warnings beside
/// those of the comparison.
std::vector<Caveat> caveats_of(const Overview& comparison, const std::string& dataset,
                               const std::vector<std::string>& arms, std::string_view metric,
                               const std::vector<Warning>& more = {});

/// The speed of an arm over the blocks that were measured without disturbance.
struct UndisturbedSpeed {
  Interval examples_per_second;
  std::int64_t blocks;
};
UndisturbedSpeed undisturbed_speed(const ArmFinding& arm, const MeasuredBlocks& measured,
                                   double confidence);

}  // namespace pardec
