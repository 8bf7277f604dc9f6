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

/// A training format. An epoch includes every example `share` times in this format. If `share` is
/// not an integer, its fractional part is the probability that an example is included once more.
struct SharedFormat {
  std::unique_ptr<TrainingFormat> format;
  double share = 1;
};

/// Training examples of one shape, with one wording.
struct TrainingExamples {
  Shape shape = Shape::attributes;
  std::string task;  ///< name of the wording
  /// Share, from 0 to 1, of the unannotated attributes that are trained as absent. The other
  /// unannotated attributes are treated as unknown.
  double unannotated = 1;
  PromptFile prompt;                     ///< the wording
  std::vector<Example> train, held_out;  ///< for training, for validation
};

/// Makes training samples from examples, in the formats of several decoders. In every epoch, the
/// product titles of each category are combined into new stacks, and all sequences are shuffled.
/// The stacks and the order depend only on the seed and the number of the epoch.
class ExampleSource final : public SampleSource {
 public:
  /// The examples and settings from which the samples are made.
  struct Parts {
    std::vector<TrainingExamples> examples;
    std::vector<SharedFormat> formats;
    ChatTemplate chat_template = find_chat_template("plain");
    std::uint64_t seed = 1;
    int share = 1;  ///< maximum number of sequences that share_prefixes joins
    /// share of the titles, from 0 to 1, that are replaced by recombined titles (Recombiner) in
    /// each epoch
    double recombine = 0;
  };
  /// `tokenizer` must outlive this object. ConfigError: a format accepts none of the examples.
  ExampleSource(Parts parts, const Tokenizer& tokenizer);

  /// See SampleSource. ConfigError: see make_job, make_pieces and TrainingFormat::samples.
  /// RunError: see Tokenizer.
  std::vector<TrainingSample> epoch(std::int64_t epoch) const override;
  /// See SampleSource. Errors: see epoch.
  std::vector<TrainingSample> validation() const override;
  const Parts& parts() const { return parts_; }
  size_t training() const;  ///< number of training examples
  size_t held_out() const;  ///< number of examples for validation

  /// Counts of one epoch.
  struct Count {
    std::int64_t sequences = 0;
    std::int64_t cut = 0;       ///< sequences that were cut at the context length
    std::int64_t left_out = 0;  ///< examples or stacks from which a format made no sequence
  };
  /// Makes the samples of the first epoch, and returns their counts. Errors: see epoch.
  Count count() const;

 private:
  std::vector<TrainingSample> samples(const std::vector<Example> TrainingExamples::*which,
                                      std::uint64_t seed, bool recombine, Count& count) const;

  Parts parts_;
  const Tokenizer& tokenizer_;
  std::deque<Recombiner> recombiners_;  // one for each entry of examples with attributes, in order
};

/// Moves a share of `examples` to a second list, and returns this list. Whether an example is moved
/// depends only on the seed and the example's cluster. Thus examples that share a text are in the
/// same list.
std::vector<Example> hold_out(std::vector<Example>& examples, double share, std::uint64_t seed);

}  // namespace pardec
