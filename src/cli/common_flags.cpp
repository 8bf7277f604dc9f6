#include "src/cli/common_flags.hpp"

#include <CLI/CLI.hpp>

#include "src/cli/command_line.hpp"
#include "src/cli/setting_flags.hpp"
#include "src/settings/shared_settings.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

void add_flags(CLI::App& app, ModelOptions& model) { add_flags(app, model_settings(model)); }

void add_flags(CLI::App& app, DecodeOptions& decode) { add_flags(app, decode_settings(decode)); }

void add_flags(CLI::App& app, ComparisonFlags& flags) {
  add_flag(app, db_setting(flags.db));
  app.add_option("--run", flags.run,
                 "name of a run, or the first characters of its id; without it the newest")
      ->type_name("ID");
  app.add_option("--baseline", flags.compare.baseline,
                 "label of the arm that the others are compared with")
      ->type_name("LABEL");
  app.add_option("--confidence-level", flags.compare.confidence,
                 "confidence level of the intervals")
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--margin", flags.compare.margin,
                 "how much lower a score may be and still count as not worse")
      ->capture_default_str()
      ->type_name("X");
  add_hardware(app, flags.compare.hardware);
  app.add_option("--trace", flags.trace,
                 "trace that 'run --trace' wrote for these arms; with --hardware: shows the "
                 "speedup that each machine allows; in a report: shows the pass of every token")
      ->type_name("FILE");
  add_strict(app, flags.strict);
}

void add_hardware(CLI::App& app, std::vector<std::string>& hardware) {
  add_flag(app, hardware_setting(hardware));
}

void check_hardware(const std::vector<std::string>& hardware, const std::string& trace) {
  if (hardware.size() > 1 && trace.empty())
    throw ConfigError(str(
        "--hardware names ", hardware.size(),
        " machines: their limits are computed from a trace; give --trace FILE, or one machine"));
}

void add_flags(CLI::App& app, DownloadOptions& download) {
  app.add_option("--retries", download.retries,
                 "further tries after a broken connection, a timeout, or a reply that asks for "
                 "another try")
      ->capture_default_str()
      ->type_name("N")
      ->group(flags_of({"fetch"}));
  app.add_option("--timeout", download.timeout_seconds,
                 "seconds to wait for a connection, and for the next byte")
      ->capture_default_str()
      ->type_name("S")
      ->group(flags_of({"fetch"}));
}

void check(const DownloadOptions& download) {
  check_at_least("retries", download.retries, 0);
  check_at_least("timeout", download.timeout_seconds, 1);
}

void read_traced(ComparisonFlags& flags) {
  check_hardware(flags.compare.hardware, flags.trace);
  if (flags.trace.empty()) return;
  if (flags.compare.hardware.empty())
    throw ConfigError("--trace is used only with --hardware; give both, or neither");
  flags.compare.traced = read_works(flags.trace);
  if (flags.compare.traced.empty())
    throw ConfigError(str("--trace: ", flags.trace, " holds no trace"));
}

void add_strict(CLI::App& app, bool& strict) { add_flag(app, strict_setting(strict)); }

int exit_code(const Comparison& comparison, bool strict) {
  if (!strict || comparison.warnings.empty()) return 0;
  std::fprintf(stderr, "pardec: %s, and --strict was given\n",
               counted(std::ssize(comparison.warnings), "warning").c_str());
  return 3;
}

CLI::Option* add_texts(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                       const std::string& help) {
  return app
      .add_option_function<std::string>(
          flag, [&texts](const std::string& given) { texts = split(given, ','); }, help)
      ->type_name("A,B");
}

}  // namespace pardec
