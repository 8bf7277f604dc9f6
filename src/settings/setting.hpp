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

/// Tables of the settings of runs and training runs. A row has a setting's name, type, help text
/// and valid values, and a pointer to the member of a struct that contains the value. JSON keys,
/// JSON schema, command-line flags, environment variables, completion and the manual page are all
/// made from the rows.
namespace pardec {

/// The valid values of a number. Only finite numbers are valid.
struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  /// above_least: whether `least` itself is invalid. below_most: whether `most` itself is invalid.
  bool above_least = false, below_most = false;
  /// description of the valid values for error messages, e.g. "at least 1"; empty: any number
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
/// format. The object has an entry only if the setting was set.
struct OptionEntry {
  Json* object;
  Option option;  ///< its name is the key of the entry
};

/// Properties that only some rows have.
struct SettingTraits {
  NumberRange range = {};                 ///< for one number, or for each number of a list
  std::vector<std::string> choices = {};  ///< the valid texts; empty: any text
  /// for lists: one argument of the flag may contain several values, separated by commas
  bool commas = false;
  /// for lists of texts: the flag takes one argument, which is split at every comma. Unlike with
  /// `commas`, values may contain brackets, e.g. "[Fork],[Child]".
  bool one_text = false;
  bool number_too = false;    ///< for texts: the JSON value may also be a number
  bool shows_default = true;  ///< whether the help shows the default
  /// the default in the help, if code sets the actual default after the settings are read
  std::string default_text = {};
  /// whether the text names a checkpoint; if so, the stored value is checkpoint_path(text)
  bool checkpoint = false;
  bool in_file = true;  ///< false: no key of experiment files has this setting
  /// the only verb with this row, "run" or "sweep"; empty: all verbs with this table
  std::string_view only = {};
};

/// A row of a table. The variable that `value` points to must outlive the row.
struct Setting {
  using Value = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*,
                             std::optional<int>*, std::optional<std::int64_t>*, std::string*,
                             std::vector<std::string>*, std::vector<double>*, OptionEntry>;

  /// e.g. batch_size: the key in JSON, the flag --batch-size, and the environment variable
  /// PARDEC_BATCH_SIZE
  std::string name;
  std::string unit;  ///< placeholder of the value in the help: N, X, FILE; empty: a bool
  Value value;
  std::string help;
  SettingTraits traits = {};
};
using Settings = std::vector<Setting>;

/// Whether the value of the setting is a list.
bool takes_several(const Setting& setting);

/// Sets settings to the values in a JSON object. Keys may contain - instead of _. `others`: keys of
/// the object that this function ignores, because other code reads them. `given`: names of settings
/// that keep their values; their values in the object are ignored. Returns the names of the
/// settings that were set. ConfigError: `object` is not a JSON object, a key is unknown (the
/// message suggests similar names), or a value has the wrong type or is out of range. The message
/// starts with `where`, and names the key, the value and the expected values. The value of an
/// OptionEntry need only be a text, a number or a bool here; the code that reads the options checks
/// the value.
std::set<std::string> read_settings(const Settings& settings, const Json& object,
                                    const std::string& where,
                                    const std::vector<std::string>& others = {},
                                    const std::set<std::string>& given = {});

/// A JSON object from which read_settings gets the same values. Values that are not set, and rows
/// whose traits.in_file is false, are left out.
Json json_of(const Settings& settings);

/// The `properties` of a JSON schema for the settings, in the order of the rows. Rows whose
/// traits.in_file is false are left out.
OrderedJson schema_properties(const Settings& settings);

/// A description of the valid values, e.g. "a whole number, at least 1".
std::string expected_of(const Setting& setting);

/// Checks the values of all rows, except lists of texts and OptionEntry. ConfigError, which names
/// the setting in backquotes: a value is out of range, or a text is not one of the choices.
void check_settings(const Settings& settings);

}  // namespace pardec
