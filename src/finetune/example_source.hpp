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

/// A training format, and how many times an epoch includes every example in this format.
struct SharedFormat {
  std::unique_ptr<TrainingFormat> format;
  double share = 1;
};

/// Examples of one shape with one wording.
struct TrainingExamples {
  Shape shape = Shape::attributes;
  std::string task;  ///< name of the wording
  /// share, 0 to 1, of the unannotated attributes that are trained as absent; the others are
  /// treated as unknown
  double unannotated = 1;
  PromptFile prompt;
  std::vector<Example> train, held_out;
};

/// Samples of examples in the formats of several decoders. Each epoch includes every example as
/// often as the format's share says. In every epoch, stacks of titles of one category are formed
/// again, and all sequences are shuffled, both depending on the seed.
class ExampleSource final : public SampleSource {
 public:
  struct Parts {
    std::vector<TrainingExamples> examples;
    std::vector<SharedFormat> formats;
    ChatTemplate chat_template = find_chat_template("plain");
    std::uint64_t seed = 1;
    int share = 1;  ///< number of sequences that share one copy of their prefix
    /// share of the titles that are replaced by recombined ones in each epoch
    double recombine = 0;
  };
  /// `tokenizer` must outlive this object. ConfigError: a format accepts none of the examples.
  ExampleSource(Parts parts, const Tokenizer& tokenizer);

  std::vector<TrainingSample> epoch(std::int64_t epoch) const override;
  std::vector<TrainingSample> validation() const override;
  const Parts& parts() const { return parts_; }
  size_t training() const;  ///< number of examples
  size_t held_out() const;

  /// What happens to the examples in an epoch.
  struct Count {
    std::int64_t sequences = 0, cut = 0;  ///< cut: sequences that exceed the context length
    std::int64_t left_out = 0;            ///< examples for which a format made no sequence
  };
  /// Counts for the first epoch.
  Count count() const;

 private:
  std::vector<TrainingSample> samples(const std::vector<Example> TrainingExamples::*which,
                                      std::uint64_t seed, bool recombine, Count& count) const;

  Parts parts_;
  const Tokenizer& tokenizer_;
  std::deque<Recombiner> recombiners_;  // for the examples of attributes, in order
};

/// Moves a share of `examples` into a second list, determined by seed and text: examples with equal
/// texts stay together, and the choice does not depend on other examples.
std::vector<Example> hold_out(std::vector<Example>& examples, double share, std::uint64_t seed);

}  // namespace pardec
