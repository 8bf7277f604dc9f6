// Renders templates for jinja_oracle.py. Each line of stdin is a JSON object {"template": text,
// "variables": {...}}; each line of stdout is {"text": ...} or {"error": ...}.
#include <iostream>
#include <optional>

#include "src/jinja/template.hpp"
#include "src/support/error.hpp"

using namespace pardec;

int main() {
  std::tm now{};
  now.tm_year = 126;
  now.tm_mon = 1;
  now.tm_mday = 3;
  now.tm_wday = 2;
  now.tm_yday = 33;
  std::string last_source;
  std::optional<jinja::Template> program;
  for (std::string line; std::getline(std::cin, line);) {
    OrderedJson answer;
    try {
      const OrderedJson request = OrderedJson::parse(line);
      const auto source = request.at("template").get<std::string>();
      if (!program || source != last_source) {
        program.reset();
        program = jinja::Template::parse(source, "template");
        last_source = source;
      }
      answer["text"] = program->render(request.at("variables"), now);
    } catch (const Error& error) {
      answer["error"] = error.what();
    }
    std::cout << answer.dump() << "\n";
  }
}
