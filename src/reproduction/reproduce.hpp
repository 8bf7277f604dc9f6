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
/// experiments/papers/README.md explains items, scales, claims and verdicts.
namespace pardec {

class Group;  // src/group/group.hpp

/// Limits on the work for one item.
struct Effort {
  /// False: nothing is run. The results come only from stored runs, of any commit of the program,
  /// and from traces that this process has already made for the bounds of other items (MadeBounds).
  bool runs = true;
  std::optional<double> seconds = std::nullopt;  ///< time limit of a run; none: no limit
};

/// A network that replaces the network with this label in the item's file. `folder`: found as by
/// folder_at (scale_inputs.hpp).
struct GivenNetwork {
  std::string label, folder;
};

/// The service that answers the arm with this label. `file`: the description of the service.
struct GivenService {
  std::string label, file;
};

/// Options of a reproduction.
struct ReproduceOptions {
  std::string scale = "small";
  std::string db = "results/pardec.sqlite";  ///< runs in this database are not repeated
  bool create_folders = false;               ///< whether to create folders for the database
  std::string data_root;  ///< folder with a folder for each dataset; empty: the project's samples
  std::string dtype;      ///< replaces the dtype in the item's file; empty: no replacement
  std::string device;     ///< for runs and training runs; empty: as in the item's file
  std::vector<GivenNetwork> models;  ///< if several entries have the same label, the first counts
  /// The services for arms that a service answers. An arm without its service is reported as
  /// missing.
  std::vector<GivenService> services;
  /// number of examples of each dataset; 0: all; none: as in the item's file
  std::optional<std::int64_t> limit;
  /// the judge to ask for claims that need a judge; none: no judge is asked
  std::optional<chat::ServiceSpec> judge;
  int threads = 0;  ///< CPU threads; 0: all cores
  Effort effort;
  /// True: errors of a run are reported in ClaimFinding::lacks. False: they are thrown.
  bool errors_lack = false;
  std::stop_token stop;  ///< interrupts a run so that it can be resumed
  ProgressStyle progress = ProgressStyle::none;
  Notes notes;
  std::vector<std::string> argv;  ///< the command line, which is stored with the runs
  /// Processes that share the runs, see ExecuteOptions::group. Null: this process alone.
  Group* group = nullptr;
};

/// The measurements of one item at one scale, and the verdicts on its claims.
struct Reproduction {
  const PaperItem* item;
  std::string scale;
  std::vector<std::string> arms;    ///< labels of the scale's arms
  std::string baseline;             ///< label of an arm; empty: each arm has its own baseline
  std::vector<Difference> differs;  ///< differences from the paper's measurement
  std::unique_ptr<Store> store;     ///< the store from which `run` was read; may be null
  /// null: nothing was run, or the runs only made traces for bounds
  std::shared_ptr<const StoredRun> run;
  std::unique_ptr<Evidence> evidence;  ///< not null; NoEvidence: nothing could be measured
  std::vector<ClaimFinding> findings;  ///< one for each claim that is tested at this scale
  bool judge_failed = false;  ///< whether asking the judge failed, so that verdicts may be missing
  /// whether all processes of the group began a run together (ReproduceOptions::group)
  bool shared = false;
};

/// The traces for a scale with the key `bound`.
struct BoundTraces {
  std::map<std::string, std::vector<Trace>> traces;  ///< dataset -> traces of all arms
  std::vector<Overview> made;                        ///< the runs that made the traces
  std::vector<std::string> unfinished;               ///< names of datasets whose run ended early
  Lacking lacking;                                   ///< arms and datasets without traces, and why
};

/// The traces that this process has made for bounds: key of the work (work_of) -> traces.
using MadeBounds = std::map<std::string, BoundTraces>;

/// Runs the scale's experiment and tests the claims. A stopped run is resumed. A complete run is
/// not repeated: it is read from the database, or its traces are taken from `bounds`. A stored run
/// counts only if its settings are the same. If Effort::runs is set, the commit of the program must
/// be the same, too. Missing networks, datasets or time are no errors; the findings report them.
/// ConfigError: the item does not have this scale. For errors of a run, see
/// ReproduceOptions::errors_lack; errors of a run that several processes share are always thrown.
/// REQUIRES: `item` outlives the result. If options.group is set, this process is rank 0 of the
/// group.
Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options, MadeBounds& bounds);
/// Reproduces an item without bound traces from earlier calls. Errors and requirements: see above.
Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options);

/// All work of a rank above 0: joins each run that rank 0's calls of reproduce() share, until rank
/// 0 calls end_reproductions(). ConfigError: the rank's settings or files differ from those of rank
/// 0. Other errors: see execute(). REQUIRES: options.group is set.
void follow_reproductions(const PaperCatalogue& papers, const ReproduceOptions& options);
/// Ends the calls of follow_reproductions() in the other ranks. REQUIRES: called in rank 0.
void end_reproductions(Group& group);

/// Whether enough of the scale's networks and datasets exist here to test at least one claim, or to
/// run an item without claims at this scale. The result is also false if the scale or a file is
/// invalid. May generate stand-ins (runnable_of).
bool runs_here(const PaperItem& item, const ReproduceOptions& options);

/// A key for the work of a scale. Scales with the same key share one run, or the traced passes of a
/// bound, even if they belong to different items. Empty: the scale only counts and needs no run, or
/// the item does not have this scale. ConfigError and DataError: see PaperItem::scale.
std::string work_of(const PaperItem& item, const std::string& scale);

/// Tests claims against a stored invocation, without running anything. Returns one result for each
/// item and scale for which the invocation was made. Empty: there is no such invocation, or
/// `reproduce` did not make it. StoreError: the database cannot be read. REQUIRES: `papers`
/// outlives the results.
std::vector<Reproduction> reproduced(const PaperCatalogue& papers, Store& store,
                                     const std::string& invocation);

}  // namespace pardec
