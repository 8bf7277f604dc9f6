#include "src/serve/response_fields.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "src/prompt/json_answer.hpp"
#include "src/serve/api_error.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

namespace {

constexpr std::size_t kMostFields = 256;

[[noreturn]] void refuse(const std::string& what) {
  throw ApiError(400, "'response_format' " + what, "response_format");
}

std::string shown_key(const std::string& key) {
  return "'" + visible_text(key.substr(0, 80)) + "'";
}

void check_keys(const OrderedJson& object, const std::string& where,
                std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      refuse(str(where, " has ", shown_key(key),
                 ", which fields cannot promise; expected an object of strings with title, "
                 "description and enum alone"));
}

std::string text_or_empty(const OrderedJson& object, const char* key) {
  const OrderedJson value = value_or_null(object, key);
  if (!value.is_null() && !value.is_string()) refuse(str("has a '", key, "' that is no text"));
  return value.is_null() ? "" : value.get<std::string>();
}

/// Whether the types allow null. Refuses types other than string, and string with null.
bool allows_null(const OrderedJson& types, const std::string& where) {
  const OrderedJson list = types.is_array() ? types : OrderedJson::array({types});
  bool text = false, null = false;
  for (const OrderedJson& type : list) {
    if (type != "string" && type != "null")
      refuse(str(where, " is of another type, expected string, or string and null"));
    text = text || type == "string";
    null = null || type == "null";
  }
  if (!text) refuse(str(where, " has no type, expected string"));
  return null;
}

OrderedJson types_of(const OrderedJson& property, const std::string& where) {
  const OrderedJson any = value_or_null(property, "anyOf");
  if (any.is_null()) return value_or_null(property, "type");
  OrderedJson types = OrderedJson::array();
  if (!any.is_array() || property.contains("type")) refuse(str(where, " is of another type"));
  for (const OrderedJson& one : any) {  // pydantic's form of an optional text
    if (!one.is_object()) refuse(str(where, " is of another type"));
    check_keys(one, where, {"type"});
    types.push_back(value_or_null(one, "type"));
  }
  return types;
}

void add_field(ResponseFields& format, const std::string& name, const OrderedJson& property) {
  const std::string where = "property " + shown_key(name);
  if (name.empty()) refuse("has a property without a name");
  if (!property.is_object()) refuse(str(where, " is no object"));
  check_keys(property, where,
             {"type", "anyOf", "title", "description", "enum", "default", "examples"});
  format.nullable.push_back(allows_null(types_of(property, where), where));
  Field field{name, text_or_empty(property, "description"), {}};
  if (const OrderedJson choices = value_or_null(property, "enum"); !choices.is_null()) {
    if (!choices.is_array() || choices.empty() || choices.size() > kMostChoices)
      refuse(str(where, " has an enum of another size, expected 1 to ", kMostChoices, " texts"));
    for (const OrderedJson& choice : choices) {
      if (!choice.is_string()) refuse(str(where, " has an enum with a value that is no text"));
      field.choices.push_back(choice.get<std::string>());
    }
  }
  format.fields.push_back(std::move(field));
}

/// The value of one answer under the schema.
OrderedJson value_of(const Field& field, bool nullable, const std::optional<std::string>& answer) {
  if (!answer && nullable) return nullptr;
  const std::string text = answer.value_or(std::string(kAbsent));
  if (field.choices.empty()) return text;
  if (const auto same = std::find(field.choices.begin(), field.choices.end(), text);
      same != field.choices.end())
    return *same;
  if (const auto letter = reference_letter(text, field.choices))
    return field.choices.at(static_cast<std::size_t>(*letter - 'A'));
  throw ApiError(500,
                 str("the answer to ", shown_key(field.name), " is '",
                     visible_text(text.substr(0, 80)), "', which is none of its choices"),
                 "response_format", "response_format_unmet");
}

}  // namespace

std::optional<ResponseFields> response_fields(const OrderedJson& response_format) {
  if (response_format.is_null()) return std::nullopt;
  if (!response_format.is_object()) refuse("is no object, expected {type, json_schema}");
  const OrderedJson type = value_or_null(response_format, "type");
  if (type == "text") return std::nullopt;
  if (type != "json_schema")
    refuse("has another type, expected text, or json_schema, whose properties become fields");
  const OrderedJson outer = value_or_null(response_format, "json_schema");
  const OrderedJson schema = outer.is_object() ? value_or_null(outer, "schema") : OrderedJson();
  if (!schema.is_object()) refuse("has no 'json_schema' with a 'schema'");
  check_keys(schema, "the schema",
             {"type", "properties", "required", "additionalProperties", "title", "description",
              "$schema"});
  if (value_or_null(schema, "type") != "object") refuse("is of another type, expected object");
  const OrderedJson properties = value_or_null(schema, "properties");
  if (!properties.is_object() || properties.empty() || properties.size() > kMostFields)
    refuse(str("has another number of properties, expected 1 to ", kMostFields));
  ResponseFields format;
  format.title = text_or_empty(schema, "title");
  for (const auto& [name, property] : properties.items()) add_field(format, name, property);
  const OrderedJson required = value_or_null(schema, "required");
  if (!required.is_null() && !required.is_array()) refuse("has a 'required' that is no list");
  for (const OrderedJson& name : required)
    if (!name.is_string() || !properties.contains(name.get<std::string>()))
      refuse("requires a property that it does not describe");
  return format;
}

std::string response_object(const ResponseFields& format,
                            const std::vector<std::optional<std::string>>& answers) {
  OrderedJson object = OrderedJson::object();
  for (std::size_t i = 0; i < format.fields.size(); ++i)
    object[format.fields[i].name] = value_of(format.fields[i], format.nullable[i], answers.at(i));
  return dump(object);
}

}  // namespace pardec::serve
