#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/engine/events.hpp"
#include "src/serve/text_release.hpp"
#include "src/support/json.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec::serve {

/// The tokens that one forward pass added to an answer, and the guesses that this pass rejected.
/// With this information, clients can show branches and guesses.
struct PassTokens {
  /// A stream of the answer that began in this pass.
  struct Began {
    int stream = 0;  ///< number of the stream; the first stream of a job has number 0
    /// the text directly before the stream's first token, e.g. the key of a value; see
    /// StreamBegan::before
    std::string before;
  };
  /// A token of the answer, or a rejected guess.
  struct Chosen {
    int stream = 0;  ///< number of the stream (Began::stream)
    Token id = 0;
    /// For a token of the answer: the text that the token adds to its stream. If several tokens
    /// form one character, only the last of these tokens has the character in its text. For a
    /// rejected guess: the bytes of the token as text (repair_utf8).
    std::string text;
    bool guessed = false;  ///< whether the token was a guess in the pass that chose it
    bool accepted = true;  ///< whether the token is part of the answer; false: a rejected guess
  };
  std::int64_t passes = 0;     ///< number of passes for the answer so far, including this pass
  std::vector<Began> began;    ///< the streams that began in this pass
  std::vector<Chosen> tokens;  ///< in the order in which they were chosen or rejected
};

/// As JSON: {"passes", "streams": [{stream, before}], "tokens": [{stream, id, text, kind}]}. The
/// kind is "chosen", "guessed" (an accepted guess) or "rejected" (a rejected guess).
OrderedJson to_json(const PassTokens& pass);

/// Collects the events of one job, and returns them pass by pass.
class PassCollector {
 public:
  /// `tokenizer` must outlive this object.
  explicit PassCollector(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Adds an event of the job. `engine_passes`: Occupancy::passes at the time of the event.
  void add(const Event& event, std::int64_t engine_passes);
  /// Whether a token or stream was added since the last take().
  bool has_news() const { return !now_.began.empty() || !now_.tokens.empty(); }
  /// Returns the tokens and streams that were added since the last take(). To be called after each
  /// pass in which has_news() is true.
  PassTokens take();

 private:
  const Tokenizer& tokenizer_;
  PassTokens now_;
  std::map<int, TextRelease> texts_;  // by stream
  std::int64_t last_ = -1;            // the engine's pass that was counted last
};

}  // namespace pardec::serve
