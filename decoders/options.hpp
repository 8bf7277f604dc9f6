#pragma once
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

// What options may ask for at most, so that no pass outgrows memory.
inline constexpr int kMostStacked = 1024;  ///< contexts in one prompt
inline constexpr int kMostGuesses = 1024;  ///< tokens guessed ahead, one behind another
inline constexpr int kMostRows = 4096;     ///< that one stream feeds in a pass
inline constexpr int kMostGap = 65536;     ///< positions between two branches

/// What an option may be, ends included.
struct OptionRange {
  int least = 0, most = std::numeric_limits<int>::max();
};

/// What a text that an option may be stands for: a row of a table of its choices.
template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

/// An option: a row of its decoder's table, from which checks, help and storage come.
struct Option {
  enum class Type { whole, number, flag, text, token };

  std::string_view name;
  Type type;
  Json fallback;                               ///< its value where none is given
  std::string_view meaning;                    ///< in few words
  OptionRange range = {};                      ///< of numbers
  std::vector<std::string_view> choices = {};  ///< all that a text may be; empty: any

  static Option whole(std::string_view name, int fallback, OptionRange range,
                      std::string_view meaning);
  static Option number(std::string_view name, double fallback, OptionRange range,
                       std::string_view meaning);
  static Option flag(std::string_view name, bool fallback, std::string_view meaning);
  /// Any text, or a number as it is written.
  static Option text(std::string_view name, std::string_view fallback, std::string_view meaning);
  /// The first choice is the default.
  static Option one_of(std::string_view name, std::vector<std::string_view> choices,
                       std::string_view meaning);
  template <typename Value, std::size_t n>
  static Option one_of(std::string_view name, const std::array<Named<Value>, n>& choices,
                       std::string_view meaning) {
    std::vector<std::string_view> names;
    for (const Named<Value>& one : choices) names.push_back(one.name);
    return one_of(name, std::move(names), meaning);
  }
  /// A token's id or its text; empty where none is given.
  static Option token(std::string_view name, std::string_view meaning);

  /// "whole number", "true or false", ...
  std::string_view type_name() const;
  /// "1 to 1024", "none, values or products", ...; empty: any text.
  std::string expected() const;
};

std::vector<std::string> names_of(const std::vector<Option>& table);

/// "none, values or products".
std::string alternatives(const std::vector<std::string_view>& names);

/// Options as they were given, checked against their table and completed by its defaults.
class Options {
 public:
  /// Of a decoder: messages name an option `hpd.k_max`. `given`: an object of option -> value.
  /// ConfigError: an unknown option (names the near ones), a value of another type or out of range.
  static Options of_decoder(std::string_view decoder, const std::vector<Option>& table,
                            const Json& given);
  /// Of training: messages name an option as the setting that it is, `k_max` in backquotes.
  static Options of_training(const std::vector<Option>& table, const Json& given);

  /// Whose they are.
  std::string_view owner() const { return owner_; }
  bool has(std::string_view name) const { return all_.contains(std::string(name)); }
  /// Whether a value was given, rather than the default taken.
  bool given(std::string_view name) const;
  // REQUIRES: the table has an option of this name and type (std::logic_error).
  int whole(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;  ///< of a token too
  /// What its choice stands for. REQUIRES: the option was made of `choices`.
  template <typename Value, std::size_t n>
  Value choice(std::string_view name, const std::array<Named<Value>, n>& choices) const {
    for (const std::string said = text(name); const Named<Value>& one : choices)
      if (one.name == said) return one.value;
    throw std::logic_error("an option's text is none of its choices");
  }

  /// All of them in the order of the table, as they are stored.
  const OrderedJson& all() const { return all_; }
  /// For an option whose default or form depends on others.
  void set(std::string_view name, OrderedJson value) { all_[std::string(name)] = std::move(value); }
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
