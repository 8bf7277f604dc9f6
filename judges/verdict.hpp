#pragma once
#include <string>
#include <string_view>

#include "src/support/json.hpp"

/// The verdict in a judge's reply, and whether it is what was asked for.
namespace pardec {

/// Between these a reply holds its verdict, where the service does not enforce a schema.
inline constexpr std::string_view kVerdictOpens = "<pardec:verdict>";
inline constexpr std::string_view kVerdictCloses = "</pardec:verdict>";

struct FoundVerdict {
  Json value;
  std::string problem;  ///< empty: `value` is of the schema
};

/// The whole reply where it is one JSON object (in a code fence, too), else the one that ends at
/// the last closing mark: what stands around it is talk, and what it quotes is its own. Whatever is
/// not of the schema is a problem, and so is another verdict around it that differs in the property
/// `verdict` (empty: in any); nothing gets a default.
FoundVerdict find_verdict(std::string_view reply, const Json& schema, const std::string& verdict);

/// ConfigError where a schema has a keyword that `violation` does not check, or is no object whose
/// properties are all required.
void check_schema(const Json& schema, const std::string& where);

/// What is wrong with a value; empty: nothing.
std::string violation(const Json& value, const Json& schema, const std::string& where = "");

/// The schema as services take it: without limits of numbers, which are checked here alone.
OrderedJson schema_to_send(OrderedJson schema);

}  // namespace pardec
