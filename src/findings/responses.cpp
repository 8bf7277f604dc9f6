#include "src/findings/responses.hpp"

namespace pardec {

std::vector<ResponseCounts> responses_of(const Counts& job, std::span<const Counts> turns,
                                         std::int64_t answers) {
  if (turns.empty()) return {{job, answers}};
  std::vector<ResponseCounts> responses;
  for (const Counts& turn : turns) responses.push_back({turn});
  return responses;
}

}  // namespace pardec
