// Further tables of one invocation: tokens computed by arms, and differences between answers.
#include <algorithm>
#include <string>

#include "src/report/comparison_table.hpp"
#include "src/report/dataset_name.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The beginning of a long text; csv and json have the whole text.
Cell shortened_cell(const std::string& text) {
  constexpr size_t kShown = 40;
  if (text.size() <= kShown) return text;
  return {shortened(text, kShown), Json(text)};
}

}  // namespace

Table accounting_table(const std::vector<ArmAccount>& accounts) {
  Table table;
  table.title = "Tokens computed, generated and cached by each arm";
  table.columns = with_dataset({{"arm"},
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
                                {"decode s", Align::right, "decode_seconds"}});
  const bool priced = std::any_of(accounts.begin(), accounts.end(), [](const ArmAccount& account) {
    return account.usd_per_thousand.has_value();
  });
  if (priced) table.columns.push_back({"USD/1k", Align::right, "usd_per_thousand"});
  for (const ArmAccount& account : accounts) {
    const RunSummary& run = account.run;
    const Counters& c = run.totals;
    table.rows.push_back(with_dataset(
        dataset_cells(run.run.dataset),
        {run.run.label, number_cell(run.jobs), number_cell(c.prompt), number_cell(c.forced),
         number_cell(c.chosen), number_cell(c.fed), number_cell(c.text), number_cell(c.forwards),
         number_cell(account.parallelism, 2), number_cell(c.attended),
         number_cell(account.attention_accesses), number_cell(c.cached_peak),
         number_cell(account.pads), number_cell(static_cast<double>(c.prefill_ns) * 1e-9, 2),
         number_cell(static_cast<double>(c.decode_ns) * 1e-9, 2)}));
    if (priced)
      table.rows.back().push_back(
          account.usd_per_thousand ? number_cell(*account.usd_per_thousand, 4) : no_cell());
  }
  table.notes.push_back(
      "prompt, forced (skeleton), chosen (generated), fed (computed), text: tokens, summed over "
      "jobs; forwards: passes a "
      "job took part in; parallelism: chosen / forwards.");
  table.notes.push_back(
      "attended: keys attended to, over all computed rows; q + K,V: memory accesses of attention "
      "as the IPPD "
      "paper counts them (appendix A.2), queries and cached rows of every pass and sequence.");
  table.notes.push_back(
      "pads: dummy tokens that an implementation with padded batches would have computed in "
      "batches of "
      "this size; here batches are packed, and there are none.");
  table.notes.push_back(
      "prefill and decode: latencies summed over jobs; those of jobs that run at the same time "
      "overlap.");
  if (priced)
    table.notes.push_back(
        "USD/1k: price of 1,000 examples; of a service: its prices for prompt tokens and generated "
        "tokens; of any other arm: the price of the device for the time of the measured blocks; -: "
        "price not given.");
  return table;
}

Table differences_table(const DifferingAnswers& answers) {
  Table table;
  table.title = "Where answers differ from the baseline's";
  table.columns = with_dataset({{"arm"},
                                {"sample"},
                                {"field"},
                                {"baseline"},
                                {"answer"},
                                {"token", Align::right},
                                {"logit gap", Align::right, "logit_gap"}});
  if (answers.repeated) table.columns.push_back({"repeats", Align::right});
  for (const DifferingAnswer& one : answers.first) {
    table.rows.push_back(with_dataset(
        dataset_cells(one.dataset),
        {one.arm, one.sample, one.field, shortened_cell(one.baseline), shortened_cell(one.answer),
         one.token ? number_cell(*one.token) : no_cell(), number_cell(one.gap, 4)}));
    if (answers.repeated) table.rows.back().push_back(number_cell(one.repeats));
  }
  table.notes.push_back(
      str(counted(answers.count, "answer"),
          answers.repeated ? str(" to ", counted(answers.examples, "example")) : "",
          " that differ from the baseline's; token: index of the first differing token, counted "
          "over the values of all fields of the answer; logit gap: best logit minus second best at "
          "this token",
          answers.repeated ? "; repeats: how many of an example's answers differ; the one with the "
                             "smallest gap is shown."
                           : "."));
  return table;
}

}  // namespace pardec
