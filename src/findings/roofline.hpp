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

/// Lower bounds on the time of traced passes on given hardware.
namespace pardec {

/// Size of the network in a checkpoint folder or of a config.json without weights. ModelError.
NetworkSize size_of_network(const std::filesystem::path& model, Dtype dtype);

/// `which`: `here` measures this machine; NAME reads experiments/hardware/NAME.json of the project;
/// a path reads a file of the same form; NAMExN stands for N devices with tensor parallelism.
/// ConfigError.
Hardware read_hardware(const std::string& which, Dtype dtype);

/// The NAME in experiments/hardware of a GPU, by a word of the name that its driver reports
/// ("NVIDIA H100 80GB HBM3": h100). Empty: none has it.
std::string hardware_of_gpu(const std::string& gpu);

/// The network, its draft network, and how traces are combined.
struct RooflineSetting {
  NetworkSize network;
  std::optional<NetworkSize> draft;
  int batch_size = 1;  ///< number of concurrent sequences, which share passes
  std::string baseline;
};

/// The work of the passes of one trace, or of several traces whose requests run concurrently
/// (fields of a job that are asked separately, points of a skeleton).
struct TraceWork {
  std::string decoder, arm, dataset;
  std::set<std::string> examples;  ///< ids; for a prompt without an example, the prompt's name
  bool drafts;                     ///< whether it is of the draft network
  std::int64_t chosen;
  std::vector<PassWork> passes;
  std::set<std::string> requests;  ///< names
  std::string group;               ///< as in Trace
};
/// Appends the work of a trace, or adds it to the concurrent work of its group. Rows that forks
/// inherit from one prefix count once.
void add_work(std::vector<TraceWork>& works, const Trace& trace);
/// The work of each trace in a file written by `--trace`. ConfigError, with file and line.
std::vector<TraceWork> read_works(const std::filesystem::path& file);

/// The least time that these works take in sequence, in seconds.
double least_seconds(const std::vector<const TraceWork*>& works, const RooflineSetting& setting,
                     const Hardware& machine);

/// Whether its decoder has drafting passes that are in no trace.
bool drafts_untraced(const TraceWork& work);

/// One arm on one machine.
struct ArmRoofline {
  std::string arm;
  std::int64_t sequences, chosen, passes;
  double rows_per_pass;
  double seconds;       ///< lower bound
  double memory_bound;  ///< share of the time in passes that are limited by memory
  double tokens_per_second;
  bool is_baseline;
  /// upper bound; none: there is no baseline, or it has other examples
  std::optional<double> speedup;
};

/// Bounds of all arms, in the order of their traces.
struct Roofline {
  std::vector<std::vector<ArmRoofline>> by_machine;
  bool has_baseline = false;
  std::vector<std::string> other_examples;   ///< arms with other examples than the baseline
  std::vector<std::string> drafts_untraced;  ///< arms with passes that are in no trace
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
/// All passes of the request with this name, by arm; empty: there is no such request.
std::vector<TracedPass> passes_of_request(const std::vector<Trace>& traces,
                                          const std::string& request, const NetworkSize& network,
                                          const Hardware& machine);

/// The label of the trace's arm.
std::string arm_of(const Trace& trace);

}  // namespace pardec
