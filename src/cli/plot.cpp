// `pardec plot`: draws a quantity over a setting.
#include <iostream>
#include <memory>

#include "decoders/decoder.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/setting_flags.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/sweep_figure.hpp"
#include "src/settings/shared_settings.hpp"
#include "src/store/invocations.hpp"
#include "src/support/checks.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

Verb plot_verb() {
  struct Flags {
    std::string db = "results/pardec.sqlite", output = "figure.svg", title;
    Sweep sweep{kUsualSweep, "speedup", "", 0.95};
    bool script = false;
  };
  return {
      "plot",
      "draw a figure of speed or score over a setting (SVG, PDF, PNG)",
      "pardec plot --db r.sqlite --x hpd.k_max --y speedup -o speedup.svg\n  pardec plot --db "
      "r.sqlite --x hpd.stack --y f1_micro -o f1.pdf\n  pardec plot --db r.sqlite --x batch_size "
      "--y examples_per_second -o throughput.png",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<Flags>();
        add_flag(app, db_setting(flags->db));
        app.add_option(
               "--x", flags->sweep.x,
               "setting on the x axis: batch_size, cache_blocks, seed or an option of a "
               "decoder (hpd.k_max); date: all runs of the database by start time; checkpoint: the "
               "updates of a training, whose checkpoints lie in one folder")
            ->capture_default_str()
            ->type_name("NAME");
        app.add_option("--y", flags->sweep.y,
                       "column of the comparison on the y axis: speedup, examples_per_second, "
                       "tokens_per_forward, identical, f1_micro ...")
            ->capture_default_str()
            ->type_name("NAME");
        app.add_option("--run", flags->sweep.run,
                       "one run only (its name, or the first characters of its id); without it all "
                       "runs with the network, type, device and threads of the newest")
            ->type_name("ID");
        app.add_option("--confidence-level", flags->sweep.confidence,
                       "confidence level of the intervals")
            ->capture_default_str()
            ->type_name("X");
        app.add_option("--title", flags->title,
                       "title of the figure, instead of the one that says what was run")
            ->type_name("TEXT");
        app.add_flag("--script", flags->script,
                     "print the gnuplot script with its data, and draw nothing");
        app.add_option("-o,--output", flags->output,
                       "file of the figure; its ending gives the format")
            ->capture_default_str()
            ->type_name("FILE");
        return [flags] {
          check_compare_options({.confidence = flags->sweep.confidence});
          const FigureFormat format = figure_format(flags->output);
          const auto store = open_to_compare(flags->db, flags->sweep.run);
          Figure figure = sweep_figure(*store, flags->sweep);
          if (!flags->title.empty()) figure.title = flags->title;
          if (!figure.warnings.empty())
            std::cerr << "WARNING: some drawn numbers have warnings: "
                      << join(figure.warnings, ", ")
                      << "; 'pardec compare' says which numbers should not be trusted, and why\n";
          if (flags->script) {
            std::cout << gnuplot_script(figure, format);
            return 0;
          }
          write_file(flags->output, draw(figure, format));
          std::cout << flags->output << "\n";
          return 0;
        };
      },
      {},
      {.files = {"--output"}}};
}

}  // namespace pardec
