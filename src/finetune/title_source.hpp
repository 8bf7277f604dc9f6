#pragma once
#include <memory>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/recombine.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/support/rng.hpp"
#include "src/training/training_loop.hpp"

namespace pardec {

/// Samples of titles in several decoders' formats. Each epoch brings every title once in each
/// format; stacks are formed anew of titles of one category, and all sequences are shuffled, both
/// by seed.
class TitleSource final : public SampleSource {
 public:
  struct Parts {
    std::vector<Example> train, held_out;
    std::vector<std::unique_ptr<TrainingFormat>> formats;
    PromptFile prompt;
    ChatTemplate chat_template = find_chat_template("plain");
    std::uint64_t seed = 1;
    int share = 1;         ///< sequences that share one copy of their beginning
    double recombine = 0;  ///< share of the titles that each epoch replaces by recombined ones
  };
  /// `tokenizer` outlives it.
  TitleSource(Parts parts, const Tokenizer& tokenizer)
      : parts_(std::move(parts)), tokenizer_(tokenizer), recombiner_(parts_.train) {}

  std::vector<TrainingSample> epoch(std::int64_t epoch) const override;
  std::vector<TrainingSample> validation() const override;
  const Parts& parts() const { return parts_; }

 private:
  std::vector<TrainingSample> samples(const std::vector<Example>& examples,
                                      std::uint64_t seed) const;

  Parts parts_;
  const Tokenizer& tokenizer_;
  Recombiner recombiner_;
};

/// Moves a share of `examples` into a second list, by seed and text: equal titles are on one side,
/// and a title's side does not depend on what else there is.
std::vector<Example> hold_out(std::vector<Example>& examples, double share, std::uint64_t seed);

}  // namespace pardec
