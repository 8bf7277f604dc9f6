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

/// Declare the flags that verbs with a network share: the choice of the network and its dtype and
/// device (ModelOptions), and the rules of generation (DecodeOptions).
void add_flags(CLI::App& app, ModelOptions& model);
void add_flags(CLI::App& app, DecodeOptions& decode);

/// The flags of the actions `fetch`: how long they try to get a file.
void add_flags(CLI::App& app, DownloadOptions& download);
/// ConfigError: a number is too small.
void check(const DownloadOptions& download);

/// The flags shared by `compare` and `report`. `run`: names an invocation (find_invocation); empty:
/// the newest one. `trace`: file with traces; empty: none. `strict`: see exit_code().
struct ComparisonFlags {
  std::string db = "results/pardec.sqlite", run, trace;
  CompareOptions compare;
  bool strict = false;
};
void add_flags(CLI::App& app, ComparisonFlags& flags);

/// Reads the traces of --trace into flags.compare, for --hardware. Without --trace, reads nothing.
/// ConfigError: the file contains no trace, --trace is given without --hardware, or check_hardware
/// fails. Other errors: see read_works.
void read_traced(ComparisonFlags& flags);

/// The exit code of a verb that showed a comparison. With `strict` and a comparison with warnings,
/// it is 3, and a message is printed to stderr. Otherwise it is 0.
int exit_code(const Comparison& comparison, bool strict);
/// Declares --hardware (CompareOptions::hardware).
void add_hardware(CLI::App& app, std::vector<std::string>& hardware);
/// ConfigError: `hardware` has several entries, which requires a trace, but `trace` (the file of
/// --trace) is empty.
void check_hardware(const std::vector<std::string>& hardware, const std::string& trace);
/// Declares --strict.
void add_strict(CLI::App& app, bool& strict);

/// Declares an option with a comma-separated list of texts. (CLI11's own lists lose the brackets of
/// "[Fork],[Child]".)
CLI::Option* add_texts(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                       const std::string& help);

}  // namespace pardec
