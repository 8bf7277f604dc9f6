#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "src/chat/service.hpp"
#include "src/engine/trace.hpp"
#include "src/findings/comparison.hpp"
#include "src/reproduction/claims.hpp"
#include "src/reproduction/evidence.hpp"
#include "src/reproduction/paper_differences.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/store/store.hpp"
#include "src/support/notes.hpp"
#include "src/support/progress.hpp"

/// Reproduces tables and figures of papers: measures them, and tests the papers' claims.
namespace pardec {

class Group;  // src/group/group.hpp

/// Limits on the work for one item.
struct Effort {
  /// False: nothing is run; only stored results, and results made for other items, are used.
  bool runs = true;
  std::optional<double> seconds = std::nullopt;  ///< time limit of a run; none: no limit
};

/// A network that replaces the one in the item's file.
struct GivenNetwork {
  std::string label, folder;
};

/// A service that answers an arm. `file`: the description of the service.
struct GivenService {
  std::string label, file;
};

/// Options of a reproduction.
struct ReproduceOptions {
  std::string scale = "small";
  std::string db = "results/pardec.sqlite";  ///< runs in this database are not repeated
  bool create_folders = false;               ///< whether to create folders for the database
  std::string data_root;  ///< folder with one folder per dataset; empty: the project's samples
  std::string dtype;      ///< replaces the dtype in the item's file; empty: keeps it
  std::string device;     ///< device of runs and trainings; empty: as in the item's file
  std::vector<GivenNetwork> models;  ///< if a label has several, the first is used
  /// The services for arms that a service answers. Without its service, an arm is reported as
  /// missing.
  std::vector<GivenService> services;
  /// number of examples per dataset; none: as in the item's file
  std::optional<std::int64_t> limit;
  std::optional<chat::ServiceSpec> judge;  ///< for claims that need a judge; none: none is asked
  int threads = 0;                         ///< CPU threads; 0: all cores
  Effort effort;
  /// True: errors of a run are reported in the findings as something missing. False: they are
  /// thrown.
  bool errors_lack = false;
  std::stop_token stop;  ///< interrupts a run so that it can be resumed
  ProgressStyle progress = ProgressStyle::none;
  Notes notes;
  std::vector<std::string> argv;  ///< recorded in the runs
  /// Processes that share the runs, see ExecuteOptions::group. Null: this process alone.
  Group* group = nullptr;
};

/// The measurements of one item at one scale, and the verdicts on its claims.
struct Reproduction {
  const PaperItem* item;
  std::string scale;
  std::vector<std::string> arms;  ///< labels
  std::string baseline;
  std::vector<Difference> differs;       ///< differences from the paper's measurement
  std::unique_ptr<Store> store;          ///< the store that `evidence` reads; null: a shared one
  std::shared_ptr<const StoredRun> run;  ///< null: nothing was run, or the run is not kept
  std::unique_ptr<Evidence> evidence;
  std::vector<ClaimFinding> findings;
  bool judge_failed = false;  ///< whether asking the judge failed, so that verdicts may be missing
  bool shared = false;        ///< whether the processes of a group began a run together
};

/// The traces for a scale with the key `bound`.
struct BoundTraces {
  std::map<std::string, std::vector<Trace>> traces;  ///< by dataset
  std::vector<Overview> made;                        ///< the runs that made the traces
  std::vector<std::string> unfinished;               ///< datasets whose run ended early
  Lacking lacking;                                   ///< what is missing
};

/// The bound traces that this process has made. The keys are those of work_of().
using MadeBounds = std::map<std::string, BoundTraces>;

/// Runs the scale's experiment and tests the claims. A stopped run is resumed; a complete one is
/// read from the database or from `bounds`. Stored runs count only if the settings and the commit
/// of the program are the same. Missing networks, datasets or time are no errors; the findings
/// report them. ConfigError: the item does not have this scale. For errors of a run, see
/// ReproduceOptions::errors_lack; errors of a run that several processes share are always thrown.
/// REQUIRES: options.group is null or this process is its rank 0.
Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options, MadeBounds& bounds);
/// Reproduces an item without bound traces from earlier calls.
Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options);

/// All work of a rank above 0: joins each run that rank 0's calls of reproduce() share, until rank
/// 0 calls end_reproductions(). ConfigError: the rank's settings or files differ from those of rank
/// 0. Other errors: see execute(). REQUIRES: options.group is set.
void follow_reproductions(const PaperCatalogue& papers, const ReproduceOptions& options);
/// Ends the other ranks' follow_reproductions(). REQUIRES: called in rank 0.
void end_reproductions(Group& group);

/// Whether enough of the scale's networks and datasets exist here to test at least one claim, or to
/// run an item without claims at this scale. False also if the scale or a file is invalid. May
/// generate stand-ins (runnable_of).
bool runs_here(const PaperItem& item, const ReproduceOptions& options);

/// A key for the work of a scale. Scales with the same key, also of different items, share one run,
/// or the traced passes of a bound. Empty: the scale needs no run because it only counts, or it
/// does not exist.
std::string work_of(const PaperItem& item, const std::string& scale);

/// Tests claims against a stored invocation, without running anything. Returns one result for each
/// item and scale that the invocation was made for. Empty: `reproduce` did not make it.
std::vector<Reproduction> reproduced(const PaperCatalogue& papers, Store& store,
                                     const std::string& invocation);

}  // namespace pardec
