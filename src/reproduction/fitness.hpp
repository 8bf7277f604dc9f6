#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"

/// Which warnings of a comparison make which numbers unfit to decide a claim: the table of
/// experiments/papers/README.md.
namespace pardec {

/// What a metric of a claim tells of.
enum class Quantity {
  answer_speed,  ///< time by the answer, e.g. speed, seconds_per_job
  token_speed,   ///< time by the token, e.g. tokens_per_second, tps
  passes,        ///< what a pass does, e.g. tokens_per_forward, acceptance
  length,
  structure,  ///< threads, branches, and what they cache and see
  score,
  identity,
};
Quantity quantity_of(std::string_view metric);

/// Other ways to take the same measurement, which tell whether a disturbance decides.
enum class MeasuredView {
  all,
  undisturbed,  ///< without what was measured while others had a share of the machine
  by_token,     ///< speeds by the token of text, not by the answer
};

/// What a warning does to a number.
enum class Effect {
  none,         ///< it is about something else
  beside,       ///< it is said beside the verdict
  unfit,        ///< the number decides nothing
  undisturbed,  ///< the number decides where the undisturbed measurements alone decide the same
  by_token,     ///< ... where the speed by the token decides the same
};
std::string_view name(Effect effect);
/// Of the codes of results/README.md. An unknown one is said beside.
Effect effect_of(std::string_view code, Quantity quantity);

/// A warning that a number has beside it.
struct Caveat {
  std::string code, dataset, arm, found;
  Effect effect;

  bool operator==(const Caveat&) const = default;
};

/// A warning where a measured comparison has it of arms on a dataset, as far as it is about
/// such a number: one that is computed of them all (e.g. a ratio). An arm that was not
/// run has none.
std::vector<Caveat> caveats_of(const Overview& comparison, const std::string& dataset,
                               const std::vector<std::string>& arms, std::string_view metric);

/// The speed of an arm over the blocks that were measured undisturbed.
struct UndisturbedSpeed {
  Interval examples_per_second;
  std::int64_t blocks;
};
UndisturbedSpeed undisturbed_speed(const ArmFinding& arm, const MeasuredBlocks& measured,
                                   double confidence);

}  // namespace pardec
