#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/statistics.hpp"

/// Decides claims from measured quantities, with pure functions.
namespace pardec {

/// How a number relates to the quantity of a claim.
enum class Standing {
  itself,    ///< an estimate of the quantity
  at_most,   ///< an upper bound, e.g. the largest speedup that a roofline allows
  at_least,  ///< a lower bound
  nothing,   ///< neither an estimate nor a bound, e.g. a ratio of two upper bounds
};

/// A measured or computed quantity: a level, a difference or a ratio.
struct Measured {
  Interval value;            ///< estimate with 95 % interval; NaN ends: no interval
  std::int64_t units = 0;    ///< number of blocks or clusters that the interval is based on
  bool logarithmic = false;  ///< the interval was computed for the logarithm, as for ratios
  bool exact = false;        ///< computed without sampling, so there is no uncertainty
  Standing standing = Standing::itself;
};

/// `a` divided by `b`. The two quantities are treated as independent: the squared half-widths of
/// the intervals of their logarithms are added. Measured::units of the result is the smaller of the
/// two numbers of units; a quantity without uncertainty (Measured::exact) is not considered. If
/// only `b` is a bound, the result is a bound in the opposite direction. If both are bounds, the
/// result is Standing::nothing. REQUIRES: both estimates are positive.
Measured quotient(const Measured& a, const Measured& b);

/// The values of a quantity that a claim allows.
struct Limit {
  enum class Relation { above, at_least, below, at_most, within };
  Relation relation;
  double value;  ///< for `within`: the largest allowed absolute value of the quantity

  /// Whether the quantity satisfies the limit.
  bool holds(double quantity) const;
  std::string text() const;  ///< e.g. "above 1", "within 0.01 of 0"
};
/// Makes a limit. `op`: `>`, `>=`, `<`, `<=` or `within`. ConfigError: another `op`; the message
/// begins with `where`.
Limit parse_limit(std::string_view op, double value, const std::string& where);

/// The verdict on a claim, or on a part of a claim.
enum class ClaimVerdict {
  confirmed,
  refuted,
  not_contradicted,  ///< only bounds are known, and they are compatible with the claim
  open,              ///< the interval contains the limit, has too few units, or is unfit
  not_testable,      ///< nothing could be measured
};
/// All verdicts, in the order in which they are listed.
inline constexpr std::array<ClaimVerdict, 5> kClaimVerdicts{
    ClaimVerdict::confirmed, ClaimVerdict::refuted, ClaimVerdict::not_contradicted,
    ClaimVerdict::open, ClaimVerdict::not_testable};
/// The verdict in words, e.g. "not contradicted".
std::string_view name(ClaimVerdict verdict);

/// The rules for decisions.
struct VerdictRules {
  double confidence = 0.95;        ///< 1 minus the error probability of a decision
  std::int64_t fewest_units = 10;  ///< with fewer units, a claim stays open
};

/// Whether `measured` has enough units for a decision, or is exact.
bool enough(const Measured& measured, const VerdictRules& rules = {});

/// The verdict on a claim, and on each of its parts (datasets, categories, neighbours in an order).
struct Decision {
  ClaimVerdict verdict;
  std::vector<ClaimVerdict> parts;  ///< in the order of the parts
};

/// The verdict on a claim whose parts must all hold. The result is the first verdict in this list
/// that at least one part has: refuted, open, not contradicted, confirmed. Without parts: not
/// testable.
ClaimVerdict together(std::span<const ClaimVerdict> parts);

/// Decides the claim that all parts satisfy the limit. Without parts, the claim is not testable.
///
/// A part is decided if the two-sided p-value of its difference from the limit, adjusted with
/// Holm's method for all parts, is below 1 - confidence. The part is then confirmed or refuted,
/// depending on the side of the limit on which its estimate lies. With a single part, this means
/// that its interval excludes the limit. An exact part (Measured::exact) is always decided. A part
/// with too few units (see `enough`) is open. A part with Standing::nothing is open, even if it is
/// exact.
///
/// A part that is a bound (Standing::at_most or at_least) is never confirmed. The verdict on a
/// decided bound is not contradicted if the bound itself satisfies the limit, refuted if no value
/// that the bound allows satisfies the limit, and open in all other cases.
Decision decide(std::span<const Measured> parts, const Limit& limit,
                const VerdictRules& rules = {});

/// Decides the claim that the best of all points is among the points that the claim names
/// (ClaimTest::among). The other points are called unnamed here. `better[i][o]`: the quantity of
/// named point i divided by the quantity of unnamed point o; above 1: the named point is better.
/// The verdict is:
///   confirmed         the named point with the best estimate is better than every unnamed point
///   not contradicted  as for confirmed, but a quantity in this comparison is only a bound
///   refuted           the unnamed point with the best estimate is better than every named point
///   not testable      all points are named, or all are unnamed
///   open              in all other cases
///
/// Decision::parts: one verdict for each unnamed point, compared with the best named point.
/// REQUIRES: all rows of `better` have the same length.
Decision decide_optimum(const std::vector<std::vector<Measured>>& better,
                        const VerdictRules& rules = {});

/// How many answers of an arm equal another arm's answers. Some metrics count fields instead of
/// answers (Evidence::identity).
struct IdentityCount {
  std::int64_t same, compared;  ///< number of equal answers, and number of compared answers
  /// Number of different answers whose first difference is at a tie: the two best logits are equal
  /// up to rounding (kTieGap). `same` does not include these answers.
  std::int64_t ties;
};
/// The largest gap between the two best logits that counts as a tie (rounding in fp32).
inline constexpr double kTieGap = 1e-3;

/// Decides the claim that the answers of two arms are the same, except for differences at ties. A
/// part is refuted if at least one difference is not at a tie. Otherwise, the part is confirmed if
/// at least VerdictRules::fewest_units answers were compared, and open if fewer were compared.
Decision decide_identity(std::span<const IdentityCount> parts, const VerdictRules& rules = {});

}  // namespace pardec
