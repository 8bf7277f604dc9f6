#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/store/store.hpp"

/// Invocations: groups of runs that one call of `pardec run` made. Functions with a store may also
/// throw the errors that store.hpp describes.
namespace pardec {

/// Opens the database `db` read-only, with the shards of each run joined into one run
/// (Store::join_shards). All reads see the database as it was when this function was called. `run`:
/// names an invocation as for find_invocation, and is replaced by the invocation's id; an empty
/// text stays empty. StoreError: the database cannot be read. ConfigError: see find_invocation.
std::unique_ptr<Store> open_to_compare(const std::string& db, std::string& run);

/// The id of the newest invocation. ConfigError: the store is empty.
std::string latest_invocation(Store& store);

/// Finds an invocation by its name, by a prefix of its id, or by a prefix of the id of one of its
/// runs. Finds the newest invocation if `id` is empty, or if `id` is `latest` and no invocation has
/// this name. Returns the whole id. ConfigError: no invocation or several invocations match; a name
/// that is also a prefix of another invocation's id counts as several.
std::string find_invocation(Store& store, const std::string& id);

/// Reads the runs of an invocation, sorted by id. ConfigError: there are none.
Figures figures_of(Store& store, const std::string& invocation);
/// The summaries of an invocation's runs, sorted by id. ConfigError: there are none.
std::vector<RunSummary> runs_of(Store& store, const std::string& invocation);

/// The baseline of `method` among `runs`: the run of the same invocation on the same dataset with
/// the label `baseline`, or, if `baseline` is empty, with the label of the baseline that the
/// method's run recorded. Null: there is no such run, or it is `method` itself.
const RunSummary* find_baseline(const std::vector<RunSummary>& runs, const RunSummary& method,
                                const std::string& baseline);

/// The name that a user gave an invocation, and a note about it. Empty: none.
struct InvocationLabel {
  std::string name, note;
};

/// Maps the ids of invocations to their labels. Invocations without a name and without a note are
/// left out.
std::map<std::string, InvocationLabel> invocation_labels(Store& store);

/// Names an invocation; an empty name removes its name. `invocation`: its whole id. ConfigError:
/// another invocation has this name, or its id or the id of one of its runs begins with the name.
void name_invocation(Store& store, const std::string& invocation, const std::string& name);
/// Sets the note of an invocation; an empty note removes it. `invocation`: its whole id.
void note_invocation(Store& store, const std::string& invocation, const std::string& note);

/// In one transaction, removes the rows of an invocation, and all rows that no other run uses.
/// `invocation`: its whole id. Replies of judges are kept, because they were paid for. Rows that a
/// run in progress may use later are also kept.
void remove_invocation(Store& store, const std::string& invocation);

}  // namespace pardec
