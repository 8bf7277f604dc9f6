#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// A difference between our measurement and the paper's.
struct Difference {
  enum class Of {
    network,
    type,  ///< dtype
    machine,
    data,
    jobs,  ///< number of concurrent jobs
    sampling,
    limit,   ///< maximum number of tokens of an answer
    option,  ///< a decoder option, e.g. examples per job (stack), guesses per pass (k)
    judge,
    oracle,
    training,
    ids,     ///< the tokenizer with which tokens were counted
    budget,  ///< the time limit ended the run
    bound    ///< the settings of a bound by the roofline
  };
  /// The condition that differs. None: the text is not about a difference, but about a doubt in the
  /// paper's number, or about why there is no measured number.
  std::optional<Of> of;
  std::string text;  ///< one line

  bool operator==(const Difference&) const = default;
};

/// Whether a network has less than 90 % of the parameters of the paper's, or only some of the
/// examples were run.
bool is_smaller(const PaperItem& item, const Overview& comparison);

/// Warnings with code `untaught`, one for each arm whose network was trained with other settings
/// than in the paper (`training` in the item's setting). Only arms without an oracle that need a
/// trained network are checked, and only settings in the network's training record. An arm with
/// such a difference measures another method than the paper's.
std::vector<Warning> unlike_papers_training(const PaperItem& item, const Overview& comparison);

/// The conditions of a run next to those of the paper's measurement. Network, dtype, machine, data
/// and batch are always listed. Sampling, limits, options, judges, oracles and missing training are
/// listed only if they differ. The doubts about the paper's numbers come last. `judged`: the
/// judges' verdicts on the run.
std::vector<Difference> differences_from(const PaperItem& item, const Overview& comparison,
                                         const std::vector<JudgedShare>& judged);

}  // namespace pardec
