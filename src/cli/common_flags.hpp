#pragma once
#include <string>

#include "src/checkpoint/checkpoint.hpp"
#include "src/tasks/decode_options.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// The flags that verbs share which run a network: which one and how it computes, and how answers
/// are made.
void add_flags(CLI::App& app, ModelOptions& model);
void add_flags(CLI::App& app, DecodeOptions& decode);

/// What is compared: the flags that `compare` and `report` share.
struct ComparisonFlags {
  std::string db = "results/pardec.sqlite", run, baseline;
  double confidence = 0.95;
};
void add_flags(CLI::App& app, ComparisonFlags& flags);

}  // namespace pardec
