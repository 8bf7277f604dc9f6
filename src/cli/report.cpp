// `pardec report`: one invocation as a page that needs nothing but a browser.
#include <iostream>
#include <memory>

#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/report/run_report.hpp"
#include "src/store/invocations.hpp"
#include "src/support/checks.hpp"
#include "src/support/files.hpp"

namespace pardec {

namespace {

struct ReportFlags : ComparisonFlags {
  std::string output = "report.html";
  int examples = 4;
  std::uint64_t seed = 1;
};

}  // namespace

Verb report_verb() {
  return {"report", "one run as a self-contained HTML page",
          "pardec report --db r.sqlite -o report.html\n  pardec report --db r.sqlite --run 3f2a "
          "--examples 10",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<ReportFlags>();
            add_flags(app, *flags);
            app.add_option("--examples", flags->examples,
                           "identical and failed answers shown of each arm, and half of the "
                           "differing ones; 0: none")
                ->capture_default_str()
                ->type_name("N");
            app.add_option("--seed", flags->seed, "of the draw of examples")
                ->capture_default_str()
                ->type_name("N");
            app.add_option("-o,--output", flags->output, "the page")
                ->capture_default_str()
                ->type_name("FILE");
            return [flags] {
              check_confidence(flags->confidence);
              if (flags->examples < 0)
                throw ConfigError(str("--examples is ", flags->examples, ", expected 0 or more"));
              check_apart("--output", flags->output, flags->db);
              const auto store = open_to_compare(flags->db, flags->run);
              const Comparison comparison = compare(*store, find_invocation(*store, flags->run),
                                                    flags->baseline, flags->confidence);
              write_file(flags->output, render_report(make_report(*store, comparison,
                                                                  flags->examples, flags->seed)));
              std::cout << flags->output << "\n";
              return 0;
            };
          }};
}

}  // namespace pardec
