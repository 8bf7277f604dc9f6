#include "src/serve/response_fields.hpp"

#include "src/serve/api_error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::serve;

namespace {

std::optional<ResponseFields> with_schema(const std::string& schema) {
  return response_fields(OrderedJson::parse(
      str(R"({"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": )",
          schema, "}}")));
}

std::optional<ResponseFields> with_property(const std::string& property) {
  return with_schema(str(R"({"type": "object", "properties": {"a": )", property, "}}"));
}

}  // namespace

TEST_CASE("an object of strings becomes fields, in its order") {
  const auto format = with_schema(
      R"({"$schema": "x", "title": "Tea", "type": "object", "properties": {
            "Size": {"type": "string", "description": "How large?"},
            "Brand": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "B"},
            "Color": {"type": ["string", "null"], "enum": ["red", "blue"]}},
          "required": ["Size"], "additionalProperties": false})");
  REQUIRE(format);
  CHECK(format->title == "Tea");
  REQUIRE(format->fields.size() == 3);
  CHECK(format->fields[0].name == "Size");
  CHECK(format->fields[0].question == "How large?");
  CHECK(format->fields[1].name == "Brand");
  CHECK(format->fields[2].choices == std::vector<std::string>{"red", "blue"});
  CHECK(format->nullable == std::vector<bool>{false, true, true});
  CHECK(response_object(*format, {std::nullopt, std::nullopt, "b"}) ==
        R"({"Size":"n/a","Brand":null,"Color":"blue"})");
  CHECK(response_object(*format, {"a \"b\"\n", "x", "red"}) ==
        R"({"Size":"a \"b\"\n","Brand":"x","Color":"red"})");
  try {
    response_object(*format, {"x", "x", "green"});
    FAIL("a choice that is none");
  } catch (const ApiError& error) {
    CHECK(error.code == "response_format_unmet");
  }
  CHECK(!response_fields(nullptr));
  CHECK(!response_fields({{"type", "text"}}));
}

TEST_CASE("a schema that fields cannot promise is refused, never left out") {
  for (const char* property :
       {R"({"type": "integer"})", R"({"type": "object", "properties": {}})", R"({"type": "null"})",
        R"({"type": "array", "items": {"type": "string"}})", R"({})", R"(true)", R"([])",
        R"({"type": "string", "pattern": "a"})", R"({"type": "string", "minLength": 2})",
        R"({"type": "string", "format": "date"})", R"({"$ref": "#/$defs/x"})",
        R"({"type": "string", "enum": []})", R"({"type": "string", "enum": [1]})",
        R"({"type": "string", "const": "x"})", R"({"type": "string", "description": 5})",
        R"({"anyOf": [{"type": "string", "maxLength": 3}]})", R"({"anyOf": [{"type": "integer"}]})",
        R"({"anyOf": 5})", R"({"type": "string", "anyOf": [{"type": "string"}]})"}) {
    INFO(property);
    CHECK_THROWS_AS(with_property(property), ApiError);
  }
  for (const char* schema :
       {R"({})", R"([])", R"({"type": "string"})", R"({"type": "object"})",
        R"({"type": "object", "properties": {}})",
        R"({"type": "object", "properties": {"": {"type": "string"}}})",
        R"({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]})",
        R"({"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1})",
        R"({"type": "object", "properties": {"a": {"type": "string"}}, "$defs": {}})"}) {
    INFO(schema);
    CHECK_THROWS_AS(with_schema(schema), ApiError);
  }
  for (const char* format : {R"({})", R"([])", R"("text")", R"({"type": "json_object"})",
                             R"({"type": "json_schema"})", R"({"type": "grammar"})"}) {
    INFO(format);
    CHECK_THROWS_AS(response_fields(OrderedJson::parse(format)), ApiError);
  }
  CHECK_NOTHROW(with_property(R"({"type": "string"})"));
}
