#pragma once
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/trace.hpp"

namespace pardec {

/// Parses the output of `to_json`. ConfigError, which starts with `where`: the JSON has another
/// form, the columns have different lengths, it refers to a row that does not exist, or it lists
/// more than 2^28 visible rows in total. Trace::job stays -1.
Trace parse_trace(const Json& json, const std::string& where);

/// One token of a thread, in reading order.
struct TraceToken {
  enum class Fate {
    chosen,    ///< chosen, and not guessed before
    guessed,   ///< chosen, and guessed correctly, so that no additional pass was needed
    rejected,  ///< a guess that the network did not choose
  };
  Token id = 0;
  /// The row that chose the token. Rejected guesses have the row after which they were guessed.
  int row = 0;
  int step = 0;  ///< number of the forward pass that computed `row`
  Fate fate = Fate::chosen;
};

/// A stream of chosen tokens: the answer of a plain decoder, a value of HPD, the answer to a
/// question of IPPD, a thread of APAR, or a stage or branch of ASPD.
struct TraceThread {
  /// The tokens directly before the first chosen token that were not chosen themselves; at most 65.
  /// Empty: the token before the first chosen token was chosen or guessed.
  Tokens heading;
  std::vector<TraceToken> tokens;
};

/// The threads of a complete or partial trace, in the order in which they begin. A token belongs to
/// the thread of the row that chose it. A correct guess belongs to the thread of the text before
/// the guess. Of a tree of rejected guesses, only the first path is included. A trace does not
/// record the id that a row chose: the id is the token of the later row that has it as its input.
/// The newest rows have no such later row. With `greedy`, the recorded best ids of these rows are
/// used. Without `greedy`, their choices are unknown and are left out.
std::vector<TraceThread> threads_of(const Trace& trace, bool greedy);

/// Whether every chosen token in the trace is the best id of the row that chose it. Rows without a
/// recorded best id are ignored.
bool is_greedy(const Trace& trace);

/// The events that an engine would have sent while it decoded this sequence as job 0, without
/// Ended. For a fork, the events include a PassRead for each pass of its original. Empty for traces
/// of a draft network and for traces without chosen tokens.
std::vector<Event> events_of(const Trace& trace);

}  // namespace pardec
