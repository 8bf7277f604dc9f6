#pragma once
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/engine/trace.hpp"

namespace pardec {

/// Parses the output of `to_json`. ConfigError, which starts with `where`: the JSON has another
/// form, the lists with one entry per row have different lengths, a number is not possible in its
/// place, the trace refers to a row that does not exist, or the trace lists more than 2^28 visible
/// rows in total. Trace::job stays -1.
Trace parse_trace(const Json& json, const std::string& where);

/// One token of a thread, in reading order.
struct TraceToken {
  enum class Fate {
    chosen,    ///< chosen, and not guessed before
    guessed,   ///< chosen, and guessed correctly, so that no additional pass was needed
    rejected,  ///< a guess that the network did not choose
  };
  Token id = 0;
  /// The row whose logits chose the token; for a rejected guess, the row after which it was
  /// guessed.
  int row = 0;
  int step = 0;  ///< number of the forward pass that computed `row`
  Fate fate = Fate::chosen;
};

/// A stream of chosen tokens (StreamBegan): a whole answer, or one value, question, thread, stage
/// or branch that was decoded in parallel.
struct TraceThread {
  /// As StreamBegan::before.
  Tokens heading;
  std::vector<TraceToken> tokens;  ///< in reading order, with rejected guesses
};

/// The threads of a complete or partial trace, in the order in which they begin. A token belongs to
/// the thread of the row that chose it. A correct guess belongs to the thread of the text before
/// the guess. Of a tree of rejected guesses, only the first path is included. A trace does not
/// record directly which id a row chose. The id is found as the token of a later row whose
/// Trace::from is the choosing row. The newest rows have no such later row. With `greedy`, the
/// recorded best ids of these rows are used. Without `greedy`, their choices are unknown and are
/// left out.
std::vector<TraceThread> threads_of(const Trace& trace, bool greedy);

/// Whether every chosen token in the trace is the best id of the row that chose it. Rows without a
/// recorded best id are ignored.
bool is_greedy(const Trace& trace);

/// The events that an engine would have sent while it decoded this sequence as job 0, except Ended.
/// If the sequence was forked from another one (Trace::inherited), the events include a PassRead
/// for each pass that the original computed before the fork. Empty for traces of a draft network
/// and for traces without chosen tokens.
std::vector<Event> events_of(const Trace& trace);

}  // namespace pardec
