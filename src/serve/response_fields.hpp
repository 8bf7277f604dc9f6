#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/prompt/job.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// The fields that a `response_format` of type json_schema asks for. The schema must describe an
/// object with 1 to 256 properties. Each property has the type string, or the types string and
/// null.
struct ResponseFields {
  std::string title;  ///< the schema's title, used as category of the text; may be empty
  /// A field for each property, with the property's name. The property's description is the field's
  /// question, and its enum is the field's choices.
  std::vector<Field> fields;
  std::vector<bool> nullable;  ///< [field]: whether an absent value becomes null
};

/// Reads a `response_format`. Returns none if `response_format` is null or has type text. ApiError
/// 400: `response_format` has another form, or its schema has a keyword, for example `pattern`,
/// whose condition pardec cannot guarantee for the values of fields.
std::optional<ResponseFields> response_fields(const OrderedJson& response_format);

/// A JSON object that satisfies the schema. `answers`: an answer for each field, in the order of
/// ResponseFields::fields; none: the value is absent or unreadable. Such a value becomes null if
/// the schema allows null, otherwise "n/a". If a field has choices, an answer that is not a
/// choice but the letter of a choice becomes this choice. ApiError 500 with code
/// response_format_unmet: the field's choices do not contain the answer (or the "n/a" that replaces
/// it).
std::string response_object(const ResponseFields& format,
                            const std::vector<std::optional<std::string>>& answers);

}  // namespace pardec::serve
