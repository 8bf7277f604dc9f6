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

/// Settings of runs and trainings as rows of tables. A row has a name, a kind, a help text and the
/// valid values, and points to the member of a struct that contains the value. JSON, JSON schema,
/// command-line flags, environment variables, completion and the manual page are derived from the
/// rows.
namespace pardec {

/// The valid values of a number. `expected` describes them in an error message.
struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false, below_most = false;  ///< that end is excluded
  std::string expected = {};

  bool has(double value) const {
    return std::isfinite(value) && (above_least ? value > least : value >= least) &&
           (below_most ? value < most : value <= most);
  }
};
NumberRange at_least(std::int64_t least);
NumberRange above_zero();
NumberRange share();          ///< from 0 to 1, inclusive
NumberRange share_below_1();  ///< from 0 to 1, excluding 1

/// An entry of an object of options: one option in the table of a decoder or a training format.
struct OptionEntry {
  Json* object;
  Option option;
};

/// Special properties of a row.
struct SettingTraits {
  NumberRange range = {};                 ///< for a number, or for each of several
  std::vector<std::string> choices = {};  ///< the valid texts; empty: any text
  bool commas = false;    ///< for several values: one text may contain several, separated by commas
  bool one_text = false;  ///< for several values: the flag takes a single text with commas
  bool number_too = false;        ///< for a text: JSON may also have a number
  bool shows_default = true;      ///< in a help text
  std::string default_text = {};  ///< in a help text, if the value itself is not set yet
  bool in_file = true;            ///< false: experiments use a key of another form for this
  /// the only verb that has this row; empty: all verbs with this table
  std::string_view only = {};
};

/// A row. The struct that `value` points into must outlive it.
struct Setting {
  using Value = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*,
                             std::optional<int>*, std::optional<std::int64_t>*, std::string*,
                             std::vector<std::string>*, std::vector<double>*, OptionEntry>;

  std::string name;  ///< batch_size: key in JSON, flag --batch-size, variable PARDEC_BATCH_SIZE
  std::string unit;  ///< the kind of value in help texts: N, X, FILE; empty: true or false
  Value value;
  std::string help;
  SettingTraits traits = {};
};
using Settings = std::vector<Setting>;

/// Whether the row holds several values (a list).
bool takes_several(const Setting& setting);

/// Sets the settings to the values of a JSON object, except those named in `given`, which keep
/// their values. Keys may have - instead of _. `others`: keys of the object that are read
/// elsewhere. Returns the names of the settings in the object. ConfigError, with `where`, the key,
/// the value found and the expected values: an unknown key (with similar names), or a value of
/// another type or out of range.
std::set<std::string> read_settings(const Settings& settings, const Json& object,
                                    const std::string& where,
                                    const std::vector<std::string>& others = {},
                                    const std::set<std::string>& given = {});

/// An object that read_settings reads back to the same values. Values that are not set are left
/// out.
Json json_of(const Settings& settings);

/// The properties for a JSON schema, by key, in the order of the rows, without rows that are not
/// `in_file`.
OrderedJson schema_properties(const Settings& settings);

/// The valid values, in words: "a whole number, at least 1".
std::string expected_of(const Setting& setting);

/// ConfigError, naming the setting in backquotes: a value is out of range.
void check_settings(const Settings& settings);

}  // namespace pardec
