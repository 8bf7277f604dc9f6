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

/// The flags that verbs share which run a network: which one and how it computes, and how answers
/// are made.
void add_flags(CLI::App& app, ModelOptions& model);
void add_flags(CLI::App& app, DecodeOptions& decode);

/// What is compared: the flags that `compare` and `report` share.
struct ComparisonFlags {
  std::string db = "results/pardec.sqlite", run, trace;
  CompareOptions compare;
  bool strict = false;
};
void add_flags(CLI::App& app, ComparisonFlags& flags);

/// Reads --trace, where it is for --hardware alone. ConfigError, as check_hardware's.
void read_traced(ComparisonFlags& flags);

/// The exit code of a verb that showed this: 3 where --strict was given and there are warnings,
/// which stderr then says.
int exit_code(const Comparison& comparison, bool strict);
/// Declares --hardware, of CompareOptions.
void add_hardware(CLI::App& app, std::vector<std::string>& hardware);
/// ConfigError for machines that need a trace, where none is named.
void check_hardware(const std::vector<std::string>& hardware, const std::string& trace);
/// Declares --strict.
void add_strict(CLI::App& app, bool& strict);

/// An option of texts with commas between them. (CLI11's own lists lose brackets:
/// "[Fork],[Child]".)
CLI::Option* add_texts(CLI::App& app, const std::string& flag, std::vector<std::string>& texts,
                       const std::string& help);

}  // namespace pardec
