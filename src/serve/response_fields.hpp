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
  /// A field for each property, in the order of the properties. The field has the property's name.
  /// The field's question is the property's description, and the field's choices are the property's
  /// enum.
  std::vector<Field> fields;
  /// nullable[f]: whether the schema allows null for field f, so that an absent value becomes null
  std::vector<bool> nullable;
};

/// Reads a `response_format`. Returns none if `response_format` is null or has type text. ApiError
/// 400: `response_format` is not of the form that ResponseFields describes, or its schema has a
/// keyword, for example `pattern`, whose condition pardec cannot guarantee for the values of
/// fields.
std::optional<ResponseFields> response_fields(const OrderedJson& response_format);

/// A JSON object, as text, that satisfies the schema. `answers[f]`: the answer for field f of
/// format.fields; none: the value is absent or unreadable. Such a value becomes null if the schema
/// allows null, otherwise "n/a". If a field has choices, and the answer is not a choice but
/// names a choice (reference_letter), e.g. "B" for the second choice, the value is this choice.
/// ApiError 500 with code response_format_unmet: a field has choices, and its answer, or the "n/a"
/// in place of an absent value, names no choice. REQUIRES: `answers` has an entry for each field.
std::string response_object(const ResponseFields& format,
                            const std::vector<std::optional<std::string>>& answers);

}  // namespace pardec::serve
