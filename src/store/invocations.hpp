#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/store/store.hpp"

/// Finds the runs of a store that belong together.
namespace pardec {

/// Opens the database for comparison, read only. Shards of one run appear as one run. `run`, a
/// prefix of the id of an invocation or run, is replaced by the id of its invocation.
std::unique_ptr<Store> open_to_compare(const std::string& db, std::string& run);

/// The invocation with the newest run, or with the newest run of `dataset` if one is named.
/// ConfigError: the store is empty.
std::string latest_invocation(Store& store);

/// The invocation with this name, or with an id that begins with `id`, or with a run whose id
/// begins with `id`. Empty, or `latest` if none has that name: the newest. ConfigError: there is no
/// match, or several, including a name that is also a prefix of another invocation's id.
std::string find_invocation(Store& store, const std::string& id);

/// The runs of an invocation in the order of their ids. ConfigError: there are none.
Figures figures_of(Store& store, const std::string& invocation);
/// The summaries of these runs.
std::vector<RunSummary> runs_of(Store& store, const std::string& invocation);

/// The run that `method` is compared with: the arm with label `baseline` on the same dataset; if
/// `baseline` is empty, the method's own baseline. Null: there is none, or it is the method itself.
const RunSummary* find_baseline(const std::vector<RunSummary>& runs, const RunSummary& method,
                                const std::string& baseline);

/// The name that a user gave an invocation, and a note about it. Empty: none.
struct InvocationLabel {
  std::string name, note;
};

/// The labels by invocation.
std::map<std::string, InvocationLabel> invocation_labels(Store& store);

/// An empty name removes the name. ConfigError: another invocation has this name, or an id that
/// begins with it.
void name_invocation(Store& store, const std::string& invocation, const std::string& name);
/// An empty note removes the note.
void note_invocation(Store& store, const std::string& invocation, const std::string& note);

/// Removes the rows of an invocation, and rows that nothing else refers to, in one transaction.
/// Replies of judges are kept, since they were paid for.
void remove_invocation(Store& store, const std::string& invocation);

}  // namespace pardec
