#include "src/findings/roofline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "decoders/decoder.hpp"
#include "src/checkpoint/network_size.hpp"
#include "src/findings/traces.hpp"
#include "src/model/device.hpp"
#include "src/model/machine.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/gguf.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The work of each pass of a trace, for its rows from `first` on.
std::vector<PassWork> passes_of(const Trace& trace, int first = 0) {
  // a step that only waited or was taken back has no rows, and no entry
  std::vector<PassWork> passes;
  std::vector<int> seen_in(trace.tokens.size(), -1);  // the last pass in which a row was visible
  for (size_t row = 0; row < trace.tokens.size(); ++row) {
    const int step = trace.step[row];
    if (row == 0 || step != trace.step[row - 1]) passes.emplace_back();
    if (std::cmp_less(row, first)) continue;
    PassWork& pass = passes.back();
    ++pass.rows;
    pass.head_rows += trace.predicts[row].has_value();
    pass.pairs += std::ssize(trace.visible[row]);
    for (const int key : trace.visible[row]) {
      const auto k = static_cast<size_t>(key);
      if (trace.step[k] == step || seen_in[k] == step) continue;
      seen_in[k] = step;
      ++pass.cached;
    }
  }
  return passes;
}

using Works = std::vector<const TraceWork*>;

/// Adds passes of traces that begin with the same pass.
void add_passes(std::vector<PassWork>& passes, const std::vector<PassWork>& others) {
  passes.resize(std::max(passes.size(), others.size()));
  for (size_t pass = 0; pass < others.size(); ++pass) passes[pass] += others[pass];
}

/// The passes of traces, combined in order into groups of up to `batch_size` concurrent traces.
std::vector<PassWork> side_by_side(const Works& traces, int batch_size) {
  std::vector<PassWork> passes, joined;
  for (size_t i = 0; i < traces.size(); ++i) {
    add_passes(joined, traces[i]->passes);
    if ((i + 1) % static_cast<size_t>(batch_size) != 0 && i + 1 < traces.size()) continue;
    passes.insert(passes.end(), joined.begin(), joined.end());
    joined.clear();
  }
  return passes;
}

/// Lower bounds for the traces of one arm.
struct ArmBound {
  double seconds = 0, memory_seconds = 0;  // memory_seconds: in passes limited by memory
  std::int64_t sequences = 0, chosen = 0, passes = 0, rows = 0;  // of the network itself
};

ArmBound bound_of(const Works& traces, const RooflineSetting& setting, const Hardware& machine) {
  Works own, drafts;
  ArmBound bound;
  for (const TraceWork* trace : traces) {
    (trace->drafts ? drafts : own).push_back(trace);
    if (trace->drafts) continue;
    bound.sequences += std::ssize(trace->requests);
    bound.chosen += trace->chosen;
  }
  const auto add = [&](const PassWork& pass, const NetworkSize& size) {
    const PassBound one = pass_bound(pass, size, machine);
    bound.seconds += one.seconds();
    if (one.memory_seconds >= one.seconds()) bound.memory_seconds += one.seconds();
  };
  for (const PassWork& pass : side_by_side(own, setting.batch_size)) {
    add(pass, setting.network);
    ++bound.passes;
    bound.rows += pass.rows;
  }
  if (setting.draft)
    for (const PassWork& pass : side_by_side(drafts, setting.batch_size)) add(pass, *setting.draft);
  return bound;
}

/// "a800x8": name of the device, and number of devices.
std::pair<std::string, int> several_devices(bool named, const std::string& which) {
  const auto x = which.rfind('x');
  if (!named || x == std::string::npos || x == 0 || x + 1 == which.size() ||
      which.find_first_not_of("0123456789", x + 1) != std::string::npos)
    return {which, 1};
  const std::string count = which.substr(x + 1);
  if (count.size() > 4 || std::stoi(count) < 1)
    throw ConfigError(
        str("`hardware`: '", which, "' is of ", count, " devices, expected 1 to 9999"));
  return {which.substr(0, x), std::stoi(count)};
}

}  // namespace

std::string arm_of(const Trace& trace) { return trace.arm.empty() ? trace.decoder : trace.arm; }

NetworkSize size_of_network(const std::filesystem::path& model, Dtype dtype) {
  std::error_code ignored;
  return network_size(std::filesystem::is_regular_file(model, ignored) && !gguf_file(model)
                          ? parse_model_config(read_json(model), model.string())
                          : read_model_config(model),
                      dtype);
}

std::string hardware_of_gpu(const std::string& gpu) {
  const std::vector<std::string> words = split(replace_all(lower_ascii(gpu), "-", " "), ' ');
  for (const auto& entry :
       std::filesystem::directory_iterator(project_file("experiments/hardware")))
    if (const std::string name = entry.path().stem().string();
        std::find(words.begin(), words.end(), name) != words.end())
      return name;
  return "";
}

Hardware read_hardware(const std::string& which, Dtype dtype) {
  if (which == "here") {
    const MachineSpeed speed = measure_machine(dtype);
    return {str("here, ", counted(threads(), "thread")), "measured now", speed.bytes_per_second,
            speed.flop_per_second};
  }
  std::error_code ignored;
  const bool named = which.find('/') == std::string::npos && !which.ends_with(".json");
  const auto [name_of_one, devices] = several_devices(named, which);
  const std::filesystem::path file =
      named ? project_file("experiments/hardware") / (name_of_one + ".json")
            : std::filesystem::path(which);
  if (named && !std::filesystem::exists(file, ignored)) {
    std::vector<std::string> known{"here"};
    for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
      known.push_back(entry.path().stem().string());
    std::sort(known.begin(), known.end());
    throw ConfigError(str("`hardware`: '", name_of_one, "' is neither known nor a file",
                          known_names(name_of_one, known)));
  }
  const Json json = read_json(file);
  JsonReader read(json, file.string());
  Hardware hardware;
  hardware.name = read.required<std::string>("name");
  hardware.source = read.optional<std::string>("source", "");
  hardware.bytes_per_second = 1e9 * read.required<double>("bandwidth_gb_s");
  hardware.link_bytes_per_second = 1e9 * read.optional<double>("link_gb_s", 0);
  hardware.devices = devices;
  if (devices > 1) hardware.name = str(devices, " x ", hardware.name);
  const Json by_type = read.any("tflop_s");
  read.finish();
  JsonReader speeds(by_type, read.where("tflop_s"));
  const auto speed = speeds.maybe<double>(std::string(name(computing(dtype))));
  if (!speed)
    throw ConfigError(str(file.string(), ": 'tflop_s' has no '", name(computing(dtype)),
                          "', expected its dense TFLOP/s; or give another `dtype`"));
  hardware.flop_per_second = 1e12 * *speed;
  if (!(hardware.bytes_per_second > 0 && hardware.flop_per_second > 0))
    throw ConfigError(str(file.string(), ": bandwidth and FLOP/s must be above 0"));
  if (devices > 1 && !(hardware.link_bytes_per_second > 0))
    throw ConfigError(str(file.string(),
                          ": 'link_gb_s' is missing or not above 0, expected GB/s from one device "
                          "to the next, since several share the network"));
  return hardware;
}

void add_work(std::vector<TraceWork>& works, const Trace& trace) {
  TraceWork work{.decoder = trace.decoder,
                 .arm = arm_of(trace),
                 .dataset = trace.dataset,
                 .examples = {trace.examples.begin(), trace.examples.end()},
                 .drafts = !trace.model.empty(),
                 .chosen = std::ssize(trace.emitted),
                 .passes = {},
                 .requests = {trace.request},
                 .group = trace.group};
  if (work.examples.empty()) work.examples.insert(trace.request);
  const auto goes_beside = [&](const TraceWork& other) {
    return other.examples == work.examples && other.arm == work.arm &&
           other.dataset == work.dataset && other.drafts == work.drafts &&
           other.group == work.group && !other.requests.contains(trace.request);
  };
  const auto beside =
      work.group.empty() ? works.rend() : std::find_if(works.rbegin(), works.rend(), goes_beside);
  if (beside == works.rend()) {
    work.passes = passes_of(trace);
    works.push_back(std::move(work));
    return;
  }
  add_passes(beside->passes, passes_of(trace, trace.inherited));
  beside->chosen += work.chosen;
  beside->requests.insert(trace.request);
}

std::vector<TraceWork> read_works(const std::filesystem::path& file) {
  std::vector<TraceWork> works;
  each_trace(file, [&](const Trace& trace) { add_work(works, trace); });
  return works;
}

double least_seconds(const std::vector<const TraceWork*>& works, const RooflineSetting& setting,
                     const Hardware& machine) {
  return bound_of(works, setting, machine).seconds;
}

bool drafts_untraced(const TraceWork& work) {
  return std::any_of(decoders().begin(), decoders().end(), [&](const DecoderEntry& entry) {
    return entry.drafts_untraced && entry.name == work.decoder;
  });
}

Roofline roofline_of(const std::vector<Trace>& traces, const RooflineSetting& setting,
                     const std::vector<Hardware>& machines) {
  struct Arm {
    std::set<std::string> examples;
    std::vector<TraceWork> works;
  };
  std::map<std::string, Arm> arms;
  std::vector<std::string> order;
  for (const Trace& trace : traces) {
    Arm& arm = arms[arm_of(trace)];
    if (arm.works.empty()) order.push_back(arm_of(trace));
    add_work(arm.works, trace);
  }
  for (auto& [label, arm] : arms)
    for (const TraceWork& work : arm.works)
      if (!work.drafts) arm.examples.insert(work.examples.begin(), work.examples.end());
  const auto bound_on = [&](const Arm& arm, const Hardware& machine) {
    Works works;
    for (const TraceWork& work : arm.works) works.push_back(&work);
    return bound_of(works, setting, machine);
  };
  const auto baseline = arms.find(setting.baseline);
  Roofline roofline;
  roofline.has_baseline = baseline != arms.end();
  for (const Hardware& machine : machines) {
    auto& rows = roofline.by_machine.emplace_back();
    for (const std::string& label : order) {
      const Arm& arm = arms.at(label);
      const ArmBound bound = bound_on(arm, machine);
      ArmRoofline& row = rows.emplace_back(ArmRoofline{
          label, bound.sequences, bound.chosen, bound.passes,
          static_cast<double>(bound.rows) / static_cast<double>(bound.passes), bound.seconds,
          bound.memory_seconds / bound.seconds, static_cast<double>(bound.chosen) / bound.seconds,
          label == setting.baseline, std::nullopt});
      if (roofline.has_baseline && !row.is_baseline && baseline->second.examples == arm.examples)
        row.speedup = bound_on(baseline->second, machine).seconds / bound.seconds;
    }
  }
  for (const std::string& label : order) {
    const Arm& arm = arms.at(label);
    if (roofline.has_baseline && arm.examples != baseline->second.examples)
      roofline.other_examples.push_back(label);
    if (std::any_of(arm.works.begin(), arm.works.end(), drafts_untraced))
      roofline.drafts_untraced.push_back(label);
  }
  return roofline;
}

std::vector<TracedPass> passes_of_request(const std::vector<Trace>& traces,
                                          const std::string& request, const NetworkSize& network,
                                          const Hardware& machine) {
  std::vector<TracedPass> passes;
  for (const Trace& trace : traces) {
    if (trace.request != request || !trace.model.empty()) continue;
    std::int64_t index = 0;
    for (const PassWork& work : passes_of(trace))
      passes.push_back({arm_of(trace), index++, work, pass_bound(work, network, machine)});
  }
  return passes;
}

}  // namespace pardec
