#pragma once
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/trace.hpp"

namespace pardec {

/// Parses the output of `to_json`. ConfigError, which starts with `where`: a wrong shape, or
/// references to rows that do not exist.
Trace parse_trace(const Json& json, const std::string& where);

/// One token of a thread, in reading order.
struct TraceToken {
  enum class Fate {
    chosen,    ///< chosen by the network, with one pass per token
    guessed,   ///< chosen, and guessed correctly, so that it needed no pass of its own
    rejected,  ///< a guess that the network did not choose
  };
  Token id = 0;
  int row = 0;   ///< row that chose it; for rejected guesses, the row that it follows
  int step = 0;  ///< forward pass of the row
  Fate fate = Fate::chosen;
};

/// One stream of choices: the answer of a plain decoder, a value of HPD, a question of IPPD, a
/// thread of APAR, or a stage or branch of ASPD.
struct TraceThread {
  Tokens heading;  ///< tokens directly before the first choice that were not chosen
  std::vector<TraceToken> tokens;
};

/// The threads of a complete or partial trace, in the order in which they begin. A token chosen by
/// a row belongs to the row's thread; a correct guess belongs to the thread of the text that it
/// follows. Of rejected guesses, one line is reported; for a tree of guesses, this is its first
/// path. A trace shows a row's choice as the token of a later row. The newest rows have no later
/// row. If `greedy`, their choices are their recorded best ids. Otherwise the choices were sampled,
/// so those of the newest rows are unknown and left out.
std::vector<TraceThread> threads_of(const Trace& trace, bool greedy);

/// Whether all recorded choices are greedy.
bool is_greedy(const Trace& trace);

/// The events that an engine would have sent while decoding the sequence of the trace, as job 0.
/// Empty for traces of a draft network, and for traces without choices.
std::vector<Event> events_of(const Trace& trace);

}  // namespace pardec
