#pragma once
#include <string>
#include <vector>

#include "src/runs/run_spec.hpp"

namespace pardec {

/// Adds missing baselines to spec.arms. The baseline of an arm is an `ar` arm whose option `ask`
/// has a certain value: DecoderEntry::baseline_asks of the decoder of the arm. If baseline_asks is
/// empty, the value must equal the arm's own `ask` (`together` for decoders without this option).
/// If no ar arm has this value, a copy of an ar arm with this value is added after the original,
/// e.g. "ar-separately" after "ar", as the baseline of ippd. An ar arm is not copied if the user
/// set its `ask`, or if its network was trained on one form only. Nothing is added if the user
/// named a baseline, or if no ar arm can be copied. ConfigError: see take_trained_options.
/// ModelError, DataError: see read_training_record.
void add_baselines(RunSpec& spec);

/// A baseline that add_baselines has added.
struct AddedBaseline {
  size_t arm;  ///< index in the list of arms
  std::string label;
  std::vector<std::string> serves;  ///< labels of the arms that are compared with this baseline
};
/// All added baselines, in the order of `arms`.
std::vector<AddedBaseline> added_baselines(const std::vector<Arm>& arms);

}  // namespace pardec
