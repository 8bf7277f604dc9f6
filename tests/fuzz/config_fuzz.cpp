// config.json, and after the first zero byte generation_config.json: a network that can be made, or
// an Error.
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  const std::string_view text = test::text_of(data, size);
  const std::size_t cut = std::min(text.find('\0'), text.size());
  test::put("config.json", text.substr(0, cut));
  test::put("generation_config.json", cut < text.size() ? text.substr(cut + 1) : "{}");
  try {
    const ModelConfig config = read_model_config(test::scratch());
    if (config.layers <= 100 && parameter_count(config) <= 0) __builtin_trap();
    if (config.positions() <= 0 || config.windows().empty()) __builtin_trap();
  } catch (const Error&) {
  }
  return 0;
}
