#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/reproduction/evidence.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// What a claim was found to be at one scale.
struct ClaimFinding {
  struct Part {
    std::string label;  ///< e.g. "squad", "squad, code", "k5 > k2"; no other part's
    std::string rule;   ///< what it is held against, e.g. "above 1"
    Measured measured;
    ClaimVerdict verdict = ClaimVerdict::open;
    std::optional<IdentityCount> identity =
        std::nullopt;        ///< what a share of the same answers is of
    std::string unfit = "";  ///< why the number decides nothing; empty: it may
  };
  const Claim* claim;
  std::string scale;
  ClaimVerdict verdict;
  Qualifiers qualifiers;
  std::vector<Part> parts;
  std::vector<std::string> lacks;  ///< by name, what its other parts need
  std::vector<Caveat> caveats;     ///< the warnings that its numbers have, each once
  std::string note;                ///< why a part that seems refuted is open; may be empty

  /// Whether it was decided, and otherwise than expected.
  bool unexpected() const;
  /// Why it cannot fail at this scale; empty: it can.
  std::string by_construction() const;
  /// What the verdict rests on, in words: which parts lie where, and what lacks.
  std::string why() const;
};

/// Tests a claim by what was measured. What is unfit to decide it leaves it open; a claim of which
/// something lacks is refuted or open, or not testable where nothing of it was measured.
ClaimFinding test_claim(const Claim& claim, const std::string& scale, const Evidence& evidence);

/// How many claims came to each verdict, in words: "claims: 3 confirmed, 1 open; apart from them 2
/// that cannot fail by construction (2 confirmed)".
std::string counts_text(const std::vector<const ClaimFinding*>& findings);

}  // namespace pardec
