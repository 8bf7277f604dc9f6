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

/// What one forward pass added to an answer: for clients that show the answer's branches and
/// guesses.
struct PassTokens {
  /// A stream of choices began: the text directly before its first choice that was not chosen.
  struct Began {
    int stream = 0;
    std::string before;
  };
  struct Chosen {
    int stream = 0;
    Token id = 0;
    /// Of an accepted token, the text of its stream that became certain with it: a character of
    /// several tokens stands at the last one.
    std::string text;
    bool guessed = false, accepted = true;
  };
  std::int64_t passes = 0;  ///< of the answer so far
  std::vector<Began> began;
  std::vector<Chosen> tokens;
};

/// {"passes", "streams": [{stream, before}], "tokens": [{stream, id, text, kind}]}; the kind is
/// chosen, guessed (and accepted) or rejected.
OrderedJson to_json(const PassTokens& pass);

/// Collects the events of one job.
class PassCollector {
 public:
  /// `tokenizer` must outlive this object.
  explicit PassCollector(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// `engine_passes`: number of passes of the engine so far.
  void add(const Event& event, std::int64_t engine_passes);
  /// Whether a token or stream was added since the last `take`.
  bool has_news() const { return !now_.began.empty() || !now_.tokens.empty(); }
  PassTokens take();

 private:
  const Tokenizer& tokenizer_;
  PassTokens now_;
  std::map<int, TextRelease> texts_;  // by stream
  std::int64_t last_ = -1;            // pass of the engine that was counted last
};

}  // namespace pardec::serve
