#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/store/store.hpp"

/// Which runs of a store belong together.
namespace pardec {

/// The database to be compared, read only. Shards of one run are one run in it; `run`, which begins
/// the id of an invocation or run, becomes its invocation's.
std::unique_ptr<Store> open_to_compare(const std::string& db, std::string& run);

/// The invocation with the newest run, of a dataset if one is named. ConfigError when the store is
/// empty.
std::string latest_invocation(Store& store);

/// The invocation of which `prefix` begins the id, or the id of one of its runs; empty: the newest.
/// ConfigError when there is none.
std::string find_invocation(Store& store, const std::string& prefix);

/// The runs of an invocation in the order of their ids.
/// ConfigError when there are none.
std::vector<RunSummary> runs_of(Store& store, const std::string& invocation);

/// The run that `method` is compared with: the arm of that label on the same dataset, `baseline`
/// empty: its own. Null where there is none, or it is the method itself.
const RunSummary* find_baseline(const std::vector<RunSummary>& runs, const RunSummary& method,
                                const std::string& baseline);

}  // namespace pardec
