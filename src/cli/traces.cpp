#include "src/cli/traces.hpp"

#include <cerrno>
#include <cstring>

#include "datasets/reading.hpp"
#include "src/engine/trace_threads.hpp"
#include "src/support/error.hpp"
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

std::unique_ptr<std::ofstream> open_trace(const std::string& file, std::ios::openmode mode) {
  auto trace = std::make_unique<std::ofstream>(file, mode);
  if (!*trace)
    throw ConfigError(str("--trace: ", file, " cannot be written: ", std::strerror(errno),
                          "; expected a file in a writable folder"));
  return trace;
}

}  // namespace pardec
