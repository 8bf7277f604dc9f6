#include "src/cli/traces.hpp"

#include "src/engine/trace_threads.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::vector<Trace> read_traces(const std::filesystem::path& file) {
  std::vector<Trace> traces;
  long line = 0;
  for (const auto& text : split(read_file(file), '\n')) {
    ++line;
    if (!strip(text).empty())
      traces.push_back(
          parse_trace(parse_json(text, file.string(), line), str(file.string(), ":", line)));
  }
  return traces;
}

}  // namespace pardec
