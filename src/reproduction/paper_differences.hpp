#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// A difference between the conditions of a measurement and those of a paper's numbers.
struct Difference {
  enum class Of {
    network,
    type,
    machine,
    data,
    jobs,
    sampling,
    limit,
    option,  ///< of a decoder: examples in a job (stack), guesses in a pass (k)
    judge,
    oracle,
    training,
    ids,
    budget,
    bound
  };
  /// None: not a difference, but a doubt about the paper's number, or the reason why there is no
  /// number here.
  std::optional<Of> of;
  std::string text;  ///< one line

  bool operator==(const Difference&) const = default;
};

/// Whether the networks are smaller than the paper's, or only some of the examples were run.
bool is_smaller(const PaperItem& item, const Overview& comparison);

/// Settings of training in which a network's record differs from the paper's (`training` in the
/// item's setting), of arms that need a trained network: warnings `untaught`. Such arms measure
/// another method than the paper's.
std::vector<Warning> unlike_papers_training(const PaperItem& item, const Overview& comparison);

/// The differences between a run and the conditions of a paper's numbers (networks and their
/// training, dtype, machine, data, batch, sampling, limits, options, judge, oracle), and the doubts
/// about these numbers.
std::vector<Difference> differences_from(const PaperItem& item, const Overview& comparison,
                                         const std::vector<JudgedShare>& judged);

}  // namespace pardec
