#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/recombine.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/support/rng.hpp"
#include "src/training/training_loop.hpp"

namespace pardec {

/// A format of decoders, and how often an epoch brings every example in it.
struct SharedFormat {
  std::unique_ptr<TrainingFormat> format;
  double share = 1;
};

/// Examples of one shape, asked for in one wording.
struct TrainingExamples {
  Shape shape = Shape::attributes;
  std::string task;        ///< name of the wording
  double unannotated = 1;  ///< share of the attributes that nobody annotated which are learned as
                           ///< absent; the others are unknown
  PromptFile prompt;
  std::vector<Example> train, held_out;
};

/// Samples of examples in several decoders' formats. Each epoch brings every example as often as a
/// format's share says; stacks of titles are formed anew of one category, and all sequences are
/// shuffled, both by seed.
class ExampleSource final : public SampleSource {
 public:
  struct Parts {
    std::vector<TrainingExamples> examples;
    std::vector<SharedFormat> formats;
    ChatTemplate chat_template = find_chat_template("plain");
    std::uint64_t seed = 1;
    int share = 1;         ///< sequences that share one copy of their beginning
    double recombine = 0;  ///< share of the titles that each epoch replaces by recombined ones
  };
  /// `tokenizer` outlives it. ConfigError: a format that takes none of the examples.
  ExampleSource(Parts parts, const Tokenizer& tokenizer);

  std::vector<TrainingSample> epoch(std::int64_t epoch) const override;
  std::vector<TrainingSample> validation() const override;
  const Parts& parts() const { return parts_; }
  size_t training() const;  ///< examples
  size_t held_out() const;

  /// What becomes of the examples in an epoch.
  struct Count {
    std::int64_t sequences = 0, cut = 0;  ///< cut: go on beyond the context length
    std::int64_t left_out = 0;            ///< examples that a format made none of
  };
  /// Of the first epoch.
  Count count() const;

 private:
  std::vector<TrainingSample> samples(const std::vector<Example> TrainingExamples::*which,
                                      std::uint64_t seed, bool recombine, Count& count) const;

  Parts parts_;
  const Tokenizer& tokenizer_;
  std::deque<Recombiner> recombiners_;  // of the examples that are attributes, in order
};

/// Moves a share of `examples` into a second list, by seed and text: equal texts are on one side,
/// and a text's side does not depend on what else there is.
std::vector<Example> hold_out(std::vector<Example>& examples, double share, std::uint64_t seed);

}  // namespace pardec
