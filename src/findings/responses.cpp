#include "src/findings/responses.hpp"

namespace pardec {

namespace {

std::int64_t at(const Json& json, const char* key) { return json.at(key).get<std::int64_t>(); }

std::optional<ParallelCounts> stages_of(const Json& parallel, std::int64_t decode_ns) {
  if (!parallel.is_object()) return std::nullopt;
  return ParallelCounts{at(parallel, "generated"),
                        at(parallel, "branch_tokens"),
                        at(parallel, "groups"),
                        at(parallel, "group_branches"),
                        decode_ns,
                        at(parallel, "parallel_ns")};
}

}  // namespace

std::vector<ResponseCounts> responses_of(const JobNumbers& job, const Json& parallel,
                                         const Json& turns, std::int64_t answers) {
  if (!turns.is_array())
    return {{.answers = answers,
             .prompt_tokens = job.prompt_tokens,
             .chosen = job.chosen,
             .decode_ns = job.decode_ns,
             .branches = job.branches,
             .cached_peak = job.cached_peak,
             .text_tokens = job.text_tokens,
             .text_attended = job.text_attended,
             .parallel = stages_of(parallel, job.decode_ns)}};
  std::vector<ResponseCounts> responses;
  for (const Json& turn : turns)
    responses.push_back({.prompt_tokens = at(turn, "prompt_tokens"),
                         .chosen = at(turn, "chosen"),
                         .decode_ns = at(turn, "decode_ns"),
                         .branches = at(turn, "branches"),
                         .cached_peak = at(turn, "cached_peak"),
                         .text_tokens = at(turn, "text_tokens"),
                         .text_attended = at(turn, "text_attended"),
                         .parallel = stages_of(turn.at("parallel"), at(turn, "decode_ns"))});
  return responses;
}

}  // namespace pardec
