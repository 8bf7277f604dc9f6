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
  std::string group;  ///< as Trace::group
};

/// A record of one sequence, row by row in order of arrival, that any other framework can replay.
/// Written by `--trace`.
struct Trace {
  std::string request, decoder;
  /// Common to the requests that one job decodes in parallel, e.g. fields that are asked
  /// separately; empty: the request has no parallel ones.
  std::string group;
  /// Set by a run, which knows its arms and datasets; otherwise empty.
  std::string arm, dataset;
  /// Ids of the examples that the sequence answers, as far as known; `request` is only a name.
  std::vector<std::string> examples;
  /// Rules that change logits, besides `banned` and `allowed`, as in generation_config.json; empty:
  /// none.
  Json rules = Json::object();
  int job = -1;       ///< number of the engine's job; not written to files
  std::string model;  ///< "draft" for rows of a draft network; empty: the network's own
  std::vector<Token> tokens;
  std::vector<int> position;
  std::vector<int> step;  ///< forward pass of each row; 0 is the prefill
  /// rows visible to each row, ascending and including itself; a layer's sliding window hides some
  /// of them
  std::vector<std::vector<int>> visible;
  /// greedy choice of each row whose logits were requested
  std::vector<std::optional<Token>> predicts;
  std::vector<std::optional<int>> from;  ///< for chosen tokens, the row they were chosen from
  /// Ids that could not be chosen. If only some ids were `allowed`, this includes the other ids
  /// that ranked before the choice, so that `banned` alone leads to the same choice.
  std::vector<std::vector<Token>> banned;
  std::vector<std::vector<Token>> allowed;  ///< empty: all ids that are not banned
  std::vector<std::optional<int>> dropped_at;
  int inherited = 0;  ///< number of rows computed by the original, if this sequence is a fork
  std::vector<int> emitted;  ///< rows whose choices are the answer, in order of choice
};

/// One JSON object. Runs of visible rows are written as [first, end).
OrderedJson to_json(const Trace& trace);

/// Opens the file of --trace for writing. ConfigError: it cannot be opened.
std::unique_ptr<std::ofstream> open_trace(const std::string& file, std::ios::openmode mode);

}  // namespace pardec
