#pragma once
#include <string>
#include <vector>

#include "src/runs/run_spec.hpp"

namespace pardec {

/// Adds missing baselines. The baseline of an arm is an arm with the plain decoder (ar) whose
/// option `ask` has the value DecoderEntry::baseline_asks. If that is empty, the option must equal
/// the arm's own `ask` (`together` for decoders without this option). If there is no such ar arm, a
/// copy of an ar arm with this value is added, e.g. "ar-separately" next to "ar", as the baseline
/// of ippd. Nothing is added if the user named a baseline, if there is no ar arm, if the user set
/// `ask` for all ar arms, or if their network was trained on one form only. ModelError, DataError:
/// see read_training_record.
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
