#pragma once
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/trace.hpp"

namespace pardec {

/// Reads what `to_json` wrote. ConfigError, which begins with `where`: another shape, or rows that
/// refer to rows that are not there.
Trace parse_trace(const Json& json, const std::string& where);

/// One token of a thread, as a reader follows it.
struct TraceToken {
  enum class Fate {
    chosen,    ///< by the network, one pass a token
    guessed,   ///< chosen too, and a guess had it right, so that it cost no pass of its own
    rejected,  ///< a guess that the network did not choose
  };
  Token id = 0;
  int row = 0;   ///< that chose it, or behind which it was checked
  int step = 0;  ///< of the row
  Fate fate = Fate::chosen;
};

/// One line of choices: the answer of a plain decoder, a value of HPD, a question of IPPD, a thread
/// of APAR, a stage or branch of ASPD.
struct TraceThread {
  Tokens heading;  ///< fed right before its first choice, and chosen by nobody
  std::vector<TraceToken> tokens;
};

/// The threads of a trace, whole or not yet, in the order in which they begin. A row's choice goes
/// on with the thread of the row that chose it; a guess that was right with the text it was checked
/// behind. Of guesses that were rejected one line is told: where a tree was checked, its first
/// path. What the newest rows chose, which nobody has fed yet, is their greedy choice; without
/// `greedy` (the choices were sampled) it is not known from a trace, and left out.
std::vector<TraceThread> threads_of(const Trace& trace, bool greedy);

/// Whether all choices that were fed are the greedy ones.
bool is_greedy(const Trace& trace);

/// What an engine told while the sequence of the trace was decoded, as job 0. None where a draft
/// network's trace is given, or one without a choice.
std::vector<Event> events_of(const Trace& trace);

}  // namespace pardec
