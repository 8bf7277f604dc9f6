#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// Something in which what was measured is not what a paper's numbers hold for.
struct Difference {
  enum class Of { network, type, machine, data, jobs, judge, oracle, training, ids, budget, bound };
  /// None: it is no difference, but a doubt about the paper's number, or why there is none here.
  std::optional<Of> of;
  std::string text;  ///< a line

  bool operator==(const Difference&) const = default;
};

/// Whether the networks are smaller than the paper's, or only some of the examples were run.
bool is_smaller(const PaperItem& item, const Overview& comparison);

/// In what a run differs from what a paper's numbers hold for: networks and their training, type,
/// machine, data, batch, judge, oracle; and the doubts about those numbers.
std::vector<Difference> differences_from(const PaperItem& item, const Overview& comparison,
                                         const std::vector<JudgedShare>& judged);

}  // namespace pardec
