#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/statistics.hpp"

/// Decides claims from measured quantities. Pure functions.
namespace pardec {

/// How a number relates to the quantity that it describes.
enum class Standing {
  itself,    ///< an estimate of the quantity
  at_most,   ///< an upper bound, e.g. the largest speedup that a roofline allows
  at_least,  ///< a lower bound
  nothing,   ///< no bound in either direction, e.g. a ratio of two such speedups
};

/// A measured quantity: a level, a difference or a ratio.
struct Measured {
  Interval value;            ///< with its 95 % interval; ends NaN: there is none
  std::int64_t units = 0;    ///< number of blocks or clusters of examples that the interval is over
  bool logarithmic = false;  ///< the interval is symmetric about the logarithm, as for ratios
  bool exact = false;        ///< computed, not sampled: needs no interval
  Standing standing = Standing::itself;
};

/// A divided by B, for quantities measured on different examples: squared half-widths of the
/// logarithms are added. The ratio of two bounds has Standing::nothing. REQUIRES: both are
/// positive.
Measured quotient(const Measured& a, const Measured& b);

/// The values of a quantity that a claim allows.
struct Limit {
  enum class Relation { above, at_least, below, at_most, within };
  Relation relation;
  double value;  ///< within: the quantity's absolute value is at most this

  bool holds(double quantity) const;
  std::string text() const;  ///< e.g. "above 1", "within 0.01 of 0"
};
/// `op`: `>`, `>=`, `<`, `<=` or `within`. ConfigError: another `op`; the message begins with
/// `where`.
Limit parse_limit(std::string_view op, double value, const std::string& where);

enum class ClaimVerdict {
  confirmed,
  refuted,
  not_contradicted,  ///< a bound is compatible with it
  open,              ///< the interval contains the limit, or is over too few units
  not_testable,      ///< something is missing
};
/// All verdicts, in the order in which they are listed.
inline constexpr std::array<ClaimVerdict, 5> kClaimVerdicts{
    ClaimVerdict::confirmed, ClaimVerdict::refuted, ClaimVerdict::not_contradicted,
    ClaimVerdict::open, ClaimVerdict::not_testable};
std::string_view name(ClaimVerdict verdict);

struct VerdictRules {
  double confidence = 0.95;
  std::int64_t fewest_units = 10;  ///< below this number of units, nothing is decided
};

/// Whether there are enough units to decide anything.
bool enough(const Measured& measured, const VerdictRules& rules = {});

/// The verdict on a claim, and on each of its parts (datasets, categories, neighbours in an order).
struct Decision {
  ClaimVerdict verdict;
  std::vector<ClaimVerdict> parts;
};

/// The verdict on a claim whose parts must all hold: refuted if one is, otherwise open if one is,
/// otherwise not contradicted if one is, otherwise confirmed. Without parts: not testable.
ClaimVerdict together(std::span<const ClaimVerdict> parts);

/// A claim that all parts satisfy the limit: confirmed if all do, refuted if one does not. A part
/// is decided if its two-sided p about the limit is below 1 - confidence after Holm's adjustment
/// for all parts; it then holds or fails by the side of the limit on which its estimate lies. For a
/// single part, this means that its interval excludes the limit. A part that is a bound is refuted
/// if all values that the bound allows are on the wrong side. It is never confirmed: it is not
/// contradicted if the bound itself is on the right side, and open otherwise. Without parts: not
/// testable.
Decision decide(std::span<const Measured> parts, const Limit& limit,
                const VerdictRules& rules = {});

/// A claim that the best of all points is one of the named points. `better[i][o]`: how many times
/// better named point i is than other point o. Confirmed: the named point with the best estimate is
/// better than every other point. Refuted: one of the other points is better than every named one.
/// REQUIRES: the same number of others for each point.
Decision decide_optimum(const std::vector<std::vector<Measured>>& better,
                        const VerdictRules& rules = {});

/// How many answers have the same token ids as the answers that they are compared with.
struct IdentityCount {
  std::int64_t same, compared;
  std::int64_t ties;  ///< differing answers at a tie: the two best logits were equal up to rounding
};
/// The gap between the two best logits up to which a choice counts as a tie in fp32.
inline constexpr double kTieGap = 1e-3;

/// A claim that all answers are the same, except at ties. One different answer refutes it; it is
/// confirmed if there is none among at least `fewest_units`.
Decision decide_identity(std::span<const IdentityCount> parts, const VerdictRules& rules = {});

}  // namespace pardec
