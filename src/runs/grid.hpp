#pragma once
#include <string>
#include <vector>

#include "src/runs/arms.hpp"
#include "src/support/json.hpp"

/// Grids of settings. Each cell is an arm, so that cells are run, stored and compared like arms.
namespace pardec {

/// Maximum number of arms, including those without grid axes.
inline constexpr std::size_t kMostCells = 1000;

/// One setting and its values. `key` is an option that applies to every arm that has it (e.g.
/// batch_size), or OF.OPTION, where OF is a decoder or the label of an arm (hpd.k_max).
struct GridAxis {
  std::string key;
  std::vector<Json> values;
};

/// Axes from `--grid KEY=V1,V2,...`. ConfigError: a missing key or value, or a duplicate value or
/// key.
std::vector<GridAxis> parse_grid(const std::vector<std::string>& flags);

/// Axes from an experiment file, {"hpd.k_max": [8, 16]}; null: none. `models`: the file's object of
/// names and folders, or null; values of model, adapter and draft may be such names. ConfigError.
std::vector<GridAxis> grid_of_experiment(const Json& grid, const Json& models,
                                         const std::string& where);

struct GridCells {
  std::vector<Arm> arms;
  std::vector<RefusedArm> refused;  ///< cells with options that their decoder does not accept
};

/// Expands each arm into the product of the values of all axes that apply to it, in the order of
/// arms and values, with the last axis changing fastest. An option that was set for an arm is kept.
/// A cell's label is its arm's label with option=value for each axis, e.g. "hpd,k_max=8,stack=2".
/// ConfigError: an axis applies to no arm, or there are more than kMostCells arms.
GridCells expand_grid(const std::vector<Arm>& arms, const std::vector<GridAxis>& grid);

}  // namespace pardec
