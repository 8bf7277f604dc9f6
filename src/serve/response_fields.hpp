#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/prompt/job.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// The fields that a `response_format` of type json_schema asks for. The schema must be an object
/// of strings.
struct ResponseFields {
  std::string title;  ///< the schema's, used as category of the text; may be empty
  /// from the properties: name, question (description), choices (enum)
  std::vector<Field> fields;
  std::vector<bool> nullable;  ///< per field: whether null is allowed, for an absent value
};

/// Reads a `response_format`. None: it is null or has type text. ApiError 400: the schema has a
/// requirement that answers to fields cannot guarantee.
std::optional<ResponseFields> response_fields(const OrderedJson& response_format);

/// The answers to the fields as a JSON object that satisfies the schema. An absent value is null if
/// the schema allows it, otherwise "n/a". ApiError 500 (response_format_unmet): an answer is not
/// one of the choices.
std::string response_object(const ResponseFields& format,
                            const std::vector<std::optional<std::string>>& answers);

}  // namespace pardec::serve
