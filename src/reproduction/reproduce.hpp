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

/// Measures tables and figures of papers again, and tests their claims against the measurements.
namespace pardec {

/// Limits on the work for measuring an item.
struct Effort {
  /// whether to run anything; otherwise only stored results and those made for other items are used
  bool runs = true;
  std::optional<double> seconds = std::nullopt;  ///< time limit of a run; none: no limit
};

/// A network that replaces the one in the item's file.
struct GivenNetwork {
  std::string label, folder;
};

/// The description of a service that answers an arm.
struct GivenService {
  std::string label, file;
};

/// Options of a reproduction.
struct ReproduceOptions {
  std::string scale = "small";
  std::string db = "results/pardec.sqlite";  ///< runs that it already contains are not repeated
  bool create_folders = false;               ///< whether to create folders for the database
  std::string data_root;  ///< folder with one folder per dataset; empty: the project's samples
  std::string dtype;      ///< replaces the dtype in the item's file; empty: keeps it
  std::string device;     ///< as `device` of a run, also of trainings; empty: as in the item's file
  std::vector<GivenNetwork> models;  ///< the first network for a label is used
  /// for arms that a service answers; without one, such an arm is reported as missing
  std::vector<GivenService> services;
  /// number of examples per dataset; none: as in the item's file
  std::optional<std::int64_t> limit;
  std::optional<chat::ServiceSpec> judge;  ///< for claims that need a judge
  int threads = 0;                         ///< CPU threads; 0: all cores
  Effort effort;
  /// errors are reported as missing in the findings; otherwise they are thrown
  bool errors_lack = false;
  std::stop_token stop;  ///< interrupts a run so that it can be resumed
  ProgressStyle progress = ProgressStyle::none;
  Notes notes;
  std::vector<std::string> argv;  ///< recorded in the runs
};

/// The measurements of one item at one scale, and the verdicts on its claims.
struct Reproduction {
  const PaperItem* item;
  std::string scale;
  std::vector<std::string> arms;  ///< labels
  std::string baseline;
  std::vector<Difference> differs;       ///< from the paper's own measurement
  std::unique_ptr<Store> store;          ///< the store that `evidence` reads, if it is not shared
  std::shared_ptr<const StoredRun> run;  ///< none: nothing was run, or it was not kept
  std::unique_ptr<Evidence> evidence;
  std::vector<ClaimFinding> findings;
  bool judge_failed = false;  ///< some of the requests to the judge were not made
};

/// The passes of the arms of a scale `bound`, by dataset, with the runs that made them and what is
/// missing.
struct BoundTraces {
  std::map<std::string, std::vector<Trace>> traces;
  std::vector<Overview> made;
  std::vector<std::string> unfinished;  ///< datasets for which there was no time left
  Lacking lacking;
};

/// All bound traces of this process, by work_of().
using MadeBounds = std::map<std::string, BoundTraces>;

/// Runs the experiment of the scale, resumes it, or takes it from the database or from `bounds` if
/// it is complete, and tests the claims. Missing networks, datasets or time are reported in the
/// findings and are not errors. ConfigError: the item does not have this scale. For errors of a
/// run, see `errors_lack`.
Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options, MadeBounds& bounds);
Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options);

/// Whether the networks and datasets of the scale exist, so that it can run.
bool runs_here(const PaperItem& item, const ReproduceOptions& options);

/// Identifies the work of a scale, which other items may share: the name of its run, or the passes
/// of its bound. Empty: the scale only counts, or does not exist.
std::string work_of(const PaperItem& item, const std::string& scale);

/// As reproduce(), for a stored invocation, without running anything: a result for each item and
/// scale that it was made for. Empty: it was not made by `reproduce`.
std::vector<Reproduction> reproduced(const PaperCatalogue& papers, Store& store,
                                     const std::string& invocation);

}  // namespace pardec
