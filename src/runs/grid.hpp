#pragma once
#include <string>
#include <vector>

#include "src/runs/arms.hpp"
#include "src/support/json.hpp"

/// Grids of settings: each cell is an arm, so that cells are run, stored and compared as arms are.
namespace pardec {

/// Cells of a grid at most, with the arms that it does not touch.
inline constexpr std::size_t kMostCells = 1000;

/// One setting and the values that it takes. `key` is an option of every arm that has it (e.g.
/// batch_size), or OF.OPTION with the decoder or the label of the arms that are meant (hpd.k_max).
struct GridAxis {
  std::string key;
  std::vector<Json> values;
};

/// Axes from `--grid KEY=V1,V2,...`. ConfigError: no key, no value, a value or a key twice.
std::vector<GridAxis> parse_grid(const std::vector<std::string>& flags);

/// Those of an experiment file, {"hpd.k_max": [8, 16]}; null: none. `models` is the file's object
/// of names and folders, or null: values of model, adapter and draft may be such names.
/// ConfigError.
std::vector<GridAxis> grid_of_experiment(const Json& grid, const Json& models,
                                         const std::string& where);

struct GridCells {
  std::vector<Arm> arms;
  std::vector<RefusedArm> refused;  ///< cells that their decoder does not take
};

/// Lays the grid over the arms: each becomes as many as the axes that it takes have values,
/// multiplied, in the order of arms and of values, the last axis changing fastest. An arm that was
/// given an option itself keeps it. A cell's label is that of its arm with option=value of each
/// axis, e.g. "hpd,k_max=8,stack=2". ConfigError: an axis that no arm takes, more than kMostCells.
GridCells expand_grid(const std::vector<Arm>& arms, const std::vector<GridAxis>& grid);

}  // namespace pardec
