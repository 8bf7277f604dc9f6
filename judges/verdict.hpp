#pragma once
#include <string>
#include <string_view>

#include "src/support/json.hpp"

/// Finds the verdict in a judge's reply, and checks its form.
namespace pardec {

/// The marks that a judge writes around the verdict if the service does not enforce a schema.
inline constexpr std::string_view kVerdictOpens = "<pardec:verdict>";
inline constexpr std::string_view kVerdictCloses = "</pardec:verdict>";

struct FoundVerdict {
  Json value;
  std::string problem;  ///< empty: `value` satisfies the schema
};

/// Finds the verdict: the whole reply if it is one JSON object (possibly in a code fence),
/// otherwise the object before the last closing mark. Text around the object is ignored; marks
/// within the object are part of it. It is a problem if the object violates the schema, or if the
/// text around it contains another verdict with a different property `verdict` (if this is empty,
/// with any different property). Missing properties get no default.
FoundVerdict find_verdict(std::string_view reply, const Json& schema, const std::string& verdict);

/// ConfigError: the schema has a keyword that violation() does not check, or is not the schema of
/// an object with required properties only.
void check_schema(const Json& schema, const std::string& where);

/// Describes how a value violates the schema; empty: it does not.
std::string violation(const Json& value, const Json& schema, const std::string& where = "");

/// The schema for services. It lacks the ranges of numbers, which only violation() checks.
OrderedJson schema_to_send(OrderedJson schema);

}  // namespace pardec
