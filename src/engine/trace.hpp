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

  std::string text;   ///< Trace::request
  std::string group;  ///< see Trace::group
};

/// A record of one sequence, row by row in the order of computation. The flag `--trace` writes
/// traces to a file. Another framework can compute the same rows from a trace and compare the
/// results.
struct Trace {
  std::string request, decoder;  ///< names of the request and of the decoder that answers it
  /// A name shared by all requests that one job decodes in parallel, e.g. fields that are asked
  /// separately. Empty: the job decodes no other request in parallel.
  std::string group;
  /// Set by `pardec run`; empty in traces of other verbs.
  std::string arm, dataset;
  /// Ids of the examples that the sequence answers, if they are known.
  std::vector<std::string> examples;
  /// Rules that change logits in addition to `banned` and `allowed`, with the keys of
  /// generation_config.json. Empty: no rules.
  Json rules = Json::object();
  int job = -1;       ///< number of the job in the engine; not written to files
  std::string model;  ///< "draft": a sequence of the draft network; empty: of the network itself
  std::vector<Token> tokens;  ///< per row: the token id
  std::vector<int> position;  ///< per row: RowLabel::position
  /// Per row: number of the forward pass that computed the row; 0 is the sequence's first pass.
  std::vector<int> step;
  /// Per row: numbers of the rows that are visible to it, ascending, including the row itself. In
  /// layers with a sliding window, the window hides some of these rows.
  std::vector<std::vector<int>> visible;
  /// per row: the best id that could be chosen; none: the logits of the network's own head were not
  /// requested for this row
  std::vector<std::optional<Token>> predicts;
  /// per row: number of the row whose logits chose the token; none: the token was not chosen
  std::vector<std::optional<int>> from;
  /// Per row: ids that could not be chosen. If only some ids were allowed (`allowed`), the list has
  /// all ids that the logits rank above the id in `predicts`. Thus a reader that applies only
  /// `banned` finds the same best id.
  std::vector<std::vector<Token>> banned;
  /// per row: the only ids that could be chosen; empty: all ids that are not banned
  std::vector<std::vector<Token>> allowed;
  /// per row: number of the last pass before the row was dropped; none: it was not dropped
  std::vector<std::optional<int>> dropped_at;
  /// If the sequence is a fork: the number of rows at the beginning of the trace that its original
  /// computed; otherwise 0.
  int inherited = 0;
  /// The rows whose logits chose the answer's tokens, in order of choice.
  std::vector<int> emitted;
};

/// The trace as one JSON object. Consecutive visible rows are written as a pair [first, end], where
/// `end` is the last row plus one. A visible row without such neighbours is written as a number.
OrderedJson to_json(const Trace& trace);

/// Opens the file given with --trace for writing. `mode`: as for std::ofstream. ConfigError: the
/// file cannot be opened.
std::unique_ptr<std::ofstream> open_trace(const std::string& file, std::ios::openmode mode);

}  // namespace pardec
