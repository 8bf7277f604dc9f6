#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "metrics/roofline.hpp"
#include "src/engine/trace.hpp"
#include "src/model/model.hpp"

/// The least time that traced forward passes can take on given hardware (roofline).
/// metrics/roofline.hpp has the model for one pass.
namespace pardec {

/// The size of a network in this dtype. `model`: a checkpoint folder, a GGUF file, or a config.json
/// without weights. ModelError: the path is none of these, or the config is invalid. DataError: a
/// config.json is not JSON.
NetworkSize size_of_network(const std::filesystem::path& model, Dtype dtype);

/// Memory bandwidth and FLOP/s of a machine. `which` is `here` (measures this machine with the
/// current number of threads), NAME (reads experiments/hardware/NAME.json), NAMExN (N of these
/// devices with tensor parallelism, 1 to 9999), or the path of a file in the form of NAME.json.
/// ConfigError: there is no such machine, or its file is invalid, e.g. without FLOP/s for this
/// dtype, or for N > 1 without the speed of the link between devices. DataError: the file cannot be
/// read or is not JSON. RunError, for `here`: see measure_machine.
Hardware read_hardware(const std::string& which, Dtype dtype);

/// The NAME in experiments/hardware for a GPU. `gpu`: the name that the GPU's driver reports, e.g.
/// "NVIDIA H100 80GB HBM3". NAME is a word of `gpu` in lower case, e.g. "h100". Empty: there is no
/// file for this GPU.
std::string hardware_of_gpu(const std::string& gpu);

/// The networks of the traces, and how traces are combined into passes.
struct RooflineSetting {
  NetworkSize network;
  std::optional<NetworkSize> draft;  ///< none: passes of the draft network are left out
  int batch_size = 1;                ///< number of TraceWorks that share each pass, at least 1
  std::string baseline;              ///< label of an arm; empty: there is no baseline
};

/// The work of the forward passes of one trace, or of several traces whose requests run in
/// parallel, e.g. fields of a job that are asked separately.
struct TraceWork {
  std::string decoder, arm, dataset;
  std::set<std::string> examples;  ///< ids; for a prompt that is no example, name of the request
  bool drafts;                     ///< whether the trace belongs to the draft network
  std::int64_t chosen;             ///< number of generated tokens
  std::vector<PassWork> passes;    ///< in order; requests that run in parallel share passes
  std::set<std::string> requests;  ///< names of the requests
  std::string group;               ///< Trace::group of all these traces
};
/// Adds the work of a trace to the entry of its group. If there is no such entry, or if the trace
/// has no group, appends an entry. If the trace of a fork is added to an existing entry, the rows
/// that the fork inherited (Trace::inherited) are left out, because the entry already has them.
void add_work(std::vector<TraceWork>& works, const Trace& trace);
/// The work of the traces in a file written by `--trace`. Errors: see each_trace.
std::vector<TraceWork> read_works(const std::filesystem::path& file);

/// The least time in seconds for all of `works`. The entries are divided, in order, into groups of
/// `setting.batch_size` entries. The entries of a group share passes. The groups run one after
/// another. The work of a draft network is grouped separately, and left out if `setting` has no
/// draft.
double least_seconds(const std::vector<const TraceWork*>& works, const RooflineSetting& setting,
                     const Hardware& machine);

/// Whether the decoder of `work` has drafting passes that are in no trace
/// (DecoderEntry::drafts_untraced).
bool drafts_untraced(const TraceWork& work);

/// The bounds of one arm on one machine. `chosen`, `sequences`, `passes` and `rows_per_pass` do not
/// include a draft network; the times do (RooflineSetting::draft).
struct ArmRoofline {
  std::string arm;         ///< label
  std::int64_t sequences;  ///< number of traced requests
  std::int64_t chosen;     ///< number of generated tokens
  std::int64_t passes;     ///< number of forward passes
  double rows_per_pass;
  double seconds;            ///< lower bound of the time of all passes
  double memory_bound;       ///< share of `seconds` in passes that memory bandwidth limits
  double tokens_per_second;  ///< upper bound
  bool is_baseline;
  /// upper bound of the speedup over the baseline; none: this arm is the baseline, there is no
  /// baseline, or the traces of the two arms have different examples
  std::optional<double> speedup;
};

/// The bounds of all arms, in the order in which they appear in the traces.
struct Roofline {
  std::vector<std::vector<ArmRoofline>> by_machine;  ///< [machine][arm]
  bool has_baseline = false;                         ///< whether the baseline has a trace
  /// labels of the arms that were traced on other examples than the baseline
  std::vector<std::string> other_examples;
  /// labels of the arms with drafting passes that are in no trace
  std::vector<std::string> drafts_untraced;
};
/// Computes the bounds of all arms on each machine.
Roofline roofline_of(const std::vector<Trace>& traces, const RooflineSetting& setting,
                     const std::vector<Hardware>& machines);

/// One traced pass of a request, its work, and its bound.
struct TracedPass {
  std::string arm;
  std::int64_t index;  ///< number of the pass, counted from 0
  PassWork work;
  PassBound bound;
};
/// All passes of the request with this name, for each arm in the order of the traces. Passes of a
/// draft network are left out. Empty: there is no such request.
std::vector<TracedPass> passes_of_request(const std::vector<Trace>& traces,
                                          const std::string& request, const NetworkSize& network,
                                          const Hardware& machine);

/// The label of the trace's arm; for a trace without a label, the name of its decoder.
std::string arm_of(const Trace& trace);

}  // namespace pardec
