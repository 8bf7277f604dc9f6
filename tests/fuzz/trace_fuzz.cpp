// A trace is read, followed and told pass by pass, or is an Error.
#include "src/engine/trace_threads.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  try {
    const Trace trace = parse_trace(parse_json(test::text_of(data, size), "fuzz", 0), "fuzz");
    const std::string written = dump(to_json(trace));
    if (dump(to_json(parse_trace(parse_json(written, "fuzz", 0), "fuzz"))) != written)
      __builtin_trap();
    events_of(trace);
  } catch (const Error&) {
  }
  return 0;
}
