#pragma once
#include <exception>
#include <string>
#include <variant>

#include "src/support/types.hpp"

/// Events that an engine sends while its jobs run, for streamed answers and for `--watch`.
namespace pardec {

/// A stream of chosen tokens begins: a whole answer (e.g. of `ar`), a value (`hpd`), the answer to
/// one question (`ippd`), a thread (`apar`), or a stage or branch (`aspd`).
struct StreamBegan {
  int job = 0;
  int stream = 0;  ///< numbered from 0 in each job, in the order in which streams begin
  std::string request, decoder;  ///< names of the stream's sequence, as in traces
  /// The unchosen tokens that directly precede the stream's first token at consecutive positions,
  /// e.g. the key of a value; at most 65. Empty: the token before the stream's first token was
  /// chosen or guessed.
  Tokens before;
};

/// A token was chosen, or a guess was rejected.
struct TokenEvent {
  int job = 0, stream = 0;  ///< as in StreamBegan
  Token token = 0;
  /// The row of the stream's sequence whose logits chose the token; for a rejected guess, the row
  /// after which it was guessed.
  int row = 0;
  int pass = 0;          ///< the pass that computed `row`; each sequence numbers its passes from 0
  bool guessed = false;  ///< true: the pass `pass` already contained this token as a guess
  bool final = true;     ///< the token is part of the answer; false: a rejected guess
};

/// A sequence has processed the results of a forward pass. All tokens chosen from this pass have
/// been reported.
struct PassRead {
  int job = 0;
  std::string request, decoder;  ///< names of the sequence, as in traces
  /// Number of passes of the sequence so far. A fork includes the passes of its original.
  int passes = 0;
  bool ended = false;  ///< whether this was the last pass of the sequence
};

/// A job has ended.
struct Ended {
  int job = 0;
  std::exception_ptr error;  ///< the exception that ended the job; null: success

  /// Throws `error` if it is not null.
  void rethrow() const {
    if (error) std::rethrow_exception(error);
  }
};

using Event = std::variant<StreamBegan, TokenEvent, PassRead, Ended>;

}  // namespace pardec
