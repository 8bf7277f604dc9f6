// APAR's own metrics (sections 3.4 and D.1): threads, rows in the cache, tokens attended to. They
// are also computed for AR, its baseline.
#include <limits>

#include "decoders/apar/apar.hpp"
#include "decoders/decoder.hpp"

namespace pardec {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double ratio(std::int64_t sum, std::int64_t count) {
  return count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : kNone;
}

std::vector<double> values(std::string_view decoder, std::span<const ResponseCounts> responses) {
  if (decoder != "apar" && decoder != kPlainDecoder) return std::vector<double>(4, kNone);
  std::int64_t answers = 0, alone = 0, parallel = 0, threads = 0, cached = 0, attended = 0,
               text = 0;
  for (const ResponseCounts& response : responses) {
    answers += response.answers;
    // If a response has several answers, only the total number of their threads is known.
    alone += response.answers == 1;
    parallel += response.answers == 1 && response.branches > 1;
    threads += response.branches;
    cached += response.cached_peak;
    attended += response.text_attended;
    text += response.text;
  }
  return {ratio(threads, answers), alone == answers ? ratio(parallel, alone) : kNone,
          ratio(cached, answers), ratio(attended, attended > 0 ? text : 0)};
}

}  // namespace

OwnColumns apar_columns() {
  return {
      .columns = {{.header = "threads", .key = "threads_per_answer", .decimals = 2},
                  {.header = "parallel", .key = "parallel_share", .percent = true},
                  {.header = "max cached", .key = "max_cached", .decimals = 1},
                  {.header = "attended", .key = "attended_per_token", .decimals = 1}},
      .note =
          "threads, parallel, max cached, attended as APAR counts them (section 3.4): threads in "
          "an answer (of a conversation: in a turn) and share of answers with several; largest "
          "number of rows in the cache, mean over answers; tokens before each token of the "
          "text on its path.",
      .values = values};
}

}  // namespace pardec
