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

// Some functions of this file declare flags for a variable. The values of these flags are written
// to the variable later, when the command line is parsed. The variable must still exist then.

/// Declares the flags that verbs with a network share: the network with its dtype and device
/// (ModelOptions), and the options of generation (DecodeOptions).
void add_flags(CLI::App& app, ModelOptions& model);
void add_flags(CLI::App& app, DecodeOptions& decode);

/// Declares --retries and --timeout, for the actions `fetch` of `data` and `model`.
void add_flags(CLI::App& app, DownloadOptions& download);
/// ConfigError: there are fewer than 0 retries, or the timeout is less than 1 second.
void check(const DownloadOptions& download);

/// The flags shared by `compare` and `report`. `run`: names an invocation (find_invocation); empty:
/// the newest one. `trace`: file with traces; empty: none. `strict`: see exit_code().
struct ComparisonFlags {
  std::string db = "results/pardec.sqlite", run, trace;
  CompareOptions compare;
  bool strict = false;
};
void add_flags(CLI::App& app, ComparisonFlags& flags);

/// Checks the flags (check_hardware). Then, with --trace, reads the traces into
/// flags.compare.traced. ConfigError: the file contains no trace, --trace is given without
/// --hardware, or check_hardware fails. Other errors: see read_works.
void read_traced(ComparisonFlags& flags);

/// The exit code of a verb that showed a comparison. If `strict` is true and the comparison has
/// warnings, prints a message to stderr, and returns 3. Otherwise returns 0.
int exit_code(const Comparison& comparison, bool strict);
/// Declares --hardware (CompareOptions::hardware).
void add_hardware(CLI::App& app, std::vector<std::string>& hardware);
/// ConfigError: `hardware` has several entries, which requires a trace, but `trace` (the file of
/// --trace) is empty.
void check_hardware(const std::vector<std::string>& hardware, const std::string& trace);
/// Declares --strict.
void add_strict(CLI::App& app, bool& strict);

/// Declares a flag whose value is a comma-separated list of texts. (CLI11's own lists lose the
/// brackets of "[Fork],[Child]".) Parsing the command line writes the texts to `texts`.
CLI::Option* add_texts(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                       const std::string& help);

}  // namespace pardec
