// `pardec data stats --attention`: what attention costs by the model of the IPPD paper.
#include <iostream>
#include <map>

#include "metrics/attention_model.hpp"
#include "src/cli/data.hpp"
#include "src/cli/project_files.hpp"
#include "src/cli/record.hpp"
#include "src/cli/workload.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/prompt/pieces.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// What attention does for one dataset under PC+PA and under IPPD.
struct AttentionStats {
  std::int64_t examples = 0;
  Mean m, p, c, x, y;
  StagedCost pcpa, ippd;
};

void add(StagedCost& to, const StagedCost& more) {
  to.prefill.flops += more.prefill.flops, to.prefill.accesses += more.prefill.accesses;
  to.decode.flops += more.decode.flops, to.decode.accesses += more.decode.accesses;
}

/// Lengths of all examples asked field by field, in stacks of `contexts`.
AttentionStats attention_of(const Dataset& dataset, const Protocol& protocol,
                            const Tokenizer& tokenizer, int contexts) {
  AttentionStats stats;
  const bool across = !speaks_of_category(protocol.prompt);
  std::map<std::string, std::vector<CommonContext>> stacks;  // by category, not full yet
  std::map<std::string, std::int64_t> p_of;
  const auto close = [&](const std::string& category, std::vector<CommonContext>& stack) {
    if (!stack.empty()) add(stats.ippd, ippd_cost(p_of[category], stack));
    stack.clear();
  };
  for (const auto& example : dataset.examples) {
    const Job job = make_job(example.id, {&example}, Form::value, protocol, DecodeFlags{});
    const Pieces pieces =
        make_pieces(job, Form::value, protocol.prompt, find_chat_template("plain"), tokenizer);
    const auto p = static_cast<std::int64_t>(pieces.prefix.size());
    CommonContext context{static_cast<std::int64_t>(pieces.contexts[0].size()), {}, {}};
    const auto references = references_of({&example}).front();
    for (std::size_t f = 0; f < references.size(); ++f) {
      context.x.push_back(static_cast<std::int64_t>(pieces.fields[0][f].size()));
      context.y.push_back(
          static_cast<std::int64_t>(answer_ids(references[f].value_or(std::string(kAbsent)),
                                               !example.fields[f].choices.empty(), tokenizer)));
      stats.x.add(static_cast<double>(context.x.back()));
      stats.y.add(static_cast<double>(context.y.back()));
    }
    ++stats.examples;
    stats.m.add(static_cast<double>(context.x.size()));
    stats.p.add(static_cast<double>(p));
    stats.c.add(static_cast<double>(context.c));
    add(stats.pcpa, pcpa_cost(p, context));
    const std::string category = across ? "" : example.category;
    p_of[category] = p;
    auto& stack = stacks[category];
    stack.push_back(std::move(context));
    if (static_cast<int>(stack.size()) == contexts) close(category, stack);
  }
  for (auto& [category, stack] : stacks) close(category, stack);
  return stats;
}

/// The means that the model is evaluated at, and what it gives; letters are the paper's.
std::vector<Cell> attention_row(const std::string& name, std::int64_t examples, double m, double p,
                                double c, double x, double y, const AttentionStats* exact) {
  const double sum_x = m * x, half = y / 2;
  const auto cell = [](double value) { return number_cell(value, 3); };
  const auto ratio = [&](double AttentionCost::*what, bool ippd_over_pcpa) {
    if (!exact) return Cell("-", Json());
    const double ippd = exact->ippd.prefill.*what + exact->ippd.decode.*what;
    const double pcpa = exact->pcpa.prefill.*what + exact->pcpa.decode.*what;
    return cell(ippd_over_pcpa ? ippd / pcpa : pcpa / ippd);
  };
  return {name,
          number_cell(examples),
          number_cell(m, 2),
          number_cell(p, 2),
          number_cell(c, 2),
          number_cell(x, 2),
          number_cell(y, 2),
          cell(prefill_flop_factor(p, c, x, sum_x)),
          cell(prefill_access_ratio(p, c, x, sum_x, m)),
          cell(decode_flop_factor(p, c, x, half, sum_x, m * half)),
          cell(pcpa_subsequent_prefill(p, c, x).intensity()),
          cell(ippd_prefill(p, c, sum_x).intensity()),
          cell(pcpa_decode(p, c, x, half).intensity()),
          cell(ippd_decode(p, c, sum_x, m * half, m).intensity()),
          ratio(&AttentionCost::flops, true),
          ratio(&AttentionCost::accesses, false)};
}

}  // namespace

int attention_stats(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  if (flags.contexts < 1)
    throw ConfigError(str("--contexts is ", flags.contexts, ", expected at least 1"));
  const Tokenizer tokenizer = tokenizer_of(flags);
  Table table;
  table.title = "Attention per head: IPPD against prefix caching with PagedAttention (PC+PA)";
  table.columns = {{"dataset"},
                   {"contexts", Align::right},
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
                   {"all accesses: PC+PA / IPPD", Align::right, "total_access_ratio"}};
  bool samples = false, standins = false;
  std::vector<std::string> protocol_notes;
  for (const DatasetEntry* entry : chosen_datasets(flags)) {
    const Dataset dataset = load_splits(*entry, flags).front();
    if (dataset.shape == Shape::open) {
      if (flags.datasets.empty()) continue;
      throw ConfigError(
          str("dataset ", dataset.name,
              " is of open prompts, whose contexts no questions share; leave it out"));
    }
    samples = samples || dataset.sample, standins = standins || dataset.standin;
    const AttentionStats stats = attention_of(
        dataset, protocol_of(*entry, dataset, flags, protocol_notes), tokenizer, flags.contexts);
    table.rows.push_back(attention_row(shown_name(dataset), stats.examples, stats.m.value(),
                                       stats.p.value(), stats.c.value(), stats.x.value(),
                                       stats.y.value(), &stats));
  }
  for (const auto& [name, row] : published_rows("ippd/table1.json")) {
    const auto number = [&](const char* key) { return row.at(key).get<double>(); };
    table.rows.push_back(attention_row(
        "paper: " + name, row.at("contexts").get<std::int64_t>(), number("parallelism"),
        number("instruction"), number("context"), number("question"), number("answer"), nullptr));
  }
  table.notes = {
      "The model of the IPPD paper (appendix A.2, Table 3) at the mean lengths: M questions a "
      "context, |p| instruction, |c| context, |x| question, |y| answer with its end of sequence; "
      "decode at half an answer. Intensity: FLOPs per memory access.",
      str("prefill FLOP factor, decode FLOP factor: IPPD / PC+PA, prefill against the first one "
          "alone, as the paper has it; access ratio: PC+PA / IPPD. all: exact sums over the "
          "dataset, every prefill and decode step counted, ",
          flags.contexts, flags.contexts == 1 ? " context" : " contexts", " a prompt."),
      "paper: the lengths of its Table 1."};
  table.notes.insert(table.notes.end(), protocol_notes.begin(), protocol_notes.end());
  if (samples) table.notes.push_back(kSampleNote);
  if (standins) table.notes.push_back(kStandinMark);
  std::cout << render(table, format);
  return 0;
}

}  // namespace pardec
