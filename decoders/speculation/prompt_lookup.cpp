// Prompt lookup decoding (Saxena 2023, github.com/apoorvumang/prompt-lookup-decoding).
//
// Idea: answers quote their prompt. The guesses are the continuation of an earlier occurrence of
// the text's last n-gram, in the prompt or in the answer. They are verified as a draft network's,
// with all weight of q on the guess: it is accepted with p(x), and the residual is p without x.
//
// Differences from the original: fewer than `draft` tokens are proposed if the text ends before, as
// in transformers (the original then proposes none). Differences from transformers: n-grams of 3
// tokens by default, as in the original, not 2; a guess that ends the sequence is also proposed
// (without further guesses after it), and ends the answer if accepted.
#include "decoders/speculation/prompt_lookup.hpp"

#include <algorithm>

#include "decoders/speculation/speculation.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

Tokens look_up(const Tokens& text, int ngram, int draft) {
  const auto n = std::ssize(text);
  for (auto g = std::min<std::ptrdiff_t>(ngram, n - 1); g >= 1; --g) {
    const auto last = text.end() - g;
    // Without the text's last token, because nothing follows it.
    const auto found = std::search(text.begin(), text.end() - 1, last, text.end());
    if (found == text.end() - 1) continue;
    const auto begin = found + g;
    return {begin, begin + std::min<std::ptrdiff_t>(draft, text.end() - begin)};
  }
  return {};
}

namespace {

class LookupDrafter final : public Drafter {
 public:
  LookupDrafter(int ngram, int draft, const std::vector<Token>& eos)
      : ngram_(ngram), draft_(draft), eos_(eos) {}

  Task<Candidates> draft(const Tokens& text, int, int room) override {
    Candidates x;
    x.tokens = look_up(text, ngram_, std::min(draft_, room));
    const auto end = std::find_first_of(x.tokens.begin(), x.tokens.end(), eos_.begin(), eos_.end());
    if (end != x.tokens.end()) x.tokens.erase(end + 1, x.tokens.end());
    co_return x;
  }

 private:
  int ngram_, draft_;
  const std::vector<Token>& eos_;
};

class PromptLookup final : public FreeRunningDecoder {
 public:
  explicit PromptLookup(const Options& options)
      : FreeRunningDecoder(options),
        ngram_(options.whole("ngram")),
        draft_(options.whole("draft")) {}

  std::optional<int> draft_length() const override { return draft_; }
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override {
    return speculate(name(), std::move(request), context, [this](DraftScene scene) {
      return std::make_unique<LookupDrafter>(ngram_, draft_, scene.eos);
    });
  }

 private:
  int ngram_, draft_;
};

}  // namespace

DecoderEntry prompt_lookup_entry() {
  return {.name = "prompt-lookup",
          .source = "Saxena, prompt lookup decoding",
          .options = with_asking(
              {Option::whole("ngram", 3, {1, kMostGuesses},
                             "length of the longest n-gram that is looked up"),
               Option::whole("draft", 10, {1, kMostGuesses}, "limit of guesses in a pass")}),
          .make = make_as<PromptLookup>,
          .oracles = {"accept"},
          .exact = true,
          .stack_option = "stack"};
}

}  // namespace pardec
