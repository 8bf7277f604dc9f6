#include "src/report/roofline_table.hpp"

#include <algorithm>

#include "src/report/comparison_table.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string machine_text(const Hardware& machine) {
  return str(fixed(machine.bytes_per_second * 1e-9, 1), " GB/s, ",
             fixed(machine.flop_per_second * 1e-12, 2), " TFLOP/s",
             machine.devices == 1 ? ""
                                  : str(" each, ", fixed(machine.link_bytes_per_second * 1e-9, 1),
                                        " GB/s from one to the next"),
             machine.source.empty() ? "" : " (" + machine.source + ")");
}

Table roofline_table(const Roofline& roofline, const std::vector<Hardware>& machines,
                     const std::string& title, const std::string& baseline) {
  Table table;
  table.title = title;
  table.columns = {{"hardware"},
                   {"arm"},
                   {"sequences", Align::right},
                   {"chosen", Align::right},
                   {"passes", Align::right},
                   {"rows per pass", Align::right, "rows_per_pass"},
                   {"seconds at least", Align::right, "seconds"},
                   {"memory-bound", Align::right, "memory_bound"},
                   {"tokens/s at most", Align::right, "tokens_per_second"},
                   {"speedup at most", Align::right, "speedup"}};
  for (size_t m = 0; m < machines.size(); ++m)
    for (const ArmRoofline& row : roofline.by_machine[m])
      table.rows.push_back({machines[m].name, row.arm, number_cell(row.sequences),
                            number_cell(row.chosen), number_cell(row.passes),
                            number_cell(row.rows_per_pass, 1),
                            Cell(fixed(row.seconds, row.seconds < 1 ? 4 : 2), Json(row.seconds)),
                            Cell(percent(row.memory_bound), Json(row.memory_bound)),
                            number_cell(row.tokens_per_second, 1),
                            row.is_baseline ? Cell(kBaselineSpeedup, Json(1.0))
                            : row.speedup   ? number_cell(*row.speedup, 2)
                                            : no_cell()});
  for (const Hardware& machine : machines)
    table.notes.push_back(str(machine.name, ": ", machine_text(machine), "."));
  table.notes.push_back(
      "seconds at least: summed over all passes, the larger of two times: reading all weights and "
      "the attended keys and values, and computing; memory-bound: share of the passes where "
      "reading takes longer. Sequences run in parallel, pass by pass; nothing else of a program is "
      "counted.");
  if (std::any_of(machines.begin(), machines.end(),
                  [](const Hardware& machine) { return machine.devices > 1; }))
    table.notes.push_back(
        "several devices share the network (tensor parallel): equal parts of weights, cache and "
        "operations, and two ring all-reduces in each layer, while the devices continue; latencies "
        "of the link are not counted.");
  if (!roofline.has_baseline)
    table.notes.push_back(str("speedup: no arm of the trace is '", baseline,
                              "'; trace it too, or name another `baseline`."));
  for (const std::string& label : roofline.other_examples)
    table.notes.push_back(str("speedup of ", label, ": it has other examples than ", baseline,
                              "; trace both on the same."));
  for (const std::string& label : roofline.drafts_untraced)
    table.notes.push_back(str(label,
                              ": the passes in which it drafts are in no trace, so its bound is "
                              "too low."));
  return table;
}

Table pass_table(const std::vector<TracedPass>& passes, const std::string& request,
                 const Hardware& machine) {
  Table table;
  table.title = str("Passes of ", request, " on ", machine.name);
  table.columns = {{"arm"},
                   {"pass", Align::right},
                   {"rows", Align::right},
                   {"logits", Align::right},
                   {"cached", Align::right},
                   {"memory ms", Align::right, "memory_ms"},
                   {"compute ms", Align::right, "compute_ms"},
                   {"link ms", Align::right, "link_ms"},
                   {"bound by"}};
  for (const TracedPass& pass : passes)
    table.rows.push_back(
        {pass.arm, number_cell(pass.index), number_cell(pass.work.rows),
         number_cell(pass.work.head_rows), number_cell(pass.work.cached),
         number_cell(1e3 * pass.bound.memory_seconds, 4),
         number_cell(1e3 * pass.bound.compute_seconds, 4),
         machine.devices > 1 ? number_cell(1e3 * pass.bound.link_seconds, 4) : no_cell(),
         pass.bound.limit()});
  return table;
}

}  // namespace pardec
