#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// A difference between a measurement and the paper's measurement.
struct Difference {
  /// What differs.
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
  /// The condition that differs. None: the text is about a doubt in the paper's numbers, or says
  /// why there is no measured number.
  std::optional<Of> of;
  std::string text;  ///< one line, e.g. "differs: type: fp32 (paper: bf16)"

  bool operator==(const Difference&) const = default;
};

/// Whether a network of the run has less than 90 % of the parameters of the paper's network, or
/// only some of the paper's examples were run.
bool is_smaller(const PaperItem& item, const Overview& comparison);

/// Warnings with code `untaught`, one for each arm whose network was trained with other settings
/// than in the paper (`training` in Published::setting). Such an arm measures another method than
/// the paper's. Only arms that have no oracle and whose decoder needs a trained network are
/// checked. Only settings that the network's training record has are compared.
std::vector<Warning> unlike_papers_training(const PaperItem& item, const Overview& comparison);

/// Compares the conditions of a run with the texts in Published::setting, and returns an entry with
/// both texts for each condition that differs. Conditions that the paper does not state count as
/// different. Judges, oracles and arms with an untrained network are always listed. The doubts
/// about the paper's numbers (Published::doubts) come last. `judged`: counts of the judges'
/// verdicts on the run.
std::vector<Difference> differences_from(const PaperItem& item, const Overview& comparison,
                                         const std::vector<JudgedShare>& judged);

}  // namespace pardec
