#include "src/reproduction/verdicts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The quantile of Student's t that the measured interval is based on.
double t_of(const Measured& measured) {
  return student_t_quantile(0.975, static_cast<double>(measured.units - 1));
}

/// Narrower intervals have no width except for rounding.
constexpr double kRounding = 1e-12;

/// p if all units lie on one side.
double sign_test_p(const Measured& measured) {
  return std::min(1.0, 2 * std::exp2(-static_cast<double>(measured.units)));
}

double scaled(const Measured& measured, double value) {
  return measured.logarithmic ? std::log(value) : value;
}

/// Two-sided p of the hypothesis that the quantity equals `at`; 1 if it cannot be computed.
double p_about(const Measured& measured, double at) {
  const double away = scaled(measured, measured.value.estimate) - scaled(measured, at);
  if (std::isnan(away)) return 1;
  // Intervals need not be symmetric: the half on the side of the limit counts.
  const double half =
      away > 0 ? scaled(measured, measured.value.estimate) - scaled(measured, measured.value.low)
               : scaled(measured, measured.value.high) - scaled(measured, measured.value.estimate);
  if (std::isnan(half) || measured.units < 2) return 1;
  // Without any spread, all units are on the same side: the sign test.
  if (half <= kRounding) return std::abs(away) <= kRounding ? 1 : sign_test_p(measured);
  return student_t_p(away / half * t_of(measured), static_cast<double>(measured.units - 1));
}

/// p of the side on which the estimate lies.
double p_of(const Measured& measured, const Limit& limit) {
  const double estimate = measured.value.estimate;
  if (std::isnan(estimate)) return 1;
  if (measured.exact) return 0;
  // Units that all lie on a limit satisfy it.
  if (scaled(measured, measured.value.high) - scaled(measured, measured.value.low) <= kRounding &&
      measured.units >= 2)
    return sign_test_p(measured);
  if (limit.relation != Limit::Relation::within) return p_about(measured, limit.value);
  const double low = p_about(measured, -limit.value), high = p_about(measured, limit.value);
  return limit.holds(estimate) ? std::max(low, high) : estimate < 0 ? low : high;
}

/// The verdict on a part that lies entirely off the limit or entirely within it.
ClaimVerdict verdict_of(const Measured& part, const Limit& limit) {
  using enum Limit::Relation;
  const bool holds = limit.holds(part.value.estimate);
  switch (part.standing) {
    case Standing::itself:
      return holds ? ClaimVerdict::confirmed : ClaimVerdict::refuted;
    case Standing::at_most:
    case Standing::at_least: {
      if (holds) return ClaimVerdict::not_contradicted;
      // Refuted if all values that the bound allows are on the wrong side.
      const bool wants_more = limit.relation == above || limit.relation == at_least ||
                              (limit.relation == within && part.value.estimate < 0);
      return wants_more == (part.standing == Standing::at_most) ? ClaimVerdict::refuted
                                                                : ClaimVerdict::open;
    }
    case Standing::nothing:
      break;
  }
  return ClaimVerdict::open;
}

Standing standing_of_quotient(Standing a, Standing b) {
  if (b == Standing::itself) return a;
  if (a != Standing::itself) return Standing::nothing;
  return b == Standing::at_most    ? Standing::at_least
         : b == Standing::at_least ? Standing::at_most
                                   : Standing::nothing;
}

}  // namespace

ClaimVerdict together(std::span<const ClaimVerdict> parts) {
  if (parts.empty()) return ClaimVerdict::not_testable;
  for (const ClaimVerdict verdict :
       {ClaimVerdict::refuted, ClaimVerdict::open, ClaimVerdict::not_contradicted})
    if (std::find(parts.begin(), parts.end(), verdict) != parts.end()) return verdict;
  return ClaimVerdict::confirmed;
}

bool enough(const Measured& measured, const VerdictRules& rules) {
  return measured.exact || measured.units >= rules.fewest_units;
}

Measured quotient(const Measured& a, const Measured& b) {
  const double ratio = a.value.estimate / b.value.estimate;
  const Standing standing = standing_of_quotient(a.standing, b.standing);
  if (a.exact && b.exact) return {{ratio, ratio, ratio}, 0, true, true, standing};
  // The interval of a level is symmetric about the level. To first order, that of its logarithm has
  // the same width divided by the level.
  const auto half = [](const Measured& measured) {
    const double width =
        scaled(measured, measured.value.high) - scaled(measured, measured.value.low);
    return measured.exact ? 0.0 : width / 2 / (measured.logarithmic ? 1 : measured.value.estimate);
  };
  const double both = std::hypot(half(a), half(b));
  const std::int64_t units = a.exact ? b.units : b.exact ? a.units : std::min(a.units, b.units);
  return {{ratio, ratio * std::exp(-both), ratio * std::exp(both)}, units, true, false, standing};
}

bool Limit::holds(double quantity) const {
  switch (relation) {
    case Relation::above:
      return quantity > value;
    case Relation::at_least:
      return quantity >= value;
    case Relation::below:
      return quantity < value;
    case Relation::at_most:
      return quantity <= value;
    case Relation::within:
      return std::abs(quantity) <= value;
  }
  return false;
}

std::string Limit::text() const {
  const auto words = [&] {
    switch (relation) {
      case Relation::above:
        return "above ";
      case Relation::at_least:
        return "at least ";
      case Relation::below:
        return "below ";
      case Relation::at_most:
        return "at most ";
      case Relation::within:
        break;
    }
    return "within ";
  };
  return str(words(), value, relation == Relation::within ? " of 0" : "");
}

Limit parse_limit(std::string_view op, double value, const std::string& where) {
  using enum Limit::Relation;
  constexpr std::array<std::pair<std::string_view, Limit::Relation>, 5> kRelations{
      {{">", above}, {">=", at_least}, {"<", below}, {"<=", at_most}, {"within", within}}};
  for (const auto& [text, relation] : kRelations)
    if (text == op) return {relation, value};
  throw ConfigError(str(where, " is '", op, "', expected >, >=, <, <= or within"));
}

std::string_view name(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::confirmed:
      return "confirmed";
    case ClaimVerdict::refuted:
      return "refuted";
    case ClaimVerdict::not_contradicted:
      return "not contradicted";
    case ClaimVerdict::open:
      return "open";
    case ClaimVerdict::not_testable:
      return "not testable";
  }
  return "";
}

Decision decide(std::span<const Measured> parts, const Limit& limit, const VerdictRules& rules) {
  std::vector<double> p;
  for (const Measured& part : parts)
    p.push_back(enough(part, rules) && part.standing != Standing::nothing ? p_of(part, limit) : 1);
  const std::vector<double> adjusted = holm(p);
  Decision decision{ClaimVerdict::open, {}};
  for (size_t i = 0; i < parts.size(); ++i)
    decision.parts.push_back(adjusted[i] >= 1 - rules.confidence ? ClaimVerdict::open
                                                                 : verdict_of(parts[i], limit));
  decision.verdict = together(decision.parts);
  return decision;
}

Decision decide_optimum(const std::vector<std::vector<Measured>>& better,
                        const VerdictRules& rules) {
  if (better.empty() || better.front().empty()) return {ClaimVerdict::not_testable, {}};
  const Limit above{Limit::Relation::above, 1}, below{Limit::Relation::below, 1};
  // The best point on either side by the estimates: the one with the largest lead over the same
  // opponent.
  size_t own = 0, other = 0;
  for (size_t i = 1; i < better.size(); ++i)
    if (better[i].front().value.estimate > better[own].front().value.estimate) own = i;
  for (size_t o = 1; o < better.front().size(); ++o)
    if (better.front()[o].value.estimate < better.front()[other].value.estimate) other = o;
  const Decision leads = decide(better[own], above, rules);
  if (leads.verdict == ClaimVerdict::confirmed || leads.verdict == ClaimVerdict::not_contradicted)
    return leads;
  std::vector<Measured> against;
  for (const auto& of_point : better) against.push_back(of_point[other]);
  if (decide(against, below, rules).verdict == ClaimVerdict::confirmed)
    return {ClaimVerdict::refuted, leads.parts};
  return {ClaimVerdict::open, leads.parts};
}

Decision decide_identity(std::span<const IdentityCount> parts, const VerdictRules& rules) {
  Decision decision{ClaimVerdict::open, {}};
  for (const IdentityCount& part : parts)
    decision.parts.push_back(part.same + part.ties < part.compared ? ClaimVerdict::refuted
                             : part.compared >= rules.fewest_units ? ClaimVerdict::confirmed
                                                                   : ClaimVerdict::open);
  decision.verdict = together(decision.parts);
  return decision;
}

}  // namespace pardec
