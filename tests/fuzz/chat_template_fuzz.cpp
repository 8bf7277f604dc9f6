// A chat template, and after the first zero byte the turns, one on each line. It renders, or is a
// ConfigError, in few steps.
#include "src/jinja/template.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  const std::string_view text = test::text_of(data, size);
  const std::size_t cut = std::min(text.find('\0'), text.size());
  OrderedJson variables = {
      {"add_generation_prompt", true}, {"bos_token", "<s>"}, {"tools", nullptr}};
  OrderedJson& messages = variables["messages"] = OrderedJson::array();
  for (const auto& line : split(text.substr(std::min(cut + 1, text.size())), '\n'))
    messages.push_back({{"role", messages.size() % 2 ? "assistant" : "user"}, {"content", line}});
  std::tm now{};
  now.tm_mday = 1;
  try {
    jinja::Template::parse(text.substr(0, cut), "fuzz").render(variables, now, 20'000);
  } catch (const Error&) {
  }
  return 0;
}
