// Tables of one invocation beside the comparison: what arms fed, and where answers depart.
#include <algorithm>
#include <limits>

#include "metrics/decoding_metrics.hpp"
#include "src/cli/comparison.hpp"
#include "src/cli/stored_answers.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A long text by its beginning; the whole stands behind it in json and csv.
Cell shortened(const std::string& text) {
  constexpr size_t kShown = 40;
  if (text.size() <= kShown) return text;
  size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // not inside a character
  return {text.substr(0, end) + "...", Json(text)};
}

}  // namespace

Table accounting_table(Store& store, const std::string& invocation,
                       std::optional<double> usd_per_hour) {
  Table table;
  table.title = "What each arm fed, chose and cached";
  table.columns = {{"dataset"},
                   {"arm"},
                   {"jobs", Align::right},
                   {"prompt", Align::right},
                   {"forced", Align::right},
                   {"chosen", Align::right},
                   {"fed", Align::right},
                   {"text", Align::right},
                   {"forwards", Align::right},
                   {"parallelism", Align::right},
                   {"attended", Align::right},
                   {"q + K,V", Align::right, "attention_accesses"},
                   {"cached, peak", Align::right, "cached_peak"},
                   {"pads", Align::right},
                   {"prefill s", Align::right, "prefill_seconds"},
                   {"decode s", Align::right, "decode_seconds"}};
  if (usd_per_hour) table.columns.push_back({"USD/1k", Align::right, "usd_per_thousand"});
  for (const auto& run : runs_of(store, invocation)) {
    std::int64_t pads = 0;
    std::vector<BranchLengths> batch;
    const auto close_batch = [&] {
      pads += pad_columns(batch);
      batch.clear();
    };
    for (const auto& job : store.jobs(run.run.id)) {
      batch.push_back(job.counters.branch_lengths);
      if (static_cast<int>(batch.size()) == run.run.batch_size) close_batch();
    }
    close_batch();
    const JobCounters& c = run.totals;
    table.rows.push_back(
        {run.run.dataset.name, run.run.label, number_cell(run.jobs), number_cell(c.prompt_tokens),
         number_cell(c.forced), number_cell(c.chosen), number_cell(c.fed),
         number_cell(c.text_tokens), number_cell(c.forwards),
         number_cell(c.forwards ? static_cast<double>(c.chosen) / static_cast<double>(c.forwards)
                                : std::nan(""),
                     2),
         number_cell(c.attended), number_cell(c.fed + c.cached_sum), number_cell(c.cached_peak),
         number_cell(pads), number_cell(static_cast<double>(c.prefill_ns) * 1e-9, 2),
         number_cell(static_cast<double>(c.decode_ns) * 1e-9, 2)});
    if (usd_per_hour)
      table.rows.back().push_back(
          number_cell(usd_per_thousand(static_cast<double>(run.measured_examples) /
                                           (static_cast<double>(run.measured_wall_ns) * 1e-9),
                                       *usd_per_hour),
                      4));
  }
  table.notes.push_back(
      "prompt, forced (skeleton), chosen, fed, text: tokens summed over jobs; forwards: passes a "
      "job took part in; parallelism: chosen / forwards.");
  table.notes.push_back(
      "attended: keys seen, over all tokens fed; q + K,V: memory accesses of attention as the IPPD "
      "paper counts them (appendix A.2), queries and cached rows of every pass and sequence.");
  table.notes.push_back(
      "pads: dummy tokens that an implementation with padded batches would have fed in batches of "
      "this size; here batches are packed and none are.");
  table.notes.push_back(
      "prefill and decode: latencies summed over jobs; where several are in flight they overlap.");
  return table;
}

Table differences_table(Store& store, const std::string& invocation, int limit) {
  const auto runs = runs_of(store, invocation);
  Table table;
  table.title = "Where answers depart from the baseline's";
  table.columns = {{"dataset"},
                   {"arm"},
                   {"sample"},
                   {"field"},
                   {"baseline"},
                   {"answer"},
                   {"token", Align::right},
                   {"logit gap", Align::right, "logit_gap"}};
  struct Row {
    double gap;
    std::vector<Cell> cells;
  };
  std::vector<Row> found;
  for (const auto& method : runs) {
    const RunSummary* baseline = find_baseline(runs, method, "");
    if (!baseline || method.run.oracle) continue;
    const RunAnswers theirs = read_answers(store, baseline->run.id),
                     ours = read_answers(store, method.run.id);
    for (const auto& [key, answered] : ours.by_sample) {
      const auto other = theirs.by_sample.find(key);
      if (other == theirs.by_sample.end() || answered.generation.row.error ||
          other->second.generation.row.error)
        continue;
      const Identity identity = compare_fields(other->second, answered);
      if (identity.identical) continue;
      std::string field, before, after;
      const auto& fields = answered.generation.row.fields;
      for (size_t f = 0; f < fields.size() && field.empty(); ++f) {
        const auto& base = other->second.generation.row.fields;
        if (f < base.size() && base[f].text == fields[f].text) continue;
        field = fields[f].name;
        before = f < base.size() ? base[f].text : "";
        after = fields[f].text;
      }
      const double gap = identity.gap.value_or(std::numeric_limits<double>::infinity());
      found.push_back({gap,
                       {method.run.dataset.name, method.run.label, key.first, field,
                        shortened(before), shortened(after),
                        number_cell(identity.first_difference.value_or(-1)), number_cell(gap, 4)}});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Row& a, const Row& b) { return a.gap < b.gap; });
  for (size_t i = 0; i < found.size() && (limit <= 0 || static_cast<int>(i) < limit); ++i)
    table.rows.push_back(std::move(found[i].cells));
  table.notes.push_back(str(found.size(),
                            " answers differ; token: index of the first that differs among the "
                            "answer's value tokens; logit gap: best minus second best there."));
  return table;
}

}  // namespace pardec
