#pragma once
#include <exception>
#include <string>
#include <variant>

#include "src/support/types.hpp"

/// Events that an engine sends while its jobs run, for streamed answers and for `--watch`.
namespace pardec {

/// A stream of chosen tokens begins: the answer of a plain decoder, a value of HPD, the answer to a
/// question of IPPD, a thread of APAR, or a stage or branch of ASPD.
struct StreamBegan {
  int job = 0;
  int stream = 0;  ///< numbered from 0 in each job, in the order in which streams begin
  std::string request, decoder;  ///< names of the stream's sequence, as in traces
  /// The tokens directly before the first chosen token that were not chosen themselves; at most 65.
  /// Empty: the token before the first chosen token was chosen or guessed.
  Tokens before;
};

/// A token was chosen, or a guess was rejected.
struct TokenEvent {
  int job = 0, stream = 0;
  Token token = 0;
  /// The row of the stream's sequence whose logits chose the token; for a rejected guess, the row
  /// after which it was guessed.
  int row = 0;
  int pass = 0;          ///< the pass that computed `row`; each sequence numbers its passes from 0
  bool guessed = false;  ///< the same pass already contained this token as a guess
  bool final = true;     ///< the token is part of the answer; false: a rejected guess
};

/// A sequence has processed the results of a forward pass. All tokens chosen from this pass have
/// been reported.
struct PassRead {
  int job = 0;
  std::string request, decoder;  ///< names of the sequence
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
