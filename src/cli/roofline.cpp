// `pardec roofline`: the least time of traced passes on given hardware.
#include <algorithm>
#include <iostream>
#include <memory>

#include "decoders/decoder.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/table_output.hpp"
#include "src/findings/traces.hpp"
#include "src/model/device.hpp"
#include "src/report/roofline_table.hpp"
#include "src/support/checks.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/number_text.hpp"

namespace pardec {

namespace {

struct RooflineFlags {
  std::string trace, model, draft_model, dtype = "bf16", baseline = kPlainDecoder, passes,
                                         format = "text";
  std::vector<std::string> hardware{"here"};
  int batch_size = 1, threads = 0;
};

int roofline(const RooflineFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const Dtype dtype = parse_dtype(flags.dtype);
  check_at_least("batch_size", flags.batch_size, 1);
  check_at_least("threads", flags.threads, 0);
  if (flags.trace.empty())
    throw ConfigError("no trace was named; give --trace FILE, as run --trace FILE writes it");
  if (flags.model.empty())
    throw ConfigError("no network was named; give --model DIR, or a config.json");
  set_threads(flags.threads);
  RooflineSetting setting{size_of_network(flags.model, dtype), std::nullopt, flags.batch_size,
                          flags.baseline};
  if (!flags.draft_model.empty()) setting.draft = size_of_network(flags.draft_model, dtype);
  const std::vector<Trace> traces = read_traces(flags.trace);
  for (const Trace& trace : traces)
    if (!trace.model.empty() && !setting.draft)
      throw ConfigError(str(flags.trace, ": ", arm_of(trace),
                            " has passes of a draft network; name it with --draft-model"));
  if (traces.empty()) throw ConfigError(str(flags.trace, ": holds no trace"));
  std::vector<Hardware> machines;
  for (const auto& which : flags.hardware) machines.push_back(read_hardware(which, dtype));
  if (flags.passes.empty()) {
    const std::string title = str("What the hardware allows: ", flags.model, ", ", flags.dtype,
                                  ", ", counted(flags.batch_size, "sequence"), " in a pass");
    print_table(
        roofline_table(roofline_of(traces, setting, machines), machines, title, flags.baseline),
        format);
    return 0;
  }
  TablePrinter printer(format);
  for (const Hardware& machine : machines) {
    const auto passes = passes_of_request(traces, flags.passes, setting.network, machine);
    if (passes.empty()) {
      std::vector<std::string> known;
      for (const Trace& trace : traces) known.push_back(trace.request);
      std::sort(known.begin(), known.end());
      known.erase(std::unique(known.begin(), known.end()), known.end());
      throw ConfigError(str("--passes: ", flags.trace, " has no request '", flags.passes, "'",
                            known_names(flags.passes, known)));
    }
    printer.print(pass_table(passes, flags.passes, machine));
  }
  printer.finish();
  return 0;
}

}  // namespace

Verb roofline_verb() {
  return {
      "roofline",
      "compute the least time that the passes of a trace take on given hardware",
      "pardec roofline --trace t.jsonl --model DIR --hardware here,l40s,h100\n  pardec roofline "
      "--trace t.jsonl --model qwen3-8b/config.json --hardware h200 --batch-size 8\n  pardec "
      "roofline --trace t.jsonl --model DIR --passes test-3",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<RooflineFlags>();
        app.add_option("--trace", flags->trace, "trace that run or generate wrote (--trace)")
            ->type_name("FILE");
        app.add_option("--model", flags->model,
                       "network for which the passes are computed: a checkpoint, or just a "
                       "config.json; it need not be the traced one")
            ->transform(checkpoint_path)
            ->type_name("DIR");
        app.add_option("--draft-model", flags->draft_model,
                       "network for which the passes of the draft network are computed, in the "
                       "same form as --model")
            ->transform(checkpoint_path)
            ->type_name("DIR");
        app.add_option("--hardware", flags->hardware,
                       "here (measured), a100, a800, h100, h200, h800, l40s, a800x8 (eight, tensor "
                       "parallel) ..., or a file like "
                       "experiments/hardware/*.json")
            ->delimiter(',')
            ->capture_default_str()
            ->type_name("A,B");
        app.add_option("--dtype", flags->dtype,
                       "number type of weights and cache: bf16, fp32 or fp64; int8 or nf4: only "
                       "for the layers' weights; gguf: for a GGUF file's weights")
            ->capture_default_str()
            ->type_name("TYPE");
        app.add_option("--batch-size", flags->batch_size, "number of sequences in a pass")
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
        add_format(app, flags->format);
        return [flags] { return roofline(*flags); };
      },
      {},
      {},
      {"--trace"}};
}

}  // namespace pardec
