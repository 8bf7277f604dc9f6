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
  struct Part {
    std::string label;  ///< e.g. "squad", "squad, code", "k5 > k2"; unique among the parts
    std::string rule;   ///< the limit that it is tested against, e.g. "above 1"
    Measured measured;
    ClaimVerdict verdict = ClaimVerdict::open;
    /// the counts of a share of identical answers
    std::optional<IdentityCount> identity = std::nullopt;
    std::string unfit = "";  ///< why the number decides nothing; empty: it may decide
    std::string dataset = "", network = "";  ///< of the number; empty: several, or not known
  };
  const Claim* claim;
  std::string scale;
  ClaimVerdict verdict;
  Qualifiers qualifiers;
  std::vector<Part> parts;
  std::vector<std::string> lacks;  ///< what parts without a measurement need, by name
  std::vector<Caveat> caveats;     ///< the warnings about its numbers, without duplicates
  std::string note;                ///< why a part that seems refuted is open; may be empty

  /// Whether it was decided differently than expected.
  bool unexpected() const;
  /// Why it cannot fail at this scale; empty: it can.
  std::string by_construction() const;
  /// The paper's numbers for what was tested, or would be if nothing was: {"least", "most"} or
  /// {"at"}, by dataset if the claim has them by dataset, otherwise under "".
  std::vector<std::pair<std::string, Json>> published() const;
  /// The reasons for the verdict in words: the results of its parts, and what is missing.
  std::string why() const;
};

/// Tests a claim against measurements. Parts whose numbers are unfit are open. If a part could not
/// be measured, the claim is refuted or open; if no part was measured, it is not testable.
ClaimFinding test_claim(const Claim& claim, const std::string& scale, const Evidence& evidence);

/// The number of claims by verdict, in words: "claims: 3 confirmed, 1 open; apart from them 2 that
/// cannot fail by construction (2 confirmed)".
std::string counts_text(const std::vector<const ClaimFinding*>& findings);

}  // namespace pardec
