#include "src/runs/grid.hpp"

#include <algorithm>
#include <set>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

std::string shown(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump(value);
}

/// Splits "hpd.k_max" into "hpd" (empty: any arm) and "k_max".
std::pair<std::string, std::string> parts_of(const std::string& key) {
  const size_t dot = key.rfind('.');
  return dot == std::string::npos ? std::pair(std::string(), key)
                                  : std::pair(key.substr(0, dot), key.substr(dot + 1));
}

/// ConfigError: the axis is invalid, or was given before.
void add(std::vector<GridAxis>& grid, GridAxis axis, const std::string& where) {
  const auto [of, option] = parts_of(axis.key);
  if (option.empty() || (of.empty() && axis.key.find('.') != std::string::npos))
    throw ConfigError(
        str(where, ": the key is '", axis.key, "', expected OPTION or DECODER.OPTION"));
  for (const GridAxis& other : grid)
    if (other.key == axis.key)
      throw ConfigError(str(where, ": ", axis.key,
                            " is given twice, expected all its values once, ", "after one key"));
  if (axis.values.empty())
    throw ConfigError(str(where, ": ", axis.key, " has no value, expected one or more"));
  for (auto value = axis.values.begin(); value != axis.values.end(); ++value) {
    if (value->is_structured() || value->is_null() || shown(*value).empty())
      throw ConfigError(str(where, ": a value of ", axis.key, " is ",
                            value->is_string() ? "empty" : dump(*value),
                            ", expected numbers, texts, true or false"));
    if (std::find(axis.values.begin(), value, *value) != value)
      throw ConfigError(
          str(where, ": ", axis.key, " has the value ", shown(*value), " twice, expected once"));
  }
  grid.push_back(std::move(axis));
}

/// Whether the axis applies to the arm.
bool takes(const Arm& arm, const GridAxis& axis) {
  const auto [of, option] = parts_of(axis.key);
  if (!of.empty() && of != arm.decoder && of != arm.label) return false;
  const auto options = arm_options(arm.decoder);
  return std::find(options.begin(), options.end(), option) != options.end() &&
         std::find(arm.given.begin(), arm.given.end(), option) == arm.given.end();
}

[[noreturn]] void refuse_axis(const GridAxis& axis, const std::vector<Arm>& arms) {
  const auto [of, option] = parts_of(axis.key);
  std::vector<std::string> known;
  for (const Arm& arm : arms) {
    const auto options = arm_options(arm.decoder);
    if ((of.empty() || of == arm.decoder || of == arm.label) &&
        std::find(options.begin(), options.end(), option) != options.end())
      throw ConfigError(str("grid: ", axis.key, " is given for arm '", arm.label,
                            "' already, expected it in the grid or in the arm; leave one out"));
    for (const auto& name : options) {
      known.push_back(str(arm.decoder, ".", name));
      if (of.empty()) known.push_back(name);
    }
  }
  throw ConfigError(
      str("grid: no arm has an option '", axis.key, "'", known_names(axis.key, known)));
}

}  // namespace

std::vector<GridAxis> parse_grid(const std::vector<std::string>& flags) {
  std::vector<GridAxis> grid;
  for (const std::string& flag : flags) {
    const size_t equals = flag.find('=');
    if (equals == std::string::npos || equals == 0)
      throw ConfigError(
          str("`grid` is '", flag, "', expected KEY=V1,V2,..., e.g. ", kUsualSweep, "=8,16,30"));
    GridAxis axis{flag.substr(0, equals), {}};
    for (const auto& value : split(flag.substr(equals + 1), ','))
      axis.values.push_back(option_value(std::string(strip(value))));
    add(grid, std::move(axis), "`grid`");
  }
  return grid;
}

std::vector<GridAxis> grid_of_experiment(const Json& grid, const Json& models,
                                         const std::string& where) {
  std::vector<GridAxis> axes;
  if (grid.is_null()) return axes;
  const std::string at = where + ": 'grid'";
  if (!grid.is_object())
    throw ConfigError(str(at, " is ", grid.type_name(),
                          ", expected an object of options and lists of values, e.g. {\"",
                          kUsualSweep, "\": [8, 16]}"));
  for (const auto& [key, values] : grid.items()) {
    if (!values.is_array())
      throw ConfigError(str(at, ": '", key, "' is ", dump(values), ", expected a list of values"));
    GridAxis axis{key, {}};
    const std::string option = parts_of(key).second;
    const bool network = option == "model" || option == "adapter" || option == "draft";
    for (const Json& value : values)
      axis.values.push_back(
          network && value.is_string() ? Json(folder_of_experiment(models, value, where)) : value);
    add(axes, std::move(axis), at);
  }
  return axes;
}

namespace {

void check_cells(std::size_t count) {
  if (count > kMostCells)
    throw ConfigError(str("grid: it has more than ", kMostCells,
                          " cells, expected at most these; give fewer values"));
}

}  // namespace

GridCells expand_grid(const std::vector<Arm>& arms, const std::vector<GridAxis>& grid) {
  for (const GridAxis& axis : grid)
    if (std::none_of(arms.begin(), arms.end(), [&](const Arm& arm) { return takes(arm, axis); }))
      refuse_axis(axis, arms);
  GridCells all;
  std::set<std::string> labels;
  for (const Arm& arm : arms) {
    std::vector<const GridAxis*> axes;
    std::size_t count = 1;
    for (const GridAxis& axis : grid)
      if (takes(arm, axis)) {
        axes.push_back(&axis);
        count *= axis.values.size();
        check_cells(count + all.arms.size() + all.refused.size());
      }
    check_cells(count + all.arms.size() + all.refused.size());
    for (std::size_t index = 0; index < count; ++index) {
      Arm cell = arm;
      std::size_t rest = index, stride = count;
      std::vector<std::pair<std::string, Json>> settings;
      for (const GridAxis* axis : axes) {
        stride /= axis->values.size();
        const Json& value = axis->values[rest / stride];
        rest %= stride;
        const std::string option = parts_of(axis->key).second;
        settings.emplace_back(option, value);
        cell.cell[axis->key] = value;
        cell.label += str(",", option, "=", shown(value));
      }
      if (!settings.empty()) cell.expanded_from = arm.label;
      if (!labels.insert(cell.label).second)
        throw ConfigError(str("grid: two cells are labelled '", cell.label,
                              "'; leave one of the keys or arms out that give it"));
      try {
        for (const auto& [option, value] : settings) put_option(cell, option, value);
        all.arms.push_back(std::move(cell));
      } catch (const Error& error) {
        all.refused.push_back({cell.label, error.what()});
      }
    }
  }
  return all;
}

}  // namespace pardec
