// `pardec data stats --attention`: the cost of attention by the model of the IPPD paper.
#include <iostream>
#include <map>

#include "src/cli/data.hpp"
#include "src/cli/table_output.hpp"
#include "src/findings/corpus.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/table.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/protocol.hpp"

namespace pardec {

namespace {

/// The means for which the model is evaluated, and its results; letters are the paper's.
std::vector<Cell> attention_row(std::vector<Cell> dataset, std::int64_t examples, double m,
                                double p, double c, double x, double y,
                                const AttentionStats* exact) {
  const AttentionRatios ratios = attention_ratios(m, p, c, x, y);
  const auto cell = [](double value) { return number_cell(value, 3); };
  return with_dataset(
      std::move(dataset),
      {number_cell(examples), number_cell(m, 2), number_cell(p, 2), number_cell(c, 2),
       number_cell(x, 2), number_cell(y, 2), cell(ratios.prefill_flop_factor),
       cell(ratios.prefill_access_ratio), cell(ratios.decode_flop_factor),
       cell(ratios.pcpa_prefill_intensity), cell(ratios.ippd_prefill_intensity),
       cell(ratios.pcpa_decode_intensity), cell(ratios.ippd_decode_intensity),
       exact ? cell(total_flop_factor(*exact)) : Cell("-", Json()),
       exact ? cell(total_access_ratio(*exact)) : Cell("-", Json())});
}

}  // namespace

int attention_stats(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  if (flags.contexts < 1)
    throw ConfigError(str("--contexts is ", flags.contexts, ", expected at least 1"));
  const Tokenizer tokenizer = tokenizer_of(flags);
  Table table;
  table.title = "Attention per head: IPPD against prefix caching with PagedAttention (PC+PA)";
  table.columns =
      with_dataset({{"contexts", Align::right},
                    {"M", Align::right},
                    {"|p|", Align::right, "p"},
                    {"|c|", Align::right, "c"},
                    {"|x|", Align::right, "x"},
                    {"|y|", Align::right, "y"},
                    {"prefill FLOP factor", Align::right, "prefill_flop_factor"},
                    {"prefill access ratio", Align::right, "prefill_access_ratio"},
                    {"decode FLOP factor", Align::right, "decode_flop_factor"},
                    {"prefill intensity: PC+PA", Align::right, "pcpa_prefill_intensity"},
                    {"IPPD", Align::right, "ippd_prefill_intensity"},
                    {"decode intensity: PC+PA", Align::right, "pcpa_decode_intensity"},
                    {"IPPD ", Align::right, "ippd_decode_intensity"},
                    {"all FLOPs: IPPD / PC+PA", Align::right, "total_flop_factor"},
                    {"all accesses: PC+PA / IPPD", Align::right, "total_access_ratio"}});
  bool samples = false, standins = false;
  std::vector<std::string> protocol_notes;
  for (const DatasetEntry* entry : chosen_datasets(flags)) {
    const Dataset dataset = load_splits(*entry, flags).front();
    if (dataset.shape == Shape::open) {
      if (flags.datasets.empty()) continue;
      throw ConfigError(
          str("dataset ", dataset.name,
              " has open prompts, and no questions that share a context; leave it out"));
    }
    samples = samples || dataset.sample, standins = standins || dataset.standin;
    const AttentionStats stats = attention_of(
        dataset, protocol_of(*entry, dataset, flags, protocol_notes), tokenizer, flags.contexts);
    table.rows.push_back(attention_row(dataset_cells(dataset), stats.examples, stats.m.value(),
                                       stats.p.value(), stats.c.value(), stats.x.value(),
                                       stats.y.value(), &stats));
  }
  for (const auto& [name, row] : published_rows("ippd/table1.json")) {
    const auto number = [&row = row](const char* key) { return row.at(key).get<double>(); };
    table.rows.push_back(
        attention_row(dataset_cells("paper: " + name), row.at("contexts").get<std::int64_t>(),
                      number("parallelism"), number("instruction"), number("context"),
                      number("question"), number("answer"), nullptr));
  }
  table.notes = {
      "The model of the IPPD paper (appendix A.2, Table 3) at the mean lengths: M questions a "
      "context, |p| instruction, |c| context, |x| question, |y| answer with its end of sequence; "
      "decode at half an answer. Intensity: FLOPs per memory access.",
      str("prefill FLOP factor, decode FLOP factor: IPPD / PC+PA, prefill against the first one "
          "alone, as the paper has it; access ratio: PC+PA / IPPD. all: exact sums over the "
          "dataset, every prefill and decode step counted, ",
          counted(flags.contexts, "context"), " a prompt."),
      "paper: the lengths of its Table 1."};
  table.notes.insert(table.notes.end(), protocol_notes.begin(), protocol_notes.end());
  if (samples) table.notes.push_back(kSampleNote);
  if (standins) table.notes.push_back(kStandinMark);
  print_table(table, format);
  return 0;
}

}  // namespace pardec
