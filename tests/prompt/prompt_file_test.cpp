#include "src/prompt/prompt_file.hpp"

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("a prompt file is read section by section") {
  const PromptFile prompt = parse_prompt_file(
      "# a comment\n[system]\nBe brief.\n\n[context]\n<p>{text}</p>\n[answer json]\nAs JSON.\r\n",
      "p.txt");
  CHECK(prompt.system == "Be brief.");
  CHECK(prompt.context == "<p>{text}</p>");
  CHECK(prompt.answer.at(Form::json) == "As JSON.");
  CHECK(prompt.answer.at(Form::value).empty());
  CHECK_THROWS_WITH(parse_prompt_file("[contxt]\n", "p.txt"),
                    "p.txt:1: unknown section 'contxt'; did you mean 'context'?");
  CHECK_THROWS_WITH(parse_prompt_file("[context]\na\n[context]\n", "p.txt"),
                    "p.txt:3: section 'context' occurs there twice");
  CHECK_THROWS_WITH(parse_prompt_file("[system]\na\n", "p.txt"),
                    "p.txt: has no [context] section, expected one that holds {text}");
}

TEST_CASE("slots are filled once, and the inserted text is not changed") {
  CHECK(fill("{a} and {b}{a}", {{"a", "{b}"}, {"b", "2"}}, "p") == "{b} and 2{b}");
  CHECK(fill("{\"1\": {a}}", {{"a", "x"}}, "p") ==
        "{\"1\": x}");  // other braces belong to the wording
  CHECK(fill("{} {A} {", {}, "p") == "{} {A} {");
  CHECK_THROWS_WITH(fill("{titel}", {{"title", ""}, {"n", ""}}, "p.txt: [context]"),
                    "p.txt: [context]: unknown slot {titel}; did you mean 'title'?");
}

TEST_CASE("the project's own prompt can be read, and names category and fields") {
  const PromptFile prompt = parse_prompt_file(
      read_file(PARDEC_SOURCE_DIR "/datasets/prompts/attributes.txt"), "attributes.txt");
  for (const Form form : {Form::json, Form::value, Form::free})
    CHECK_FALSE(prompt.answer.at(form).empty());
  const Context shoe{"a", "Shoes", "t", {{"Brand", "", {}}, {"Heel \"x\"", "", {}}}};
  const std::string text = instruction_for(prompt, {shoe, shoe}, Form::json);
  CHECK_THAT(text, Catch::Contains("\"Shoes\"") && Catch::Contains("(2 in all)") &&
                       Catch::Contains("\"Brand\", \"Heel \\\"x\\\"\""));
  // If fields are asked one by one, each prompt shows one context, whatever the stack.
  CHECK(instruction_for(prompt, {shoe, shoe}, Form::value) ==
        instruction_for(prompt, {shoe}, Form::value));
}

TEST_CASE("a field asks its question, its name, or both") {
  CHECK(asked({"q2", "Who?", {}}, 2) == "Who?");
  CHECK(asked({"q1", "Who?", {}}, 2) == "q1: Who?");
  CHECK(asked({"Brand", "Who made it?", {}}, 1) == "Brand: Who made it?");
  CHECK(asked({"Brand", "", {}}, 1) == "Brand");
  CHECK(slots_of({"q2", "Who?", {"x", "y"}}, 2).at("entry") == "q2: Who?");
  CHECK(slots_of({"Brand", "", {"x", "y"}}, 2).at("entry") == "Brand");
}

TEST_CASE("a decoder's own wording needs no [context], but all of its requests") {
  CHECK(parse_prompt_file("[skeleton]\nS\n[points]\nP\n[point]\nO\n", "w").points == "P");
  CHECK_THROWS_WITH(parse_prompt_file("[skeleton]\nS\n[points]\nP\n", "w"),
                    "w: has no [point] section beside [skeleton]");
}
