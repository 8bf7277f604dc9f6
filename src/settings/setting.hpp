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

/// Settings of runs and trainings as rows of tables. A row has a name, a kind, a help text and what
/// its value may be, and points to the member of a struct that holds the value. JSON, JSON schema,
/// command-line flags, environment variables, completion and the manual page come from the rows.
namespace pardec {

/// What a number may be. `expected` says so in an error.
struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false, below_most = false;  ///< that end is not included
  std::string expected = {};

  bool has(double value) const {
    return std::isfinite(value) && (above_least ? value > least : value >= least) &&
           (below_most ? value < most : value <= most);
  }
};
NumberRange at_least(std::int64_t least);
NumberRange above_zero();
NumberRange share();          ///< 0 to 1
NumberRange share_below_1();  ///< 0 to 1, without 1

/// An entry of an object of options: one of the table of a decoder or a training format.
struct OptionEntry {
  Json* object;
  Option option;
};

/// How a row differs from a plain one.
struct SettingTraits {
  NumberRange range = {};                 ///< of a number, or of each of several
  std::vector<std::string> choices = {};  ///< all that a text may be; empty: any
  bool commas = false;                    ///< of several: one text holds several, with commas
  bool one_text = false;                  ///< of several: the flag takes one text with commas
  bool number_too = false;                ///< of a text: JSON may have it as a number
  bool shows_default = true;              ///< in a help text
  std::string default_text = {};          ///< in a help text, where the value itself is none yet
  bool in_file = true;         ///< false: an experiment says this by a key of another form
  std::string_view only = {};  ///< the one verb that has this row; empty: all that have the table
};

/// A row. The struct that `value` points into outlives it.
struct Setting {
  using Value = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*,
                             std::optional<int>*, std::optional<std::int64_t>*, std::string*,
                             std::vector<std::string>*, std::vector<double>*, OptionEntry>;

  std::string name;  ///< batch_size: key in JSON, flag --batch-size, variable PARDEC_BATCH_SIZE
  std::string
      unit;  ///< the kind of value, as a help text shows it: N, X, FILE; empty: true or false
  Value value;
  std::string help;
  SettingTraits traits = {};
};
using Settings = std::vector<Setting>;

/// Whether one value or several are held.
bool takes_several(const Setting& setting);

/// Gives the settings the values of a JSON object, but those named in `given`, which have theirs; a
/// key may have - for _. `others`: keys of the object that are read elsewhere. Returns the names of
/// the settings that the object has. ConfigError with `where`, the key, what was found and what was
/// expected: an unknown key (names near ones), a value of another type or out of range.
std::set<std::string> read_settings(const Settings& settings, const Json& object,
                                    const std::string& where,
                                    const std::vector<std::string>& others = {},
                                    const std::set<std::string>& given = {});

/// The object that read_settings reads back to the same values. A value that is none is left out.
Json json_of(const Settings& settings);

/// The properties of a JSON schema, by key, in the order of the rows; those not `in_file` are left
/// out.
OrderedJson schema_properties(const Settings& settings);

/// What a value may be, in words: "a whole number, at least 1".
std::string expected_of(const Setting& setting);

/// ConfigError, which names the setting in backquotes, for a value out of range.
void check_settings(const Settings& settings);

}  // namespace pardec
