#pragma once
#include <string>
#include <vector>

#include "src/runs/run_spec.hpp"

namespace pardec {

/// Adds plain arms so that every arm has a baseline that asks in the form it needs. If no arm is
/// the plain decoder asking in this form, one is added next to the plain arm that it is derived
/// from, e.g. "ar-separately" for ippd next to "ar". Nothing is added if a baseline is named, if
/// there is no plain arm, if the user set `ask` for all plain arms, or if their network was trained
/// on only one form.
void add_baselines(RunSpec& spec);

struct AddedBaseline {
  size_t arm;
  std::string label;
  std::vector<std::string> serves;  ///< labels of the arms that are compared with it
};
std::vector<AddedBaseline> added_baselines(const std::vector<Arm>& arms);

}  // namespace pardec
