#pragma once
#include <map>
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

/// The invocation of this name, or of which `id` begins the id, or the id of one of its runs;
/// empty: the newest. ConfigError when there is none, or several, a name that begins another one's
/// id included.
std::string find_invocation(Store& store, const std::string& id);

/// The runs of an invocation in the order of their ids.
/// ConfigError when there are none.
Figures figures_of(Store& store, const std::string& invocation);
/// Their summaries alone.
std::vector<RunSummary> runs_of(Store& store, const std::string& invocation);

/// The run that `method` is compared with: the arm of that label on the same dataset, `baseline`
/// empty: its own. Null where there is none, or it is the method itself.
const RunSummary* find_baseline(const std::vector<RunSummary>& runs, const RunSummary& method,
                                const std::string& baseline);

/// What somebody called an invocation, and wrote of it; empty: nothing.
struct InvocationLabel {
  std::string name, note;
};

/// By invocation.
std::map<std::string, InvocationLabel> invocation_labels(Store& store);

/// An empty name takes it away. ConfigError where another invocation has it, or an id that begins
/// so.
void name_invocation(Store& store, const std::string& invocation, const std::string& name);
/// An empty note takes it away.
void note_invocation(Store& store, const std::string& invocation, const std::string& note);

/// Removes the rows of an invocation, and what it alone refers to, in one transaction. Replies of
/// judges, which were paid for, stay.
void remove_invocation(Store& store, const std::string& invocation);

}  // namespace pardec
