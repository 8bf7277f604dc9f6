#include "decoders/options.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

Option Option::whole(std::string_view name, int fallback, OptionRange range,
                     std::string_view meaning) {
  return {name, Type::whole, fallback, meaning, range};
}
Option Option::number(std::string_view name, double fallback, OptionRange range,
                      std::string_view meaning) {
  return {name, Type::number, fallback, meaning, range};
}
Option Option::flag(std::string_view name, bool fallback, std::string_view meaning) {
  return {name, Type::flag, fallback, meaning};
}
Option Option::text(std::string_view name, std::string_view fallback, std::string_view meaning) {
  return {name, Type::text, fallback, meaning};
}
Option Option::one_of(std::string_view name, std::vector<std::string_view> choices,
                      std::string_view meaning) {
  return {name, Type::text, choices.front(), meaning, {}, choices};
}
Option Option::token(std::string_view name, std::string_view meaning) {
  return {name, Type::token, "", meaning};
}

std::string_view Option::type_name() const {
  switch (type) {
    case Type::whole:
      return "whole number";
    case Type::number:
      return "number";
    case Type::flag:
      return "true or false";
    case Type::text:
      return "text";
    case Type::token:
      return "token";
  }
  return "";
}

std::string Option::expected() const {
  switch (type) {
    case Type::whole:
    case Type::number:
      return range.most == OptionRange().most ? str("at least ", range.least)
                                              : str(range.least, " to ", range.most);
    case Type::flag:
      return "true or false";
    case Type::token:
      return "a token's id or its text";
    case Type::text:
      break;
  }
  return alternatives(choices);
}

std::string alternatives(const std::vector<std::string_view>& names) {
  std::string all;
  for (size_t i = 0; i < names.size(); ++i)
    all += str(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  return all;
}

std::vector<std::string> names_of(const std::vector<Option>& table) {
  std::vector<std::string> names;
  for (const Option& option : table) names.emplace_back(option.name);
  return names;
}

namespace {

/// The value as stored, or null if none is given. ConfigError.
OrderedJson read_value(JsonReader& read, const Option& option, const std::string& shown) {
  const std::string name(option.name);
  const auto wrong = [&](const auto& value) {
    return ConfigError(str(shown, " is ", value, ", expected ", option.expected()));
  };
  const auto ranged = [&](const auto& value) -> OrderedJson {
    if (!value) return nullptr;
    if (!(*value >= option.range.least && *value <= option.range.most)) throw wrong(*value);
    return *value;
  };
  switch (option.type) {
    case Option::Type::whole:
      return ranged(read.maybe<int>(name));
    case Option::Type::number:
      return ranged(read.maybe<double>(name));
    case Option::Type::flag:
      if (const auto value = read.maybe<bool>(name)) return *value;
      return nullptr;
    case Option::Type::text: {
      const Json& raw = read.any(name);
      if (raw.is_null()) return nullptr;
      const std::string value = raw.is_number() ? dump(raw) : read.required<std::string>(name);
      if (!option.choices.empty() &&
          std::find(option.choices.begin(), option.choices.end(), value) == option.choices.end())
        throw wrong("'" + value + "'");
      return value;
    }
    case Option::Type::token: {
      const Json& raw = read.any(name);
      if (raw.is_null()) return nullptr;
      if (raw.is_number_integer()) return dump(raw);
      if (!raw.is_string() || raw.get<std::string>().empty())
        throw ConfigError(
            str(read.where(name), " is ", dump(raw), ", expected ", option.expected()));
      return raw.get<std::string>();
    }
  }
  return nullptr;
}

}  // namespace

Options::Options(std::string_view owner, const std::vector<Option>& table, const Json& given,
                 const std::string& where, std::string (*shown)(std::string_view, std::string_view))
    : owner_(owner), table_(table) {
  JsonReader read(given, where);
  const std::vector<std::string> known = names_of(table);
  for (const auto& [key, value] : given.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw ConfigError(str(where, ": unknown option '", key, "'", known_names(key, known)));
  for (const Option& option : table) {
    const std::string name(option.name);
    OrderedJson value = read_value(read, option, shown(owner, name));
    if (value.is_null())
      value = OrderedJson(option.fallback);
    else
      given_.push_back(name);
    all_[name] = std::move(value);
  }
}

Options Options::of_decoder(std::string_view decoder, const std::vector<Option>& table,
                            const Json& given) {
  return {decoder, table, given, str("decoder ", decoder),
          [](std::string_view owner, std::string_view name) { return str(owner, ".", name); }};
}

Options Options::of_training(const std::vector<Option>& table, const Json& given) {
  return {"", table, given, "options", [](std::string_view, std::string_view name) {
            return str("`", replace_all(std::string(name), "-", "_"), "`");
          }};
}

bool Options::given(std::string_view name) const {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

const OrderedJson& Options::at(std::string_view name) const {
  const auto found = all_.find(std::string(name));
  if (found == all_.end()) throw std::logic_error(str("there is no option ", name));
  return *found;
}

int Options::whole(std::string_view name) const { return at(name).get<int>(); }
double Options::number(std::string_view name) const { return at(name).get<double>(); }
bool Options::flag(std::string_view name) const { return at(name).get<bool>(); }
std::string Options::text(std::string_view name) const { return at(name).get<std::string>(); }

}  // namespace pardec
