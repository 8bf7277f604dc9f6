#pragma once
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

// Upper limits of option values, so that no pass needs too much memory.
inline constexpr int kMostStacked = 1024;  ///< contexts in one prompt
inline constexpr int kMostGuesses = 1024;  ///< consecutive guessed tokens
inline constexpr int kMostRows = 4096;     ///< rows of one stream in a pass
/// positions between the starts of two branches (aspd), or reserved for a value (hpd)
inline constexpr int kMostGap = 65536;

/// The valid range of an option, including both ends.
struct OptionRange {
  int least = 0, most = std::numeric_limits<int>::max();
};

/// A row of a table of choices: a valid text of an option, and its meaning as a value.
template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

/// An option of a decoder or of training: its name, type, default and valid values. The checks of
/// given values, the help text and the stored values are derived from an Option. Texts are views,
/// usually of string literals. They must outlive the Option and each Options object made from it.
struct Option {
  enum class Type { whole, number, flag, text, token };

  std::string_view name;
  Type type;
  Json fallback;                               ///< default value
  std::string_view meaning;                    ///< a short description
  OptionRange range = {};                      ///< for whole numbers and numbers
  std::vector<std::string_view> choices = {};  ///< the valid texts; empty: any text

  static Option whole(std::string_view name, int fallback, OptionRange range,
                      std::string_view meaning);
  static Option number(std::string_view name, double fallback, OptionRange range,
                       std::string_view meaning);
  static Option flag(std::string_view name, bool fallback, std::string_view meaning);
  /// An option with any text as value. If the given value is a number, it is converted to text.
  static Option text(std::string_view name, std::string_view fallback, std::string_view meaning);
  /// An option whose value is one of `choices`. The first one is the default. REQUIRES: `choices`
  /// is not empty.
  static Option one_of(std::string_view name, std::vector<std::string_view> choices,
                       std::string_view meaning);
  template <typename Value, std::size_t n>
  static Option one_of(std::string_view name, const std::array<Named<Value>, n>& choices,
                       std::string_view meaning) {
    std::vector<std::string_view> names;
    for (const Named<Value>& one : choices) names.push_back(one.name);
    return one_of(name, std::move(names), meaning);
  }
  /// An option for a token, given by its id or text. The default is empty.
  static Option token(std::string_view name, std::string_view meaning);

  /// The type as text: "whole number", "true or false", ...
  std::string_view type_name() const;
  /// The valid values as text: "1 to 1024", "none, values or products", ... Empty if any text is
  /// valid.
  std::string expected() const;
};

/// The names of the options, in the order of the table.
std::vector<std::string> names_of(const std::vector<Option>& table);

/// Joins names to a text: "none, values or products".
std::string alternatives(const std::vector<std::string_view>& names);

/// The values of all options of a table: the values that the user set, and the defaults of the
/// other options.
class Options {
 public:
  /// Options of a decoder. `decoder`: the decoder's name, which must outlive the result. `given`: a
  /// JSON object that maps the names of the options that the user set to values. Messages name an
  /// option with the decoder's prefix, e.g. hpd.k_max. ConfigError: an option is unknown (the
  /// message suggests similar names), or a value has the wrong type or is not valid.
  static Options of_decoder(std::string_view decoder, const std::vector<Option>& table,
                            const Json& given);
  /// Options of training. `given`: see of_decoder. Messages name an option as a setting in
  /// backquotes, e.g. `k_max` for the option k-max. ConfigError: see of_decoder.
  static Options of_training(const std::vector<Option>& table, const Json& given);

  /// The name of the decoder; empty for training.
  std::string_view owner() const { return owner_; }
  bool has(std::string_view name) const { return all_.contains(std::string(name)); }
  /// Whether the user set the option.
  bool given(std::string_view name) const;
  // The value of an option. REQUIRES: the option has the function's type. std::logic_error: there
  // is no option of this name.
  int whole(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;  ///< for texts and tokens
  /// The value of an option that was created by one_of with these `choices`. std::logic_error: the
  /// option's text is none of them.
  template <typename Value, std::size_t n>
  Value choice(std::string_view name, const std::array<Named<Value>, n>& choices) const {
    for (const std::string said = text(name); const Named<Value>& one : choices)
      if (one.name == said) return one.value;
    throw std::logic_error("an option's text is none of its choices");
  }

  /// The values of all options, in the order of the table, as they are stored.
  const OrderedJson& all() const { return all_; }
  /// Overwrites the value of an option, e.g. if its default depends on other options.
  void set(std::string_view name, OrderedJson value) { all_[std::string(name)] = std::move(value); }
  /// Removes an option that has no meaning with the other values, so that it is not stored.
  void leave_out(std::string_view name) { all_.erase(std::string(name)); }

 private:
  Options(std::string_view owner, const std::vector<Option>& table, const Json& given,
          const std::string& where, std::string (*shown)(std::string_view owner, std::string_view));
  const OrderedJson& at(std::string_view name) const;

  std::string_view owner_;
  std::vector<Option> table_;
  std::vector<std::string> given_;
  OrderedJson all_ = OrderedJson::object();
};

}  // namespace pardec
