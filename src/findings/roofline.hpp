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

/// What the passes of traces take at least on some hardware.
namespace pardec {

/// The network of a checkpoint folder or of a config.json alone. ModelError.
NetworkSize size_of_network(const std::filesystem::path& model, Dtype dtype);

/// `here` is measured on this machine; else experiments/hardware/NAME.json of the project, or a
/// file of that form; NAMExN: N of them, tensor parallel. ConfigError.
Hardware read_hardware(const std::string& which, Dtype dtype);

/// The network, the one that drafts for it, and how traces are put together.
struct RooflineSetting {
  NetworkSize network;
  std::optional<NetworkSize> draft;
  int batch_size = 1;  ///< sequences that go side by side, pass by pass
  std::string baseline;
};

/// What the passes of one trace do, or of several whose requests go side by side: fields of a job
/// that are asked apart, points of a skeleton.
struct TraceWork {
  std::string decoder, arm, dataset;
  std::set<std::string> examples;  ///< of a prompt without any: its name
  bool drafts;                     ///< of the draft network
  std::int64_t chosen;
  std::vector<PassWork> passes;
  std::set<std::string> requests;  ///< names
  std::string group;               ///< as Trace's
};
/// Appends the work of a trace, or adds it to that beside which it goes. What forks of one prefix
/// inherit counts once.
void add_work(std::vector<TraceWork>& works, const Trace& trace);
/// Of each that `--trace` wrote to the file. ConfigError, which names file and line.
std::vector<TraceWork> read_works(const std::filesystem::path& file);

/// What they take at least, in their order, in seconds.
double least_seconds(const std::vector<const TraceWork*>& works, const RooflineSetting& setting,
                     const Hardware& machine);

/// Whether its decoder drafts in passes that are in no trace.
bool drafts_untraced(const TraceWork& work);

/// One arm on one machine.
struct ArmRoofline {
  std::string arm;
  std::int64_t sequences, chosen, passes;
  double rows_per_pass;
  double seconds;       ///< at least
  double memory_bound;  ///< share of them in passes that memory limits
  double tokens_per_second;
  bool is_baseline;
  std::optional<double> speedup;  ///< at most; none: no baseline, or it has other examples
};

/// Of all arms, in the order of their traces.
struct Roofline {
  std::vector<std::vector<ArmRoofline>> by_machine;
  bool has_baseline = false;
  std::vector<std::string> other_examples;   ///< arms whose examples are not the baseline's
  std::vector<std::string> drafts_untraced;  ///< arms some of whose passes are in no trace
};
Roofline roofline_of(const std::vector<Trace>& traces, const RooflineSetting& setting,
                     const std::vector<Hardware>& machines);

/// One pass of a request.
struct TracedPass {
  std::string arm;
  std::int64_t index;
  PassWork work;
  PassBound bound;
};
/// All passes of the request of that name, arm by arm; empty: there is none.
std::vector<TracedPass> passes_of_request(const std::vector<Trace>& traces,
                                          const std::string& request, const NetworkSize& network,
                                          const Hardware& machine);

/// The label of the arm that it is of.
std::string arm_of(const Trace& trace);

}  // namespace pardec
