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

/// Tables and figures of papers are measured again, and their claims tested by what was measured.
namespace pardec {

/// What may be done to measure an item.
struct Effort {
  bool runs = true;  ///< else what is stored, or was made for another item, counts alone
  std::optional<double> seconds = std::nullopt;  ///< that a run may take; none: no limit
};

/// A network in place of the file's.
struct GivenNetwork {
  std::string label, folder;
};

/// How items are reproduced.
struct ReproduceOptions {
  std::string scale = "small";
  std::string db = "results/pardec.sqlite";  ///< what it holds already is not run again
  bool create_folders = false;               ///< those of the database
  std::string data_root;  ///< folder with one folder a dataset; empty: the project's samples
  std::string dtype;      ///< in place of the file's; empty: the file's
  std::vector<GivenNetwork> models;        ///< the first of a label counts
  std::optional<std::int64_t> limit;       ///< examples of a dataset; none: the file's
  std::optional<chat::ServiceSpec> judge;  ///< for claims that need one
  int threads = 0;                         ///< of the CPU; 0: all cores
  Effort effort;
  bool errors_lack = false;  ///< an Error is what lacks, in the findings; else it is thrown
  std::stop_token stop;      ///< leaves a run to be gone on with
  ProgressStyle progress = ProgressStyle::none;
  Notes notes;
  std::vector<std::string> argv;  ///< for the runs' record
};

/// One item at one scale: what was measured, and what it says of the claims.
struct Reproduction {
  const PaperItem* item;
  std::string scale;
  std::vector<std::string> arms;  ///< labels
  std::string baseline;
  std::vector<Difference> differs;       ///< from the paper's own measurement
  std::unique_ptr<Store> store;          ///< what the evidence is read from, where it is its own
  std::shared_ptr<const StoredRun> run;  ///< none: nothing was run, or it was not kept
  std::unique_ptr<Evidence> evidence;
  std::vector<ClaimFinding> findings;
  bool judge_failed = false;  ///< not all that it was to be asked was asked
};

/// What the arms of a scale `bound` did: their passes by dataset, what ran, and what lacks.
struct BoundTraces {
  std::map<std::string, std::vector<Trace>> traces;
  std::vector<Overview> made;
  std::vector<std::string> unfinished;  ///< datasets for which there was no time
  Lacking lacking;
};

/// Of all bounds of a program, by work_of().
using MadeBounds = std::map<std::string, BoundTraces>;

/// Runs what the scale asks for, goes on with it, or takes it from the database or `bounds` where
/// it is whole, and tests the claims. What lacks (networks, datasets, time) is named in the
/// findings, no error. ConfigError for a scale that the item does not have; errors of a run, see
/// `errors_lack`.
Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options, MadeBounds& bounds);
Reproduction reproduce(const PaperItem& item, const ReproduceOptions& options);

/// Whether networks and datasets of a scale that runs something are there.
bool runs_here(const PaperItem& item, const ReproduceOptions& options);

/// What a scale needs time for, which others may share: the name of its run, or the passes of its
/// bound; empty: it only counts, or there is no such scale.
std::string work_of(const PaperItem& item, const std::string& scale);

/// The same of an invocation in the store, without running anything: of each item and scale that it
/// was made for. Empty: `reproduce` did not make it.
std::vector<Reproduction> reproduced(const PaperCatalogue& papers, Store& store,
                                     const std::string& invocation);

}  // namespace pardec
