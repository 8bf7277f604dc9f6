#pragma once
#include <string>
#include <vector>

#include "src/findings/evidence.hpp"
#include "src/findings/paper_item.hpp"

namespace pardec {

/// What a claim was found to be at one scale.
struct ClaimFinding {
  struct Part {
    std::string label;  ///< e.g. "squad", "squad, code", "k5 > k2"
    Measured measured;
    ClaimVerdict verdict;
  };
  const Claim* claim;
  std::string scale;
  ClaimVerdict verdict;
  Qualifiers qualifiers;
  std::vector<Part> parts;
  std::vector<std::string> lacks;  ///< by name, what its other parts need
  std::string note;                ///< why a part that seems refuted is open; may be empty

  /// Whether it was decided, and otherwise than expected.
  bool unexpected() const;
  /// What the verdict rests on, in words: which parts lie where, and what lacks.
  std::string why() const;
};

/// Tests a claim by what was measured.
ClaimFinding test_claim(const Claim& claim, const std::string& scale, const Evidence& evidence);

}  // namespace pardec
