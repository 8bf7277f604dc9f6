#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "decoders/options.hpp"
#include "src/support/json.hpp"

/// Tables of the settings of runs and trainings. A row has a setting's name, type, help text and
/// valid values, and a pointer to the member of a struct that contains the value. JSON, JSON
/// schema, command-line flags, environment variables, completion and the manual page all follow
/// from the rows.
namespace pardec {

/// The valid values of a number. `expected`: their description for error messages.
struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false, below_most = false;  ///< whether the end itself is excluded
  std::string expected = {};

  bool has(double value) const {
    return std::isfinite(value) && (above_least ? value > least : value >= least) &&
           (below_most ? value < most : value <= most);
  }
};
NumberRange at_least(std::int64_t least);
NumberRange above_zero();
NumberRange share();          ///< from 0 to 1, inclusive
NumberRange share_below_1();  ///< from 0 to 1, without 1

/// A setting that is stored as an entry of a JSON object: an option of a decoder or a training
/// format.
struct OptionEntry {
  Json* object;
  Option option;
};

/// Properties that only some rows have.
struct SettingTraits {
  NumberRange range = {};                 ///< for one number, or for each number of a list
  std::vector<std::string> choices = {};  ///< the valid texts; empty: any text
  /// for lists: one argument may contain several values, separated by commas
  bool commas = false;
  bool one_text = false;          ///< for lists: the flag takes one argument with commas
  bool number_too = false;        ///< for texts: the JSON value may also be a number
  bool shows_default = true;      ///< whether the help shows the default
  std::string default_text = {};  ///< default for the help, if the value is only set later
  bool checkpoint = false;        ///< a checkpoint: replaced by checkpoint_path of it
  bool in_file = true;            ///< false: no key of experiment files has this setting
  /// the only verb with this row; empty: all verbs with this table
  std::string_view only = {};
};

/// A row of a table. The variable that `value` points to must outlive the row.
struct Setting {
  using Value = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*,
                             std::optional<int>*, std::optional<std::int64_t>*, std::string*,
                             std::vector<std::string>*, std::vector<double>*, OptionEntry>;

  std::string name;  ///< batch_size: key in JSON, flag --batch-size, variable PARDEC_BATCH_SIZE
  std::string unit;  ///< placeholder of the value in the help: N, X, FILE; empty: true or false
  Value value;
  std::string help;
  SettingTraits traits = {};
};
using Settings = std::vector<Setting>;

/// Whether the value is a list.
bool takes_several(const Setting& setting);

/// Sets settings to the values in a JSON object. Keys may contain - instead of _. `others`: keys of
/// the object that are read elsewhere. `given`: names of settings that keep their values; their
/// values in the object are ignored. Returns the names of the settings that were set. ConfigError:
/// `object` is not an object, a key is unknown (the message suggests similar names), or a value has
/// the wrong type or is out of range. The message starts with `where`, and names the key, the value
/// and the expected values.
std::set<std::string> read_settings(const Settings& settings, const Json& object,
                                    const std::string& where,
                                    const std::vector<std::string>& others = {},
                                    const std::set<std::string>& given = {});

/// A JSON object from which read_settings gets the same values. Values that are not set, and rows
/// that are not `in_file`, are left out.
Json json_of(const Settings& settings);

/// The `properties` of a JSON schema for the settings, in the order of the rows, without rows that
/// are not `in_file`.
OrderedJson schema_properties(const Settings& settings);

/// A description of the valid values, e.g. "a whole number, at least 1".
std::string expected_of(const Setting& setting);

/// Checks the values of all rows. ConfigError, which names the setting in backquotes: a value is
/// out of range, or a text is not one of the choices.
void check_settings(const Settings& settings);

}  // namespace pardec
