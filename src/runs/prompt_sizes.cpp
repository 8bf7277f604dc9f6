#include "src/runs/prompt_sizes.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

PromptSizes prompt_sizes(const RunSpec& spec, const Workload& work, size_t arm,
                         const CheckpointFace& face, const ChatTemplate& chat,
                         const std::function<void()>& one_more) {
  const Decoder& decoder = *spec.arms[arm].algorithm;
  PromptSizes sizes;
  for (const BlockPlan& block : work.blocks)
    for (const JobPlan& job : block.jobs[arm]) {
      one_more();
      try {
        const Request request = make_request(
            job_name(job.key), work.examples_of(job), form_on(work.dataset.shape, decoder),
            work.protocols[arm], spec.decode, chat, *face.tokenizer);
        const std::int64_t needed = decoder.positions_needed(request);
        sizes.least = std::min(sizes.least.value_or(needed), needed);
        sizes.most = std::max(sizes.most, needed);
        sizes.too_long += needed > face.config.positions();
      } catch (const Error& error) {
        if (sizes.refused++ == 0) sizes.why = error.what();
      }
    }
  return sizes;
}

}  // namespace pardec
