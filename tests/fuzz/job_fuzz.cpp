// A Job is read and written back unchanged, or is an Error.
#include "src/prompt/job.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  try {
    const Job job = parse_job(parse_json(test::text_of(data, size), "fuzz", 0), "fuzz");
    const std::string written = dump(to_json(job));
    if (dump(to_json(parse_job(parse_json(written, "fuzz", 0), "fuzz"))) != written)
      __builtin_trap();
  } catch (const Error&) {
  }
  return 0;
}
