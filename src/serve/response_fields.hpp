#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/prompt/job.hpp"
#include "src/support/json.hpp"

namespace pardec::serve {

/// The fields of a `response_format` of type json_schema: an object of strings.
struct ResponseFields {
  std::string title;           ///< the schema's, the category of the text; may be empty
  std::vector<Field> fields;   ///< name: the property; question: its description; choices: its enum
  std::vector<bool> nullable;  ///< per field: null stands for an absent value
};

/// ApiError 400: the schema asks for something that fields cannot promise. None: the format is null
/// or of type text.
std::optional<ResponseFields> response_fields(const OrderedJson& response_format);

/// The answers to the fields as an object that satisfies the schema. Absent values are null if the
/// schema allows it, otherwise "n/a". ApiError 500 (response_format_unmet): an answer is not
/// one of the choices.
std::string response_object(const ResponseFields& format,
                            const std::vector<std::optional<std::string>>& answers);

}  // namespace pardec::serve
