#include "src/scoring/identities.hpp"

#include "src/scoring/stored_answers.hpp"
#include "src/store/invocations.hpp"

namespace pardec {

void mark_identities(Store& store, const std::string& invocation) {
  std::vector<std::pair<RowId, Identity>> marks;
  const auto runs = runs_of(store, invocation);
  for (const auto& method : runs) {
    const RunSummary* baseline = find_baseline(runs, method, "");
    if (!baseline || method.run.oracle) continue;  // under an oracle, the answers are forced
    const RunAnswers theirs = read_answers(store, baseline->run.id),
                     ours = read_answers(store, method.run.id);
    const bool ids = same_ids(baseline->run.model, method.run.model);
    for (const auto& [key, answered] : ours.by_sample) {
      const auto found = theirs.by_sample.find(key);
      if (found == theirs.by_sample.end() || answered.generation.row.error ||
          found->second.generation.row.error)
        continue;
      marks.emplace_back(answered.generation.row.id, compare_fields(found->second, answered, ids));
    }
  }
  store.mark_identities(marks);
}

}  // namespace pardec
