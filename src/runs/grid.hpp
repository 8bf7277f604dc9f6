#pragma once
#include <string>
#include <vector>

#include "src/runs/arms.hpp"
#include "src/support/json.hpp"

/// Grids of settings. Each cell of a grid becomes an arm, and is run, stored and compared like any
/// other arm.
namespace pardec {

/// Maximum number of arms after the expansion (expand_grid), including refused cells and arms to
/// which no axis applies.
inline constexpr std::size_t kMostCells = 1000;

/// One setting and its values. `key` is OPTION or OF.OPTION, where OF is a decoder or the label of
/// an arm, e.g. batch_size or hpd.k_max. The axis applies to every arm that has this option and,
/// with OF, has this decoder or label. An arm for which the user has set the option is left out.
struct GridAxis {
  std::string key;
  std::vector<Json> values;
};

/// Parses `--grid KEY=V1,V2,...`. ConfigError: a text has another form, or a key or value is
/// missing or appears twice.
std::vector<GridAxis> parse_grid(const std::vector<std::string>& flags);

/// Reads the axes in an experiment file, e.g. {"hpd.k_max": [8, 16]}; null: no axes. `models`: see
/// folder_of_experiment, which converts the values of the options model, adapter and draft.
/// ConfigError, which starts with `where`: the JSON has another form, or a value is missing or
/// appears twice.
std::vector<GridAxis> grid_of_experiment(const Json& grid, const Json& models,
                                         const std::string& where);

/// The cells of a grid.
struct GridCells {
  std::vector<Arm> arms;            ///< cells that can be run, and arms to which no axis applies
  std::vector<RefusedArm> refused;  ///< cells with values that their decoder does not accept
};

/// Expands each arm into cells, one for each combination of values of the axes that apply to it.
/// Cells are in the order of arms, then of values, with the last axis changing fastest. The label
/// of a cell is the arm's label followed by option=value for each axis, e.g. "hpd,k_max=8,stack=2".
/// ConfigError: an axis applies to no arm, two cells have the same label, or there are more than
/// kMostCells arms.
GridCells expand_grid(const std::vector<Arm>& arms, const std::vector<GridAxis>& grid);

}  // namespace pardec
