#pragma once
#include <string>
#include <string_view>

#include "src/support/json.hpp"

/// Finds the verdict in a judge's reply, and checks its form.
namespace pardec {

/// The marks that a judge writes around the verdict if the service does not enforce a schema.
inline constexpr std::string_view kVerdictOpens = "<pardec:verdict>";
inline constexpr std::string_view kVerdictCloses = "</pardec:verdict>";

/// The result of find_verdict.
struct FoundVerdict {
  Json value;           ///< the verdict; null if none was found
  std::string problem;  ///< why there is no valid verdict; empty: `value` satisfies the schema
};

/// Finds the verdict: the whole reply if it is one JSON object (possibly in a code fence),
/// otherwise the object that ends at the last closing mark. The object begins at the first opening
/// mark from which the text up to this closing mark is valid JSON. Other text around the marks is
/// ignored, except for further verdicts that satisfy the schema. It is a problem if there is no
/// such object, if the object violates the schema, or if a further verdict contradicts the object.
/// Missing properties get no default.
///   schema   REQUIRES: check_schema accepts it
///   verdict  the name of the property that decides; two verdicts contradict each other if their
///            values of this property differ. Empty: if any property differs.
FoundVerdict find_verdict(std::string_view reply, const Json& schema, const std::string& verdict);

/// Checks that violation() can check values by this schema. ConfigError, which names the place
/// `where`: the schema has a keyword that violation() does not check, or a keyword with a value of
/// the wrong type; `type` is missing or unknown; an array has no `items`; or an object has no
/// `properties`, does not require all of its properties, allows other properties, or requires a
/// property that it does not define.
void check_schema(const Json& schema, const std::string& where);

/// Describes how a value violates the schema; empty: the value satisfies the schema. `where`: the
/// path of the value in the verdict, for the description. REQUIRES: check_schema accepts the
/// schema.
std::string violation(const Json& value, const Json& schema, const std::string& where = "");

/// The schema in the form that is sent to services: without the ranges of numbers, which only
/// violation() checks.
OrderedJson schema_to_send(OrderedJson schema);

}  // namespace pardec
