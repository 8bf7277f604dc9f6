#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/statistics.hpp"

/// What measured quantities say of a claim about them. Pure functions.
namespace pardec {

/// What a number says of the quantity that it stands for.
enum class Standing {
  itself,    ///< it is an estimate of the quantity
  at_most,   ///< the quantity is no more than that, e.g. a speedup that a roofline allows
  at_least,  ///< the quantity is no less than that
  nothing,   ///< the quantity may lie on either side, e.g. of a ratio of two such speedups
};

/// A quantity as it was measured: a level, a difference or a ratio.
struct Measured {
  Interval value;            ///< its 95 % interval; ends NaN: there is none
  std::int64_t units = 0;    ///< blocks or clusters of examples that the interval is over
  bool logarithmic = false;  ///< the interval is symmetric about the logarithm, as a ratio's is
  bool exact = false;        ///< computed, not sampled: it has no interval and needs none
  Standing standing = Standing::itself;
};

/// A over B, of two that were measured on different examples: half-widths of the logarithms add in
/// squares. Of two bounds nothing is known. REQUIRES: both above 0.
Measured quotient(const Measured& a, const Measured& b);

/// Where a claim says that a quantity lies.
struct Limit {
  enum class Relation { above, at_least, below, at_most, within };
  Relation relation;
  double value;  ///< within: the quantity's absolute value is at most this

  bool holds(double quantity) const;
  std::string text() const;  ///< e.g. "above 1", "within 0.01 of 0"
};
/// `>`, `>=`, `<`, `<=` or `within`; anything else is a ConfigError that begins with `where`.
Limit parse_limit(std::string_view op, double value, const std::string& where);

enum class ClaimVerdict {
  confirmed,
  refuted,
  not_contradicted,  ///< a bound leaves room for it
  open,              ///< the interval holds the limit, or is over too few blocks
  not_testable,      ///< something lacks
};
/// All, in the order in which they are counted.
inline constexpr std::array<ClaimVerdict, 5> kClaimVerdicts{
    ClaimVerdict::confirmed, ClaimVerdict::refuted, ClaimVerdict::not_contradicted,
    ClaimVerdict::open, ClaimVerdict::not_testable};
std::string_view name(ClaimVerdict verdict);

struct VerdictRules {
  double confidence = 0.95;
  std::int64_t fewest_units = 10;  ///< over fewer nothing is decided
};

/// Whether it is over enough units to decide anything.
bool enough(const Measured& measured, const VerdictRules& rules = {});

/// Of a claim, and of each of its parts (datasets, categories, neighbours in an order).
struct Decision {
  ClaimVerdict verdict;
  std::vector<ClaimVerdict> parts;
};

/// Of parts that all have to hold: refuted where one is, else open where one is, else not
/// contradicted where one is, else confirmed. No part: not testable.
ClaimVerdict together(std::span<const ClaimVerdict> parts);

/// A claim that each part keeps to the limit: confirmed where all do, refuted where one does not.
/// A part is decided where its two-sided p about the limit is below 1 - confidence by Holm's
/// adjustment for all parts, on the side that its estimate is on; alone, that is where its interval
/// leaves the limit out. A part that is a bound refutes where all that it leaves room for is on the
/// wrong side, and is never confirmed: not contradicted where the bound itself is on the right
/// side, open elsewhere. No part: not testable.
Decision decide(std::span<const Measured> parts, const Limit& limit,
                const VerdictRules& rules = {});

/// A claim that the best of all points is among some. `better[i][o]`: how many times better point i
/// of these is than point o of the others. Confirmed: the one that seems best of these is better
/// than each other; refuted: an other is better than each of these. REQUIRES: as many others for
/// each point.
Decision decide_optimum(const std::vector<std::vector<Measured>>& better,
                        const VerdictRules& rules = {});

/// How many answers have the very ids of others.
struct IdentityCount {
  std::int64_t same, compared;
  std::int64_t ties;  ///< of those that differ: the two best logits were equal but for rounding
};
/// A gap of the two best logits up to which a choice is a tie in fp32.
inline constexpr double kTieGap = 1e-3;

/// A claim that all answers are the same, ties apart. One that differs refutes it; none of at least
/// `fewest_units` confirms it.
Decision decide_identity(std::span<const IdentityCount> parts, const VerdictRules& rules = {});

}  // namespace pardec
