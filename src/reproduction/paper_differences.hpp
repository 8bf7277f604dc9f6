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

/// Whether a network is smaller than the paper's, or only some of the examples were run.
bool is_smaller(const PaperItem& item, const Overview& comparison);

/// Warnings with code `untaught`, one for each training setting in which an arm's network differs
/// from the paper (`training` in the item's setting). Only arms that need a trained network are
/// checked. An arm with such a difference measures another method than the paper's.
std::vector<Warning> unlike_papers_training(const PaperItem& item, const Overview& comparison);

/// All differences between a run and the paper's measurement: networks and their training, dtype,
/// machine, data, batch, sampling, limits, options, judge, oracle. Also the doubts about the
/// paper's numbers.
std::vector<Difference> differences_from(const PaperItem& item, const Overview& comparison,
                                         const std::vector<JudgedShare>& judged);

}  // namespace pardec
