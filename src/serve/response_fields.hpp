#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/prompt/job.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// The fields that a `response_format` of type json_schema asks for. The schema must describe an
/// object whose properties are strings.
struct ResponseFields {
  std::string title;  ///< the schema's title, used as category of the text; may be empty
  /// One field per property, with the property's name, its description as the question, and its
  /// enum as the choices.
  std::vector<Field> fields;
  std::vector<bool> nullable;  ///< per field: whether null is allowed, for an absent value
};

/// Reads a `response_format`. None: `response_format` is null or has type text. ApiError 400: it
/// has another form, or the schema has a requirement that answers to fields cannot guarantee.
std::optional<ResponseFields> response_fields(const OrderedJson& response_format);

/// The answers to the fields, in the order of the fields, as a JSON object that satisfies the
/// schema. An answer that is none becomes null if the schema allows null, otherwise "n/a". If a
/// field has choices, an answer with the letter of a choice becomes the choice. ApiError 500 with
/// code response_format_unmet: an answer (or "n/a" for it) is not one of the field's choices.
std::string response_object(const ResponseFields& format,
                            const std::vector<std::optional<std::string>>& answers);

}  // namespace pardec::serve
