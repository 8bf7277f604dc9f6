// `pardec report`: one invocation as a page that only needs a browser.
#include <iostream>
#include <memory>

#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/with_flags.hpp"
#include "src/findings/traces.hpp"
#include "src/report/reproduction_report.hpp"
#include "src/report/run_report.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/store/invocations.hpp"
#include "src/support/checks.hpp"
#include "src/support/files.hpp"

namespace pardec {

namespace {

struct ReportFlags : ComparisonFlags {
  std::string output = "report.html";
  ExampleLimits examples;
};

}  // namespace

Verb report_verb() {
  return {"report",
          "write a run as one HTML file that opens offline",
          "pardec report --db r.sqlite -o report.html\n  pardec report --db r.sqlite --run 3f2a "
          "--examples 100",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<ReportFlags>();
            add_flags(app, *flags);
            app.add_option("--examples", flags->examples.per_dataset,
                           "number of examples of each dataset in the report, with the answers of "
                           "all arms; 0: none")
                ->capture_default_str()
                ->type_name("N");
            app.add_option("--examples-mb", flags->examples.megabytes,
                           "approximate limit of the examples in megabytes")
                ->capture_default_str()
                ->type_name("MB");
            app.add_option("--seed", flags->examples.seed, "seed of the choice of examples")
                ->capture_default_str()
                ->type_name("N");
            app.add_option("-o,--output", flags->output, "the page")
                ->capture_default_str()
                ->type_name("FILE");
            return [flags] {
              check_compare_options(flags->compare);
              check_hardware(flags->compare.hardware, flags->trace);
              if (flags->examples.per_dataset < 0)
                throw ConfigError(
                    str("--examples is ", flags->examples.per_dataset, ", expected 0 or more"));
              if (!(flags->examples.megabytes > 0))
                throw ConfigError(
                    str("--examples-mb is ", flags->examples.megabytes, ", expected more than 0"));
              const auto store = open_to_compare(flags->db, flags->run);
              const std::string invocation = find_invocation(*store, flags->run);
              const auto traces =
                  flags->trace.empty() ? std::vector<Trace>{} : read_traces(flags->trace);
              if (!flags->trace.empty() && traces.empty())
                throw ConfigError(str("--trace: ", flags->trace, " holds no trace"));
              for (const Trace& trace : traces) add_work(flags->compare.traced, trace);
              const Measurements measured = measurements_of(*store, invocation);
              const Comparison comparison = compare(*store, invocation, flags->compare, measured);
              Report report = make_report(*store, measured, comparison, flags->examples, traces);
              std::vector<ReproducedItem> items;
              const PaperCatalogue papers = read_papers();
              const auto results = reproduced(papers, *store, comparison.invocation);
              for (const Reproduction& result : results)
                items.push_back(reproduced_item(result, /*measured_only=*/results.size() > 1,
                                                /*with_figures=*/true));
              add_items(report, items);
              write_file(flags->output, render_report(std::move(report), with_flags));
              std::cout << flags->output << "\n";
              return exit_code(comparison, flags->strict);
            };
          },
          {},
          {.files = {"--output"}},
          {"--trace"}};
}

}  // namespace pardec
