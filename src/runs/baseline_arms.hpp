#pragma once
#include <string>
#include <vector>

#include "src/runs/run_spec.hpp"

namespace pardec {

/// AR is run in the form that each arm needs: where an arm is to be compared with the plain decoder
/// asking as none of the arms does, one that asks so is added next to the plain arm that it is made
/// of, e.g. "ar-separately" for ippd next to "ar". Nothing is added where a baseline is named, no
/// plain arm is there, somebody gave all of these their `ask`, or their network was trained on one
/// form alone.
void add_baselines(RunSpec& spec);

struct AddedBaseline {
  size_t arm;
  std::string label;
  std::vector<std::string> serves;  ///< labels of the arms that are compared with it
};
std::vector<AddedBaseline> added_baselines(const std::vector<Arm>& arms);

}  // namespace pardec
