#pragma once
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// The name of a sequence in traces.
struct RequestName {
  RequestName() = default;
  RequestName(const char* name) : text(name) {}
  RequestName(std::string name, std::string of = {})
      : text(std::move(name)), group(std::move(of)) {}

  std::string text;
  std::string group;  ///< see Trace::group
};

/// A record of one sequence, row by row in the order of computation. Another framework can replay
/// it. `--trace` writes it.
struct Trace {
  std::string request, decoder;
  /// The same for all requests that one job decodes in parallel, e.g. fields that are asked
  /// separately. Empty: no other request runs in parallel.
  std::string group;
  /// Set by `run`; empty in traces of other verbs.
  std::string arm, dataset;
  /// Ids of the examples that the sequence answers, if they are known.
  std::vector<std::string> examples;
  /// Rules that change logits in addition to `banned` and `allowed`, with the keys of
  /// generation_config.json. Empty: no rules.
  Json rules = Json::object();
  int job = -1;       ///< number of the job in the engine; not written to files
  std::string model;  ///< "draft": a sequence of the draft network; empty: of the network itself
  std::vector<Token> tokens;
  std::vector<int> position;
  std::vector<int> step;  ///< number of the forward pass that computed each row; 0 is the prefill
  /// The rows visible to each row, ascending, including the row itself. In layers with a sliding
  /// window, some of them are hidden.
  std::vector<std::vector<int>> visible;
  /// per row: the best id; none: the row's logits were not requested
  std::vector<std::optional<Token>> predicts;
  std::vector<std::optional<int>> from;  ///< per row: the row that chose its token
  /// Per row: ids that could not be chosen. If only some ids were `allowed`, `banned` also includes
  /// the other ids that ranked before the choice, so that `banned` alone leads to the same choice.
  std::vector<std::vector<Token>> banned;
  std::vector<std::vector<Token>> allowed;     ///< empty: all ids that are not banned
  std::vector<std::optional<int>> dropped_at;  ///< per row: the last pass before it was dropped
  int inherited = 0;  ///< if the sequence is a fork: number of rows that its original computed
  std::vector<int> emitted;  ///< the rows that chose the answer's tokens, in order of choice
};

/// The trace as one JSON object. Stretches of visible rows are written as [first, end), end
/// exclusive.
OrderedJson to_json(const Trace& trace);

/// Opens the file given with --trace for writing. ConfigError: the file cannot be opened.
std::unique_ptr<std::ofstream> open_trace(const std::string& file, std::ios::openmode mode);

}  // namespace pardec
