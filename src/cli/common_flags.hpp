#pragma once
#include <string>

#include "src/checkpoint/checkpoint.hpp"
#include "src/findings/comparison.hpp"
#include "src/http/download.hpp"
#include "src/tasks/decode_options.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pardec {

// The functions add_... of this file declare flags for a variable. The values of these flags are
// written to the variable later, when the command line is parsed. The variable must still exist
// then.

/// Declares the flags for the network, e.g. --model, --dtype and --device.
void add_flags(CLI::App& app, ModelOptions& model);
/// Declares the flags for generation, e.g. --temperature and --max-new-tokens.
void add_flags(CLI::App& app, DecodeOptions& decode);

/// Declares --retries and --timeout, for the actions `fetch` of `data` and `model`.
void add_flags(CLI::App& app, DownloadOptions& download);
/// Checks the values of --retries and --timeout. ConfigError: `retries` is negative, or the timeout
/// is less than 1 second.
void check(const DownloadOptions& download);

/// The flags that `compare` and `report` share. `db`: path of the database. `run`: names an
/// invocation (find_invocation); empty: the newest invocation. `trace`: path of a file with traces;
/// empty: no traces. `strict`: see exit_code().
struct ComparisonFlags {
  std::string db = "results/pardec.sqlite", run, trace;
  CompareOptions compare;
  bool strict = false;
};
void add_flags(CLI::App& app, ComparisonFlags& flags);

/// Checks --hardware and --trace. If --trace is given, reads its file into flags.compare.traced.
/// ConfigError: --trace is given without --hardware, the file contains no trace, or --hardware is
/// invalid (check_hardware). Other errors: see read_works.
void read_traced(ComparisonFlags& flags);

/// The exit code of a verb that showed a comparison. If `strict` is true and the comparison has
/// warnings, prints a message to stderr, and returns 3. Otherwise returns 0.
int exit_code(const Comparison& comparison, bool strict);
/// Declares --hardware (CompareOptions::hardware).
void add_hardware(CLI::App& app, std::vector<std::string>& hardware);
/// Checks that there is a trace if --hardware names several machines. `hardware`, `trace`: the
/// values of --hardware and --trace. ConfigError: `hardware` has several entries, and `trace` is
/// empty.
void check_hardware(const std::vector<std::string>& hardware, const std::string& trace);
/// Declares --strict.
void add_strict(CLI::App& app, bool& strict);

/// Declares a flag whose value is a comma-separated list of texts. `flag`: its name with dashes,
/// e.g. "--tokens". Parsing the command line writes the texts to `texts`. (CLI11's own lists are
/// not used, because they lose the brackets of "[Fork],[Child]".)
CLI::Option* add_texts(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                       const std::string& help);

}  // namespace pardec
