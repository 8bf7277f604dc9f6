#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/cli/signal_stop.hpp"
#include "src/engine/trace.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/reproduction_table.hpp"
#include "src/reproduction/claims.hpp"
#include "src/reproduction/evidence.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// What `reproduce` is told of how to run.
struct ReproduceOptions {
  std::string data_root, db, dtype;
  bool default_db = false;            ///< its folder may be made
  std::vector<std::string> models;    ///< LABEL=DIR
  std::optional<std::int64_t> limit;  ///< in place of the file's
  std::string judge;                  ///< file of a service, for claims that need one; may be empty
  int threads = 0;
  std::string progress = "auto";
  std::vector<std::string> argv;
};

/// One item at one scale: what was measured, and what it says of the claims.
struct Reproduction {
  const PaperItem* item;
  std::string scale;
  std::vector<std::string> arms;  ///< labels
  std::string baseline;
  std::vector<std::string> differs;      ///< from the paper's own measurement, one line each
  std::unique_ptr<Store> store;          ///< what the evidence is read from, where it is its own
  std::shared_ptr<const StoredRun> run;  ///< none: nothing was run, or it was not kept
  std::unique_ptr<Evidence> evidence;
  std::vector<ClaimFinding> findings;
  bool judge_failed = false;  ///< not all that it was to be asked was asked
};

/// What the arms of a scale `bound` did: their passes by dataset, what ran, and what lacks.
struct BoundTraces {
  std::map<std::string, std::vector<Trace>> traces;
  std::vector<Comparison> made;
  std::vector<std::string> unfinished;  ///< datasets for which there was no time
  Lacking lacking;
};

/// Of all bounds of an invocation, by work_of().
using MadeBounds = std::map<std::string, BoundTraces>;

/// Whether networks and datasets of a scale that runs something are there.
bool runs_here(const PaperItem& item, const std::string& scale, const ReproduceOptions& options);

/// Runs what the scale asks for, goes on with it, or takes it from the database or `bounds` where
/// it is whole, and tests the claims. `seconds`: what it may take; none: no limit; 0: the database
/// alone. A stop leaves the run to be gone on with. What lacks (networks, datasets) is named in the
/// findings, no error; of one item `among_others` errors are such a lack, too.
Reproduction reproduce(const PaperItem& item, const std::string& scale,
                       const ReproduceOptions& options, std::optional<double> seconds,
                       const SignalStop& stop, bool among_others, MadeBounds& bounds);

/// What a scale needs time for, which others may share: the name of its run, or the passes of its
/// bound; empty: it only counts, or there is no such scale.
std::string work_of(const PaperItem& item, const std::string& scale);

/// The same of an invocation in the store, without running anything: of each item and scale that it
/// was made for. Empty: `reproduce` did not make it.
std::vector<Reproduction> reproduced(const PaperCatalogue& papers, Store& store,
                                     const std::string& invocation);

/// What is shown of it; see published_table() for `measured_only`.
ReproducedItem shown(const Reproduction& result, bool measured_only);

}  // namespace pardec
