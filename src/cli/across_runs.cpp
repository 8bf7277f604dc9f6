// Comparisons of several invocations: `runs compare`, and `compare` with several runs.
#include "src/cli/across_runs.hpp"

#include <algorithm>

#include "src/cli/common_flags.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/run_list_table.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

int print_across(const std::string& db, const std::vector<std::string>& ids, double confidence,
                 TableFormat format) {
  check_compare_options({.confidence = confidence});
  if (ids.size() < 2)
    throw ConfigError(str("runs compare: ", counted(std::ssize(ids), "ID"),
                          " given, expected two or more; 'pardec runs' lists them"));
  Store all(db, {.read_only = true});
  std::vector<std::string> invocations;
  for (const std::string& id : ids) invocations.push_back(find_invocation(all, id));
  std::string first = invocations.front();
  const auto store = open_to_compare(db, first);
  for (size_t i = 0; i < invocations.size(); ++i) {
    // If shards of one run are joined, the newest one has the rows of all.
    for (const std::string& shard : all.shards_of(invocations[i]))
      if (!store->find_runs({.invocation = shard}).empty()) invocations[i] = shard;
    const auto here = invocations.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(invocations.begin(), here, *here) != here)
      throw ConfigError(str("runs compare: '", ids[i], "' is run ", invocations[i].substr(0, 8),
                            ", which was named before, expected each once"));
  }
  print_table(across_table(compare_across(*store, invocations, confidence)), format);
  return 0;
}

}  // namespace pardec
