#pragma once
#include <string>
#include <string_view>

#include "src/support/json.hpp"

/// Finds the verdict in a judge's reply, and checks its form.
namespace pardec {

/// The marks around the verdict in a reply, if the service does not enforce a schema.
inline constexpr std::string_view kVerdictOpens = "<pardec:verdict>";
inline constexpr std::string_view kVerdictCloses = "</pardec:verdict>";

struct FoundVerdict {
  Json value;
  std::string problem;  ///< empty: `value` satisfies the schema
};

/// The whole reply if it is one JSON object (possibly in a code fence), otherwise the object that
/// ends at the last closing mark. Text around it is ignored, and marks quoted within it belong to
/// it. A value that violates the schema is a problem, and so is another verdict in the surrounding
/// text that differs in the property `verdict` (empty: in any property). No defaults are used.
FoundVerdict find_verdict(std::string_view reply, const Json& schema, const std::string& verdict);

/// ConfigError: the schema has a keyword that `violation` does not check, or is not an object whose
/// properties are all required.
void check_schema(const Json& schema, const std::string& where);

/// How a value violates the schema; empty: it does not.
std::string violation(const Json& value, const Json& schema, const std::string& where = "");

/// The schema in the form for services: without ranges of numbers, which are only checked here.
OrderedJson schema_to_send(OrderedJson schema);

}  // namespace pardec
