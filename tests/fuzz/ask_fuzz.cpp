// A request's body: is read, or is an error that a client is told.
#include "src/serve/api_error.hpp"
#include "src/serve/ask.hpp"
#include "src/serve/response_fields.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec::serve;
  for (const Endpoint endpoint : {Endpoint::completions, Endpoint::chat}) {
    try {
      const Ask ask = parse_ask(pardec::test::text_of(data, size), endpoint);
      if (endpoint == Endpoint::completions ? ask.prompts.empty() : ask.messages.empty())
        __builtin_trap();
      if (!ask.fields) continue;
      // An answer to each field is an object that has them all.
      const std::size_t fields = ask.fields->fields.size();
      const auto object = pardec::Json::parse(response_object(
          *ask.fields, std::vector<std::optional<std::string>>(fields, std::string("a"))));
      if (object.size() != fields) __builtin_trap();
    } catch (const ApiError& error) {
      if (error.status != 400 && error.code != "response_format_unmet") __builtin_trap();
    }
  }
  return 0;
}
