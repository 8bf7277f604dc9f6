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

/// The tokens that one forward pass added to an answer, for clients that show branches and guesses.
struct PassTokens {
  /// A stream of chosen tokens began. `before`: the text directly before its first chosen token.
  struct Began {
    int stream = 0;
    std::string before;
  };
  struct Chosen {
    int stream = 0;
    Token id = 0;
    /// For an accepted token: the text that it completes. A character that consists of several
    /// tokens is in the text of the last of them.
    std::string text;
    bool guessed = false, accepted = true;
  };
  std::int64_t passes = 0;  ///< number of passes of the answer so far
  std::vector<Began> began;
  std::vector<Chosen> tokens;
};

/// As JSON: {"passes", "streams": [{stream, before}], "tokens": [{stream, id, text, kind}]}. The
/// kind is "chosen", "guessed" (a guess that was accepted) or "rejected".
OrderedJson to_json(const PassTokens& pass);

/// Collects the events of one job.
class PassCollector {
 public:
  /// `tokenizer` must outlive this object.
  explicit PassCollector(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// `engine_passes`: number of passes of the engine so far.
  void add(const Event& event, std::int64_t engine_passes);
  /// Whether a token or stream was added since the last take().
  bool has_news() const { return !now_.began.empty() || !now_.tokens.empty(); }
  PassTokens take();

 private:
  const Tokenizer& tokenizer_;
  PassTokens now_;
  std::map<int, TextRelease> texts_;  // by stream
  std::int64_t last_ = -1;            // the engine's pass that was counted last
};

}  // namespace pardec::serve
