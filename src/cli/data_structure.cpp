// `pardec data stats --structure`: how parallel the answers of a corpus are.
#include "src/cli/data.hpp"
#include "src/cli/table_output.hpp"
#include "src/findings/corpus.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

int structure_stats(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const Tokenizer tokenizer = tokenizer_of(flags);
  Table table;
  table.title = "Parallel structure of the reference answers";
  table.columns = with_dataset({{"split"},
                                {"answers", Align::right},
                                {"marked", Align::right},
                                {"by rules", Align::right, "by_rules"},
                                {"PPD %", Align::right, "ppd"},
                                {"DP %", Align::right, "dp"},
                                {"ABN", Align::right, "abn"},
                                {"tokens", Align::right}});
  bool samples = false, standins = false;
  each_split(flags, [&](const DatasetEntry&, const Dataset& dataset) {
    const StructureStats stats = structure_of(dataset, tokenizer);
    if (dataset.shape != Shape::open || stats.answers == 0) {
      if (flags.datasets.empty()) return;
      throw ConfigError(str("dataset ", dataset.name, ", split ", dataset.split,
                            ": has no open prompts with reference answers; leave it out"));
    }
    samples = samples || dataset.sample, standins = standins || dataset.standin;
    const bool parallel = stats.metrics.ppd > 0;
    const auto share = [&](double value, bool there) {
      return there ? Cell(fixed(100 * value, 1), json_of(value)) : no_cell();
    };
    table.rows.push_back(with_dataset(
        dataset_cells(dataset), {dataset.split, number_cell(stats.answers),
                                 number_cell(stats.marked), number_cell(stats.by_rules),
                                 share(stats.metrics.ppd, true), share(stats.metrics.dp, parallel),
                                 parallel ? number_cell(stats.metrics.abn, 2) : no_cell(),
                                 number_cell(stats.tokens.value(), 1)}));
  });
  table.notes = {
      "PPD: share of answers with parallel parts; DP: share of their tokens that is in branches, "
      "mean; ABN: branches of a group, mean (the ASPD paper, section 4.1). DP and ABN are over "
      "answers with parallel parts.",
      "marked: answers in the markup of ASPD's data (as data rewrite writes it); by rules: answers "
      "without markup that APAR's rules divide into a list's or paragraphs' details, in one group.",
      str("Tokens of text of ",
          flags.tokenizer.empty() ? "the quickstart tokenizer" : flags.tokenizer,
          ", without control tokens; a branch has the tokens of its title and content.")};
  if (samples) table.notes.push_back(kSampleNote);
  if (standins) table.notes.push_back(kStandinMark);
  print_table(table, format);
  return 0;
}

}  // namespace pardec
