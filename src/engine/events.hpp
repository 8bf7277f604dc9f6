#pragma once
#include <exception>
#include <string>
#include <variant>

#include "src/support/types.hpp"

/// What an engine tells of its jobs while they run, for whoever streams answers or looks on.
namespace pardec {

/// A stream of choices begins: the answer of a plain decoder, a value of HPD, a question of IPPD, a
/// thread of APAR, a stage or a branch of ASPD.
struct StreamBegan {
  int job = 0;
  int stream = 0;                ///< from 0 in each job, in the order in which they begin
  std::string request, decoder;  ///< of its sequence, as in traces
  Tokens before;                 ///< fed right before the first choice, and chosen by nobody
};

/// A token was chosen, or a guess was found wrong.
struct TokenEvent {
  int job = 0, stream = 0;
  Token token = 0;
  int row = 0;           ///< of the stream's sequence: the row that chose the token
  int pass = 0;          ///< of the stream's sequence, from 0: the one that fed this row
  bool guessed = false;  ///< the token was fed in the same pass already, as a guess
  bool final = true;     ///< the token is part of the answer; false: a guess that was rejected
};

/// What a forward pass gave a sequence has been read: all its tokens were told.
struct PassRead {
  int job = 0;
  std::string request, decoder;  ///< of the sequence
  int passes = 0;                ///< of the sequence so far
  bool ended = false;            ///< the sequence is finished
};

/// A job is over.
struct Ended {
  int job = 0;
  std::exception_ptr error;  ///< what it ended with; null: well

  void rethrow() const {
    if (error) std::rethrow_exception(error);
  }
};

using Event = std::variant<StreamBegan, TokenEvent, PassRead, Ended>;

}  // namespace pardec
