// `pardec compare`: compares the arms of one invocation.
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

#include "src/cli/across_runs.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/comparison_table.hpp"
#include "src/settings/shared_settings.hpp"
#include "src/store/invocations.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

std::pair<double, double> parse_token_prices(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  std::vector<double> prices;
  for (const std::string& part : parts)
    if (const auto price = number_in<double>(part); price && std::isfinite(*price) && *price >= 0)
      prices.push_back(*price);
  if (parts.size() != 2 || prices.size() != 2)
    throw ConfigError(str("--usd-per-million is '", text,
                          "', expected two prices of 0 or more: IN,OUT, e.g. 2.5,10"));
  return {prices[0], prices[1]};
}

}  // namespace

Verb compare_verb() {
  struct Flags : ComparisonFlags {
    std::string format = "text";
    int differences = 0;
    bool accounting = false, matrix = false;
    std::string by;
    double usd_per_hour = 0;
    std::string usd_per_million;
    ColumnChoice columns;
  };
  return {
      "compare",
      "print the table of a run: speed and scores of its arms",
      "pardec compare --db r.sqlite --format json\n  pardec compare --db r.sqlite --differences "
      "20\n  pardec compare --db r.sqlite --by category\n  pardec compare --db r.sqlite --run "
      "3f2a,91c0,b7d1    (sittings of one command)\n"
      "  pardec compare --db r.sqlite --accounting --usd-per-hour 3.77",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<Flags>();
        add_flags(app, *flags);
        app.add_option("--differences", flags->differences,
                       "list N answers that differ from the baseline's instead of the table, "
                       "those with the smallest gap between the two best logits first; 0: print "
                       "the table")
            ->capture_default_str()
            ->type_name("N");
        app.add_flag("--matrix", flags->matrix,
                     "one row for each arm, one column for each dataset: score, speedup, tokens "
                     "per pass");
        app.add_option("--by", flags->by,
                       "category: one row for each category of examples, and arm")
            ->type_name("category");
        app.add_flag("--accounting", flags->accounting,
                     "list the tokens that each arm computed, generated and cached");
        app.add_option(
               "--usd-per-hour", flags->usd_per_hour,
               "with --accounting: price of the device, to compute the price of 1,000 examples")
            ->type_name("X");
        app.add_option("--usd-per-million", flags->usd_per_million,
                       "with --accounting: prices of a service for a million prompt tokens and a "
                       "million generated tokens, to compute the price of 1,000 examples")
            ->type_name("IN,OUT");
        add_columns(app, flags->columns);
        add_format(app, flags->format);
        return [flags] {
          const TableFormat format = parse_table_format(flags->format);
          check_compare_options(flags->compare);
          check_columns(flags->columns);
          check_at_least("differences", flags->differences, 0);
          if (!flags->by.empty() && flags->by != "category")
            throw ConfigError(str("--by is '", flags->by, "', expected category"));
          if (!(flags->usd_per_hour >= 0))
            throw ConfigError(
                str("--usd-per-hour is ", flags->usd_per_hour, ", expected 0 or more"));
          const UsdPrices prices{
              flags->usd_per_hour > 0 ? std::optional(flags->usd_per_hour) : std::nullopt,
              flags->usd_per_million.empty()
                  ? std::nullopt
                  : std::optional(parse_token_prices(flags->usd_per_million))};
          for (const auto& [flag, given] : {std::pair("hour", prices.machine_hour.has_value()),
                                            {"million", prices.service_million.has_value()}})
            if (given && !flags->accounting)
              throw ConfigError(
                  str("--usd-per-", flag, " is a price for --accounting; give both, or neither"));
          if (const auto ids = split(flags->run, ','); ids.size() > 1)
            return print_across(flags->db, {ids.begin(), ids.end()}, flags->compare.confidence,
                                format);
          const auto opened = open_to_compare(flags->db, flags->run);
          Store& store = *opened;
          const std::string invocation = find_invocation(store, flags->run);
          read_traced(*flags);
          std::optional<Measurements> read;  // read once, and only if needed
          const auto measured = [&]() -> const Measurements& {
            if (!read) read = measurements_of(store, invocation);
            return *read;
          };
          std::optional<Comparison> done;
          const auto compared = [&]() -> const Comparison& {
            if (!done) done = compare(store, invocation, flags->compare, measured());
            return *done;
          };
          const Table table =
              flags->accounting
                  ? accounting_table(accounts_of(figures_of(store, invocation), prices))
              : flags->differences > 0
                  ? differences_table(differing_answers(store, measured(), flags->differences))
              : flags->matrix      ? matrix_table(compared())
              : !flags->by.empty() ? category_table(compared(), by_category(compared(), measured()))
                                   : choose_columns(comparison_table(compared()), flags->columns);
          print_table(table, format);
          return flags->strict ? exit_code(compared(), true) : 0;
        };
      },
      {},
      {},
      {"--trace"}};
}

}  // namespace pardec
