#include "src/settings/setting.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "src/support/error.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The value found, for an error message; long values are truncated.
std::string found(const Json& value) {
  const std::string text =
      value.is_string() ? str("'", value.get<std::string>(), "'") : dump(value);
  return repair_utf8(shortened(text, 80));
}

/// "a, b or c"
std::string choices_of(const Setting& setting) {
  const std::vector<std::string>& choices = setting.traits.choices;
  return alternatives({choices.begin(), choices.end()});
}

std::string kind_of(const Setting& setting) {
  return std::visit(
      [&](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool*>) return "true or false";
        if constexpr (std::is_same_v<Held, std::uint64_t*>)
          return "a whole number from 0 to 18446744073709551615";
        if constexpr (std::is_same_v<Held, int*> || std::is_same_v<Held, std::int64_t*> ||
                      std::is_same_v<Held, std::optional<int>*> ||
                      std::is_same_v<Held, std::optional<std::int64_t>*>)
          return "a whole number";
        if constexpr (std::is_same_v<Held, double*>) return "a number";
        if constexpr (std::is_same_v<Held, std::vector<double>*>)
          return "a number or a list of them";
        if constexpr (std::is_same_v<Held, std::vector<std::string>*>)
          return "a text or a list of texts";
        if constexpr (std::is_same_v<Held, OptionEntry>)
          return std::string(held.option.type_name());
        return setting.traits.number_too ? "a text or a number" : "a text";
      },
      setting.value);
}

/// One JSON value for one setting. `where`: its location, including the key.
class ValueReader {
 public:
  ValueReader(const Setting& setting, const Json& json, std::string where)
      : setting_(setting), json_(json), where_(std::move(where)) {}

  void operator()(bool* into) const {
    if (!json_.is_boolean()) refuse(json_);
    *into = json_.get<bool>();
  }
  void operator()(int* into) const { *into = whole<int>(); }
  void operator()(std::int64_t* into) const { *into = whole<std::int64_t>(); }
  void operator()(std::uint64_t* into) const { *into = whole<std::uint64_t>(); }
  void operator()(std::optional<int>* into) const { *into = whole<int>(); }
  void operator()(std::optional<std::int64_t>* into) const { *into = whole<std::int64_t>(); }
  void operator()(double* into) const { *into = number(json_); }
  void operator()(std::string* into) const {
    *into = setting_.traits.checkpoint ? checkpoint_path(text(json_)) : text(json_);
    if (const auto& choices = setting_.traits.choices;
        !choices.empty() && std::find(choices.begin(), choices.end(), *into) == choices.end())
      refuse(json_);
  }
  void operator()(std::vector<std::string>* into) const {
    std::vector<std::string> all;
    for (const Json& one : several()) {
      const std::string read = text(one);
      if (!json_.is_array() && (setting_.traits.commas || setting_.traits.one_text))
        all = split(read, ',');
      else
        all.push_back(read);
    }
    *into = std::move(all);
  }
  void operator()(std::vector<double>* into) const {
    std::vector<double> all;
    for (const Json& one : several()) all.push_back(number(one));
    *into = std::move(all);
  }
  /// The table of the option checks the value.
  void operator()(const OptionEntry& into) const {
    if (json_.is_structured() || json_.is_null()) refuse(json_);
    (*into.object)[std::string(into.option.name)] = json_;
  }

 private:
  [[noreturn]] void refuse(const Json& value) const {
    throw ConfigError(str(where_, " is ", found(value), ", expected ", expected_of(setting_)));
  }
  std::vector<Json> several() const {
    return json_.is_array() ? std::vector<Json>(json_.begin(), json_.end())
                            : std::vector<Json>{json_};
  }
  template <typename Number>
  Number whole() const {
    if (!json_.is_number_integer()) refuse(json_);
    const bool fits = json_.is_number_unsigned() ? std::in_range<Number>(json_.get<std::uint64_t>())
                                                 : std::in_range<Number>(json_.get<std::int64_t>());
    if (!fits || !setting_.traits.range.has(json_.get<double>())) refuse(json_);
    return json_.get<Number>();
  }
  double number(const Json& json) const {
    if (!json.is_number() || !setting_.traits.range.has(json.get<double>())) refuse(json);
    return json.get<double>();
  }
  std::string text(const Json& json) const {
    if (json.is_number() && setting_.traits.number_too) return dump(json);
    if (!json.is_string()) refuse(json);
    return json.get<std::string>();
  }

  const Setting& setting_;
  const Json& json_;
  const std::string where_;
};

/// The value; null: it is not set.
Json value_of(const Setting& setting) {
  return std::visit(
      [](const auto& held) -> Json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, OptionEntry>)
          return held.object->value(std::string(held.option.name), Json());
        else if constexpr (std::is_same_v<Held, std::optional<int>*> ||
                           std::is_same_v<Held, std::optional<std::int64_t>*>)
          return *held ? Json(**held) : Json();
        else
          return Json(*held);
      },
      setting.value);
}

/// The JSON schema type of a value, or of each of several.
OrderedJson json_type(const Setting& setting) {
  return std::visit(
      [&](const auto& held) -> OrderedJson {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool*>) return "boolean";
        if constexpr (std::is_same_v<Held, double*> || std::is_same_v<Held, std::vector<double>*>)
          return "number";
        if constexpr (std::is_same_v<Held, OptionEntry>) {
          if (held.option.type == Option::Type::flag) return "boolean";
          if (held.option.type == Option::Type::whole) return "integer";
          if (held.option.type == Option::Type::number) return "number";
          return "string";
        }
        if constexpr (std::is_same_v<Held, std::string*> ||
                      std::is_same_v<Held, std::vector<std::string>*>) {
          if (setting.traits.number_too) return OrderedJson::array({"string", "number"});
          return "string";
        }
        return "integer";
      },
      setting.value);
}

/// The schema of a single value.
OrderedJson schema_of_one(const Setting& setting) {
  OrderedJson schema = OrderedJson::object();
  const SettingTraits& traits = setting.traits;
  schema["type"] = json_type(setting);
  if (!traits.choices.empty()) schema["enum"] = traits.choices;
  const auto end = [&](const char* key, double value) {
    if (schema["type"] == "integer")
      schema[key] = static_cast<std::int64_t>(value);
    else
      schema[key] = value;
  };
  const NumberRange& range = traits.range;
  if (range.least > -std::numeric_limits<double>::infinity())
    end(range.above_least ? "exclusiveMinimum" : "minimum", range.least);
  if (range.most < std::numeric_limits<double>::infinity())
    end(range.below_most ? "exclusiveMaximum" : "maximum", range.most);
  return schema;
}

}  // namespace

NumberRange at_least(std::int64_t least) {
  return {.least = static_cast<double>(least), .expected = str("at least ", least)};
}
NumberRange above_zero() { return {.least = 0, .above_least = true, .expected = "more than 0"}; }
NumberRange share() { return {.least = 0, .most = 1, .expected = "a share from 0 to 1"}; }
NumberRange share_below_1() {
  return {.least = 0, .most = 1, .below_most = true, .expected = "a share from 0 to below 1"};
}

bool takes_several(const Setting& setting) {
  return std::holds_alternative<std::vector<std::string>*>(setting.value) ||
         std::holds_alternative<std::vector<double>*>(setting.value);
}

std::string expected_of(const Setting& setting) {
  if (!setting.traits.choices.empty()) return choices_of(setting);
  const std::string& range = setting.traits.range.expected;
  return str(kind_of(setting), range.empty() ? "" : ", ", range);
}

std::set<std::string> read_settings(const Settings& settings, const Json& object,
                                    const std::string& where,
                                    const std::vector<std::string>& others,
                                    const std::set<std::string>& given) {
  if (!object.is_object())
    throw ConfigError(str(where, ": is ", object.type_name(), ", expected an object"));
  std::set<std::string> read;
  for (const auto& [key, value] : object.items()) {
    if (std::find(others.begin(), others.end(), key) != others.end()) continue;
    const std::string name = replace_all(key, "-", "_");
    const auto setting = std::find_if(settings.begin(), settings.end(), [&](const Setting& one) {
      return one.name == name && one.traits.in_file;
    });
    if (setting == settings.end()) {
      auto known = others;
      for (const Setting& one : settings)
        if (one.traits.in_file) known.push_back(one.name);
      throw ConfigError(str(where, ": unknown key '", key, "'", known_names(key, known)));
    }
    if (given.contains(name)) continue;
    std::visit(ValueReader(*setting, value, str(where, ": '", key, "'")), setting->value);
    read.insert(name);
  }
  return read;
}

Json json_of(const Settings& settings) {
  Json object = Json::object();
  for (const Setting& setting : settings)
    if (Json value = value_of(setting); !value.is_null() && setting.traits.in_file)
      object[setting.name] = std::move(value);
  return object;
}

OrderedJson schema_properties(const Settings& settings) {
  OrderedJson properties = OrderedJson::object();
  for (const Setting& setting : settings) {
    if (!setting.traits.in_file) continue;
    OrderedJson& property = properties[setting.name];
    property["description"] = setting.help;
    const OrderedJson one = schema_of_one(setting);
    if (takes_several(setting))
      property["anyOf"] = {one, {{"type", "array"}, {"items", one}}};
    else
      property.update(one);
    const Json value = value_of(setting);
    if (!value.is_null() && value != Json("") && value != Json::array())
      property["default"] = OrderedJson::parse(dump(value));
  }
  return properties;
}

void check_settings(const Settings& settings) {
  for (const Setting& setting : settings) {
    const auto fault = [&](const auto& value, const std::string& expected) {
      throw ConfigError(str("`", setting.name, "` is ", value, ", expected ", expected));
    };
    const NumberRange& range = setting.traits.range;
    const auto check = [&](const auto& value) {
      if (!range.has(static_cast<double>(value)))
        fault(value, range.expected.empty() ? "a finite number" : range.expected);
    };
    std::visit(
        [&](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (std::is_same_v<Held, std::optional<int>*> ||
                        std::is_same_v<Held, std::optional<std::int64_t>*>) {
            if (*held) check(**held);
          } else if constexpr (std::is_same_v<Held, std::vector<double>*>) {
            for (const double one : *held) check(one);
          } else if constexpr (std::is_same_v<Held, std::string*>) {
            const auto& choices = setting.traits.choices;
            if (!choices.empty() &&
                std::find(choices.begin(), choices.end(), *held) == choices.end())
              fault(str("'", *held, "'"), choices_of(setting));
          } else if constexpr (std::is_pointer_v<Held>) {
            if constexpr (std::is_arithmetic_v<std::remove_pointer_t<Held>>) check(*held);
          }
        },
        setting.value);
  }
}

}  // namespace pardec
