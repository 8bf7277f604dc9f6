#pragma once
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// What happened to one sequence, row by row in arrival order, so that any other framework can
/// replay it: what `--trace` writes.
struct Trace {
  std::string request, decoder;
  /// Of a run, whose labels and datasets the engine does not know; else empty.
  std::string arm, dataset;
  /// Ids of the examples that it answers, as far as its writer knows them; `request` is a name.
  std::vector<std::string> examples;
  /// What is made of logits before a choice, besides `banned` and `allowed`, as
  /// generation_config.json says it; empty: nothing.
  Json rules = Json::object();
  int job = -1;       ///< of the engine, whose sequence it is; is not written
  std::string model;  ///< "draft" for a draft network's rows; empty: the network's own
  std::vector<Token> tokens;
  std::vector<int> position;
  std::vector<int> step;                       ///< 0 is the prefill
  std::vector<std::vector<int>> visible;       ///< rows a row saw, itself included, ascending; a
                                               ///< layer's sliding window hides some of them
  std::vector<std::optional<Token>> predicts;  ///< greedy choice of rows whose logits were read
  std::vector<std::optional<int>> from;        ///< row whose choice this token is
  /// Ids that could not be chosen. Where only some were `allowed`: those of the others that came
  /// before the choice, so that who reads `banned` alone comes to the same one.
  std::vector<std::vector<Token>> banned;
  std::vector<std::vector<Token>> allowed;  ///< empty: all that are not banned
  std::vector<std::optional<int>> dropped_at;
  int inherited = 0;         ///< rows that another sequence fed, of which this one is a fork
  std::vector<int> emitted;  ///< rows whose choices are the answer, in order of choice
};

/// One object, runs of visible rows folded into [first, end).
OrderedJson to_json(const Trace& trace);

/// The file of --trace, to be written. ConfigError where it cannot be.
std::unique_ptr<std::ofstream> open_trace(const std::string& file, std::ios::openmode mode);

}  // namespace pardec
