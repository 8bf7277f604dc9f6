#pragma once
#include <string>
#include <vector>

#include "src/runs/run_spec.hpp"

namespace pardec {

/// Adds missing baselines to spec.arms. The baseline of an arm is an `ar` arm whose option `ask`
/// has the right value. This value is DecoderEntry::baseline_asks of the arm's decoder. If
/// baseline_asks is empty, the value is that of the arm's own option `ask` (`together` for decoders
/// without this option). If no ar arm has the right value, an ar arm is copied, the copy's `ask` is
/// set to this value, and the copy is added after the original, e.g. "ar-separately" after "ar", as
/// the baseline of ippd. An ar arm is not copied if the user or its network's training record
/// (take_trained_options) determined its `ask`. Nothing is added if the user named a baseline, or
/// if no ar arm can be copied. ConfigError: see take_trained_options. ModelError, DataError: see
/// read_training_record.
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
