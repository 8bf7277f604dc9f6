// `pardec roofline`: what the passes of a trace take at least on some hardware.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "decoders/decoder.hpp"
#include "metrics/roofline.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/network_size.hpp"
#include "src/cli/project_files.hpp"
#include "src/cli/traces.hpp"
#include "src/cli/workload.hpp"
#include "src/model/device.hpp"
#include "src/model/machine.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct RooflineFlags {
  std::string trace, model, draft_model, dtype = "bf16", baseline = kPlainDecoder, passes, format = "md";
  std::vector<std::string> hardware{"here"};
  int batch_size = 1, threads = 0;
};

std::string arm_of(const Trace& trace) { return trace.arm.empty() ? trace.decoder : trace.arm; }

/// What each pass of a trace does.
std::vector<PassWork> passes_of(const Trace& trace) {
  std::vector<PassWork> passes;  // a step that only waited, or was taken back, has no row and none
  std::vector<int> seen_in(trace.tokens.size(), -1);  // the last pass that a row was seen in
  for (size_t row = 0; row < trace.tokens.size(); ++row) {
    const int step = trace.step[row];
    if (row == 0 || step != trace.step[row - 1]) passes.emplace_back();
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

/// One arm's traces, as passes in which up to --batch-size sequences go side by side.
struct ArmWork {
  std::set<std::string> examples, decoders;
  std::int64_t sequences = 0, chosen = 0;
  std::vector<PassWork> own, drafted;  // passes of the network, and of the draft network
};

/// Their passes, up to `batch_size` traces side by side in file order.
std::vector<PassWork> side_by_side(const std::vector<const Trace*>& traces, int batch_size) {
  std::vector<PassWork> passes, joined;
  for (size_t i = 0; i < traces.size(); ++i) {
    const auto own = passes_of(*traces[i]);
    joined.resize(std::max(joined.size(), own.size()));
    for (size_t pass = 0; pass < own.size(); ++pass) joined[pass] += own[pass];
    if ((i + 1) % static_cast<size_t>(batch_size) != 0 && i + 1 < traces.size()) continue;
    passes.insert(passes.end(), joined.begin(), joined.end());
    joined.clear();
  }
  return passes;
}

ArmWork work_of(const std::vector<const Trace*>& traces, int batch_size) {
  ArmWork work;
  std::vector<const Trace*> own, drafts;
  for (const Trace* trace : traces) {
    work.decoders.insert(trace->decoder);
    (trace->model.empty() ? own : drafts).push_back(trace);
  }
  for (const Trace* trace : own) {
    if (trace->examples.empty())
      work.examples.insert(trace->request);
    else
      work.examples.insert(trace->examples.begin(), trace->examples.end());
    work.chosen += std::ssize(trace->emitted);
  }
  work.sequences = std::ssize(own);
  work.own = side_by_side(own, batch_size);
  work.drafted = side_by_side(drafts, batch_size);
  return work;
}

NetworkSize size_of_network(const std::filesystem::path& model, Dtype dtype) {
  std::error_code ignored;
  return network_size(std::filesystem::is_regular_file(model, ignored)
                          ? parse_model_config(read_json(model), model.string())
                          : read_model_config(model),
                      dtype);
}

/// `here` is measured; else hardware/NAME.json of the project, or a file of that form.
Hardware read_hardware(const std::string& which, Dtype dtype) {
  if (which == "here") {
    const MachineSpeed speed = measure_machine(dtype);
    return {str("here, ", threads(), threads() == 1 ? " thread" : " threads"), "measured now",
            speed.bytes_per_second, speed.flop_per_second};
  }
  std::error_code ignored;
  const bool named = which.find('/') == std::string::npos && !which.ends_with(".json");
  const std::filesystem::path file =
      named ? project_file("hardware") / (which + ".json") : std::filesystem::path(which);
  if (named && !std::filesystem::exists(file, ignored)) {
    std::vector<std::string> known{"here"};
    for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
      known.push_back(entry.path().stem().string());
    std::sort(known.begin(), known.end());
    throw ConfigError(
        str("--hardware: '", which, "' is neither known nor a file", known_names(which, known)));
  }
  const Json json = read_json(file);
  JsonReader read(json, file.string());
  Hardware hardware;
  hardware.name = read.required<std::string>("name");
  hardware.source = read.optional<std::string>("source", "");
  hardware.bytes_per_second = 1e9 * read.required<double>("bandwidth_gb_s");
  const Json by_type = read.any("tflop_s");
  read.finish();
  JsonReader speeds(by_type, read.where("tflop_s"));
  const auto speed = speeds.maybe<double>(std::string(name(computing(dtype))));
  if (!speed)
    throw ConfigError(str(file.string(), ": 'tflop_s' has no '", name(computing(dtype)),
                          "', expected its dense TFLOP/s; or give another --dtype"));
  hardware.flop_per_second = 1e12 * *speed;
  if (!(hardware.bytes_per_second > 0 && hardware.flop_per_second > 0))
    throw ConfigError(str(file.string(), ": bandwidth and FLOP/s must be above 0"));
  return hardware;
}

bool drafts_untraced(const ArmWork& work) {
  return std::any_of(decoders().begin(), decoders().end(), [&](const DecoderEntry& entry) {
    return entry.drafts_untraced && work.decoders.contains(std::string(entry.name));
  });
}

struct ArmBound {
  double seconds = 0, memory_bound = 0;  // memory_bound: seconds of passes that memory limits
};

ArmBound bound_of(const ArmWork& work, const NetworkSize& network,
                  const std::optional<NetworkSize>& draft, const Hardware& hardware) {
  ArmBound bound;
  const auto add = [&](const std::vector<PassWork>& passes, const NetworkSize& size) {
    for (const PassWork& pass : passes) {
      const PassBound one = pass_bound(pass, size, hardware);
      bound.seconds += one.seconds();
      if (one.memory_seconds >= one.compute_seconds) bound.memory_bound += one.seconds();
    }
  };
  add(work.own, network);
  if (draft) add(work.drafted, *draft);
  return bound;
}

Table summary(const RooflineFlags& flags, const std::map<std::string, ArmWork>& arms,
              const std::vector<std::string>& order, const NetworkSize& network,
              const std::optional<NetworkSize>& draft, const std::vector<Hardware>& machines) {
  Table table;
  table.title =
      str("What the hardware allows: ", flags.model, ", ", flags.dtype, ", ", flags.batch_size,
          flags.batch_size == 1 ? " sequence" : " sequences", " in a pass");
  table.columns = {{"hardware"},
                   {"arm"},
                   {"sequences", Align::right},
                   {"chosen", Align::right},
                   {"passes", Align::right},
                   {"rows/pass", Align::right, "rows_per_pass"},
                   {"seconds at least", Align::right, "seconds"},
                   {"memory-bound", Align::right, "memory_bound"},
                   {"tokens/s at most", Align::right, "tokens_per_second"},
                   {"speedup at most", Align::right, "speedup"}};
  const auto baseline = arms.find(flags.baseline);
  for (const Hardware& machine : machines)
    for (const std::string& label : order) {
      const ArmWork& work = arms.at(label);
      const ArmBound bound = bound_of(work, network, draft, machine);
      PassWork all;
      for (const PassWork& pass : work.own) all += pass;
      Cell speedup = no_cell();
      if (baseline != arms.end() && label == flags.baseline)
        speedup = Cell("1 (baseline)", Json(1.0));
      else if (baseline != arms.end() && baseline->second.examples == work.examples)
        speedup = number_cell(
            bound_of(baseline->second, network, draft, machine).seconds / bound.seconds, 2);
      const auto passes = std::ssize(work.own);
      const double share = bound.memory_bound / bound.seconds;
      table.rows.push_back(
          {machine.name, label, number_cell(work.sequences), number_cell(work.chosen),
           number_cell(static_cast<std::int64_t>(passes)),
           number_cell(static_cast<double>(all.rows) / static_cast<double>(passes), 1),
           Cell(fixed(bound.seconds, bound.seconds < 1 ? 4 : 2), Json(bound.seconds)),
           Cell(percent(share), Json(share)),
           number_cell(static_cast<double>(work.chosen) / bound.seconds, 1), speedup});
    }
  for (const Hardware& machine : machines)
    table.notes.push_back(str(machine.name, ": ", fixed(machine.bytes_per_second * 1e-9, 1),
                              " GB/s, ", fixed(machine.flop_per_second * 1e-12, 2), " TFLOP/s",
                              machine.source.empty() ? "" : " (" + machine.source + ")", "."));
  table.notes.push_back(
      "seconds at least: over all passes, the larger of moving all weights and the cached keys and "
      "values that are seen, and computing; memory-bound: the share of them where moving is the "
      "larger. Sequences go side by side pass by pass; nothing else of a program is counted.");
  if (baseline == arms.end())
    table.notes.push_back(str("speedup: no arm of the trace is '", flags.baseline,
                              "'; trace it too, or name another --baseline."));
  else
    for (const std::string& label : order)
      if (arms.at(label).examples != baseline->second.examples)
        table.notes.push_back(str("speedup of ", label, ": it has other examples than ",
                                  flags.baseline, "; trace both on the same."));
  for (const std::string& label : order)
    if (drafts_untraced(arms.at(label)))
      table.notes.push_back(str(label,
                                ": the passes in which it drafts are in no trace, so its "
                                "bound is too low."));
  return table;
}

Table pass_table(const RooflineFlags& flags, const std::vector<Trace>& traces,
                 const NetworkSize& network, const Hardware& machine) {
  Table table;
  table.title = str("Passes of ", flags.passes, " on ", machine.name);
  table.columns = {{"arm"},
                   {"pass", Align::right},
                   {"rows", Align::right},
                   {"logits", Align::right},
                   {"cached", Align::right},
                   {"memory ms", Align::right, "memory_ms"},
                   {"compute ms", Align::right, "compute_ms"},
                   {"bound by"}};
  std::set<std::string> known;
  for (const Trace& trace : traces) {
    known.insert(trace.request);
    if (trace.request != flags.passes || !trace.model.empty()) continue;
    std::int64_t index = 0;
    for (const PassWork& pass : passes_of(trace)) {
      const PassBound bound = pass_bound(pass, network, machine);
      table.rows.push_back({arm_of(trace), number_cell(index++), number_cell(pass.rows),
                            number_cell(pass.head_rows), number_cell(pass.cached),
                            number_cell(1e3 * bound.memory_seconds, 4),
                            number_cell(1e3 * bound.compute_seconds, 4),
                            bound.memory_seconds >= bound.compute_seconds ? "memory" : "compute"});
    }
  }
  if (table.rows.empty())
    throw ConfigError(str("--passes: ", flags.trace, " has no request '", flags.passes, "'",
                          known_names(flags.passes, {known.begin(), known.end()})));
  return table;
}

int roofline(const RooflineFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const Dtype dtype = parse_dtype(flags.dtype);
  check_at_least("--batch-size", flags.batch_size, 1);
  check_at_least("--threads", flags.threads, 0);
  if (flags.trace.empty())
    throw ConfigError("no trace was named; give --trace FILE, as run --trace FILE writes it");
  if (flags.model.empty())
    throw ConfigError("no network was named; give --model DIR, or a config.json");
  set_threads(flags.threads);
  const NetworkSize network = size_of_network(flags.model, dtype);
  std::optional<NetworkSize> draft;
  if (!flags.draft_model.empty()) draft = size_of_network(flags.draft_model, dtype);
  const std::vector<Trace> traces = read_traces(flags.trace);
  std::map<std::string, std::vector<const Trace*>> by_arm;
  std::vector<std::string> order;
  for (const Trace& trace : traces) {
    if (!trace.model.empty() && !draft)
      throw ConfigError(str(flags.trace, ": ", arm_of(trace),
                            " has passes of a draft network; name it by --draft-model"));
    auto& of_arm = by_arm[arm_of(trace)];
    if (of_arm.empty()) order.push_back(arm_of(trace));
    of_arm.push_back(&trace);
  }
  if (order.empty()) throw ConfigError(str(flags.trace, ": holds no trace"));
  std::vector<Hardware> machines;
  for (const auto& which : flags.hardware) machines.push_back(read_hardware(which, dtype));
  if (!flags.passes.empty()) {
    for (const Hardware& machine : machines)
      std::cout << render(pass_table(flags, traces, network, machine), format);
    return 0;
  }
  std::map<std::string, ArmWork> arms;
  for (const auto& [label, of_arm] : by_arm) arms[label] = work_of(of_arm, flags.batch_size);
  std::cout << render(summary(flags, arms, order, network, draft, machines), format);
  return 0;
}

}  // namespace

Verb roofline_verb() {
  return {
      "roofline", "what the passes of a trace take at least on some hardware",
      "pardec roofline --trace t.jsonl --model DIR --hardware here,l40s,h100\n  pardec roofline "
      "--trace t.jsonl --model qwen3-8b/config.json --hardware h200 --batch-size 8\n  pardec "
      "roofline --trace t.jsonl --model DIR --passes test-3",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<RooflineFlags>();
        app.add_option("--trace", flags->trace, "what run or generate wrote by --trace")
            ->type_name("FILE");
        app.add_option("--model", flags->model,
                       "the network whose passes they are to be: a checkpoint, or a config.json "
                       "alone; it need not be the one that was traced")
            ->type_name("DIR");
        app.add_option("--draft-model", flags->draft_model, "the same of the draft network")
            ->type_name("DIR");
        app.add_option("--hardware", flags->hardware,
                       "here (measured), a800, h100, h200, l40s, or a file like hardware/*.json")
            ->delimiter(',')
            ->capture_default_str()
            ->type_name("A,B");
        app.add_option("--dtype", flags->dtype,
                       "type of weights and cache: bf16, fp32, fp64; int8, nf4: "
                       "of layers' weights")
            ->capture_default_str()
            ->type_name("TYPE");
        app.add_option("--batch-size", flags->batch_size, "sequences side by side in a pass")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--baseline", flags->baseline, "arm that the others are compared with")
            ->capture_default_str()
            ->type_name("LABEL");
        app.add_option("--passes", flags->passes, "list the passes of this request instead")
            ->type_name("REQUEST");
        app.add_option("--threads", flags->threads, "CPU threads for 'here'; 0: all cores")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--format", flags->format, "md, csv, csv-safe, json, jsonl or latex")
            ->capture_default_str()
            ->type_name("FORMAT");
        return [flags] { return roofline(*flags); };
      }};
}

}  // namespace pardec
