#include "src/findings/traces.hpp"

#include "datasets/reading.hpp"
#include "src/engine/trace_threads.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

void each_trace(const std::filesystem::path& file, const std::function<void(Trace)>& use) {
  each_raw_line(file, nullptr, [&](const std::string& text, long line) {
    if (!strip(text).empty())
      use(parse_trace(parse_json(text, file.string(), line), str(file.string(), ":", line)));
  });
}

std::vector<Trace> read_traces(const std::filesystem::path& file) {
  std::vector<Trace> traces;
  each_trace(file, [&](Trace trace) { traces.push_back(std::move(trace)); });
  return traces;
}

}  // namespace pardec
