#pragma once
#include <string>

#include "src/checkpoint/checkpoint.hpp"
#include "src/findings/comparison.hpp"
#include "src/tasks/decode_options.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pardec {

/// The flags shared by verbs that run a network: which network to use and how it computes, and how
/// answers are generated.
void add_flags(CLI::App& app, ModelOptions& model);
void add_flags(CLI::App& app, DecodeOptions& decode);

/// The flags shared by `compare` and `report`.
struct ComparisonFlags {
  std::string db = "results/pardec.sqlite", run, trace;
  CompareOptions compare;
  bool strict = false;
};
void add_flags(CLI::App& app, ComparisonFlags& flags);

/// Reads the traces of --trace, for --hardware. ConfigError: the file contains no trace, or --trace
/// is given without --hardware; as for check_hardware.
void read_traced(ComparisonFlags& flags);

/// The exit code of a verb that showed this comparison: 3 if --strict was given and there are
/// warnings, with a message on stderr; otherwise 0.
int exit_code(const Comparison& comparison, bool strict);
/// Declares --hardware, for CompareOptions.
void add_hardware(CLI::App& app, std::vector<std::string>& hardware);
/// ConfigError: machines require a trace, but no trace is given.
void check_hardware(const std::vector<std::string>& hardware, const std::string& trace);
/// Declares --strict.
void add_strict(CLI::App& app, bool& strict);

/// An option for a list of texts separated by commas. (CLI11's own lists lose brackets:
/// "[Fork],[Child]".)
CLI::Option* add_texts(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                       const std::string& help);

}  // namespace pardec
