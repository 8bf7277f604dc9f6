#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/reproduction/evidence.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// The result of testing a claim at one scale.
struct ClaimFinding {
  /// One measured quantity that the claim is about, e.g. on one dataset.
  struct Part {
    std::string label;  ///< e.g. "squad", "squad, code", "k5 > k2"; unique among the parts
    std::string rule;   ///< what the claim says about `measured`, as text, e.g. "above 1"
    Measured measured;  ///< for order, trend and optimum: the quotient of two points
    ClaimVerdict verdict = ClaimVerdict::open;
    /// the counts of equal answers; none: the test is not ClaimTest::Kind::identity
    std::optional<IdentityCount> identity = std::nullopt;
    /// the warning that makes `measured` unfit for a verdict, as text; empty: there is none
    std::string unfit = "";
    /// the dataset and the network on which `measured` was measured; empty: several, or not known
    std::string dataset = "", network = "";
  };
  const Claim* claim;
  std::string scale;
  ClaimVerdict verdict;
  Qualifiers qualifiers;
  std::vector<Part> parts;
  /// what is missing for the parts that could not be measured, without duplicates
  std::vector<std::string> lacks;
  std::vector<Caveat> caveats;  ///< the warnings about the numbers, without duplicates
  /// Why a test is open although parts of the test are refuted: the passes of these parts are too
  /// large (ClaimTest::below_balance). Empty: there is no such test.
  std::string note;

  /// Whether the verdict is a decision (neither open nor not testable) that differs from the
  /// expected verdict (Claim::expect).
  bool unexpected() const;
  /// Why the claim cannot fail at this scale; empty: it can.
  std::string by_construction() const;
  /// The paper's numbers for the tested parts: pairs (dataset, numbers). The numbers are an object
  /// {"least": X, "most": Y} or {"at": X} (Claim::published). If the claim does not give numbers by
  /// dataset, there is one pair with an empty dataset. If no part was tested, the result has the
  /// numbers for all datasets of the claim. Empty: the claim has no numbers.
  std::vector<std::pair<std::string, Json>> published() const;
  /// The reasons for the verdict as text: the results of the parts, and what is missing.
  std::string why() const;
};

/// Tests a claim against measurements. A part with an unfit number is open. If some parts could not
/// be measured, the claim is refuted if a measured part is refuted, and open otherwise. If no part
/// could be measured, the claim is not testable. Several tests of a claim share the error
/// probability of one decision: each test gets an equal part (VerdictRules::confidence). REQUIRES:
/// `claim` outlives the result.
ClaimFinding test_claim(const Claim& claim, const std::string& scale, const Evidence& evidence);

/// The number of claims with each verdict, as text: "claims: 3 confirmed, 1 open; apart from these,
/// that cannot fail: 2 confirmed". The claims after "apart from these" have a by_construction()
/// text. If `findings` is empty, the text is "nothing is claimed".
std::string counts_text(const std::vector<const ClaimFinding*>& findings);

}  // namespace pardec
