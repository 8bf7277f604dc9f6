#pragma once
#include <string>
#include <vector>

#include "src/runs/run_spec.hpp"

namespace pardec {

/// Adds missing baselines. The baseline of an arm is the plain decoder with the option `ask` that
/// DecoderEntry::baseline_asks says. If no arm is such a baseline, a copy of a plain arm with that
/// option is added next to it, e.g. "ar-separately" next to "ar", for ippd. Nothing is added if a
/// baseline is named, if there is no plain arm, if the user set `ask` for all plain arms, or if
/// their network was trained on only one form.
void add_baselines(RunSpec& spec);

struct AddedBaseline {
  size_t arm;
  std::string label;
  std::vector<std::string> serves;  ///< labels of the arms that are compared with it
};
std::vector<AddedBaseline> added_baselines(const std::vector<Arm>& arms);

}  // namespace pardec
