#pragma once
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/trace.hpp"

namespace pardec {

/// Parses the output of `to_json`. ConfigError, which starts with `where`: the JSON has another
/// form, or refers to a row that does not exist.
Trace parse_trace(const Json& json, const std::string& where);

/// One token of a thread, in reading order.
struct TraceToken {
  enum class Fate {
    chosen,    ///< chosen, and not guessed before
    guessed,   ///< chosen, and guessed correctly, so that no additional pass was needed
    rejected,  ///< a guess that the network did not choose
  };
  Token id = 0;
  int row = 0;   ///< row that chose it; for a rejected guess: row of the token before
  int step = 0;  ///< forward pass that computed `row`
  Fate fate = Fate::chosen;
};

/// A stream of chosen tokens: the answer of a plain decoder, a value of HPD, a question of IPPD, a
/// thread of APAR, or a stage or branch of ASPD.
struct TraceThread {
  Tokens heading;  ///< the tokens directly before the first chosen token
  std::vector<TraceToken> tokens;
};

/// The threads of a complete or partial trace, in the order in which they begin. A token belongs to
/// the thread of the row that chose it; a correct guess belongs to the thread of the text before
/// it. Of a tree of rejected guesses, only the first path is included. The trace stores a chosen
/// token as the token of a later row; for the newest rows there is no later row yet. If `greedy`,
/// their recorded best ids are used. Otherwise their choices were sampled, are unknown, and are
/// left out.
std::vector<TraceThread> threads_of(const Trace& trace, bool greedy);

/// Whether every chosen token in the trace is the best id of the row that chose it.
bool is_greedy(const Trace& trace);

/// The events that an engine would have sent while it decoded this sequence as job 0. Empty for
/// traces of a draft network and for traces without chosen tokens.
std::vector<Event> events_of(const Trace& trace);

}  // namespace pardec
