#include "src/findings/traces.hpp"

#include "datasets/reading.hpp"
#include "src/engine/trace_threads.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::vector<Trace> read_traces(const std::filesystem::path& file) {
  std::vector<Trace> traces;
  each_raw_line(file, nullptr, [&](const std::string& text, long line) {
    if (!strip(text).empty())
      traces.push_back(
          parse_trace(parse_json(text, file.string(), line), str(file.string(), ":", line)));
  });
  return traces;
}

}  // namespace pardec
