#include "src/cli/run_flags.hpp"

#include <CLI/CLI.hpp>

#include "src/cli/command_line.hpp"
#include "src/cli/setting_flags.hpp"
#include "src/support/json.hpp"

namespace pardec {

void add_flags(CLI::App& app, RunFlags& flags) {
  for (const Setting& setting : settings_of(flags.settings)) {
    if (setting.name == "model")
      app.add_option("-c,--config", flags.config,
                     "read settings from an experiment file (experiments/*.json)")
          ->type_name("FILE");
    add_flag(app, setting);
  }
}

void complete(const CLI::App& app, RunFlags& flags) {
  std::set<std::string> given = given_settings(app);
  if (!flags.config.empty()) {
    const Json experiment = read_json(flags.config);
    given.merge(read_experiment(experiment, flags.config, flags.settings, given));
    check_experiment(app, experiment);
  }
  flags.default_db = !given.contains("db");
  check(flags.settings.output);
  flags.spec = make_run_spec(flags.settings);
  flags.spec.argv = command_arguments(app);
}

}  // namespace pardec
