#include "src/finetune/example_source.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "src/prompt/pieces.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "src/tasks/decode_options.hpp"
#include "src/tasks/request.hpp"
#include "src/training/shared_prefix.hpp"

namespace pardec {

namespace {

template <typename T>
void shuffle(std::vector<T>& items, Rng& rng) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

/// Examples of one prompt have the same category and attributes.
std::string stack_key(const Example& example) {
  std::string key = example.category;
  for (const ExampleField& field : example.fields) key += "\n" + field.name;
  if (example.system) key += "\n\n" + *example.system;
  return key;
}

/// The form in which a format asks for examples of this shape; none: it does not accept them.
std::optional<Form> form_of(const TrainingFormat& format, Shape shape) {
  if (shape != Shape::open) return format.form();
  return format.takes_text() ? std::optional(Form::free) : std::nullopt;
}

/// How many times an example is in an epoch: the integer part of the share, and one more at random.
int copies(double share, Rng& rng) {
  const double whole = std::floor(share);
  return static_cast<int>(whole) + (share > whole && rng.uniform() < share - whole);
}

/// [example][field]: whether the value is unknown because it was not annotated; a `share` of these
/// values is trained as absent nevertheless.
std::vector<std::vector<bool>> unknown_in(const std::vector<const Example*>& examples, double share,
                                          Rng& rng) {
  std::vector<std::vector<bool>> all;
  for (const Example* example : examples) {
    std::vector<bool>& fields = all.emplace_back();
    for (const ExampleField& field : example->fields)
      fields.push_back(!field.annotated && rng.uniform() >= share);
  }
  return all;
}

}  // namespace

ExampleSource::ExampleSource(Parts parts, const Tokenizer& tokenizer)
    : parts_(std::move(parts)), tokenizer_(tokenizer) {
  for (const TrainingExamples& examples : parts_.examples)
    if (examples.shape == Shape::attributes) recombiners_.emplace_back(examples.train);
  for (const auto& [format, share] : parts_.formats)
    if (std::none_of(parts_.examples.begin(), parts_.examples.end(),
                     [&format = format](const TrainingExamples& examples) {
                       return form_of(*format, examples.shape).has_value();
                     }))
      throw ConfigError(str("format ", format->name(),
                            " fills the fields of a job, and open prompts have none; expected a "
                            "dataset of attributes or questions"));
}

std::vector<TrainingSample> ExampleSource::epoch(std::int64_t epoch) const {
  Count count;
  return samples(&TrainingExamples::train, derive_seed(parts_.seed, str("training epoch ", epoch)),
                 /*recombine=*/true, count);
}

std::vector<TrainingSample> ExampleSource::validation() const {
  Count count;
  return samples(&TrainingExamples::held_out, derive_seed(parts_.seed, "validation"),
                 /*recombine=*/false, count);
}

ExampleSource::Count ExampleSource::count() const {
  Count count;
  samples(&TrainingExamples::train, derive_seed(parts_.seed, "training epoch 0"),
          /*recombine=*/true, count);
  return count;
}

size_t ExampleSource::training() const {
  size_t sum = 0;
  for (const TrainingExamples& examples : parts_.examples) sum += examples.train.size();
  return sum;
}

size_t ExampleSource::held_out() const {
  size_t sum = 0;
  for (const TrainingExamples& examples : parts_.examples) sum += examples.held_out.size();
  return sum;
}

std::vector<TrainingSample> ExampleSource::samples(
    const std::vector<Example> TrainingExamples::*which, std::uint64_t seed, bool recombine,
    Count& count) const {
  Rng rng(seed), draws(derive_seed(seed, "shares")), parts(derive_seed(seed, "recombine")),
      absent(derive_seed(seed, "unannotated"));
  const DecodeOptions flags;
  std::vector<TrainingSample> all;
  auto recombiner = recombiners_.begin();
  for (const TrainingExamples& of : parts_.examples) {
    std::vector<Example> examples = of.*which;
    if (of.shape == Shape::attributes) {
      if (recombine && parts_.recombine > 0)
        for (Example& example : examples)
          if (parts.uniform() < parts_.recombine) example = recombiner->recombine(example, parts);
      ++recombiner;
    }
    for (const auto& [format, share] : parts_.formats) {
      const std::optional<Form> form = form_of(*format, of.shape);
      if (!form) continue;
      std::map<std::string, std::vector<const Example*>> groups;
      for (const Example& example : examples)
        for (int left = copies(share, draws); left > 0; --left)
          groups[stack_key(example)].push_back(&example);
      for (auto& [key, members] : groups) {
        shuffle(members, rng);
        const auto stack = static_cast<size_t>(of.shape == Shape::attributes ? format->stack() : 1);
        std::vector<TrainingSample> alike;  // of one category, with the same instruction
        for (size_t at = 0; at < members.size(); at += stack) {
          const std::vector<const Example*> together(
              members.begin() + static_cast<std::ptrdiff_t>(at),
              members.begin() + static_cast<std::ptrdiff_t>(std::min(at + stack, members.size())));
          TrainingExample example;
          example.form = *form;
          example.job = make_job(together.front()->id, together, *form, {of.prompt, {}, 0}, flags);
          example.pieces =
              make_pieces(example.job, *form, of.prompt, parts_.chat_template, tokenizer_);
          example.references = references_of(together);
          if (of.unannotated < 1 && of.shape == Shape::attributes)
            example.unknown = unknown_in(together, of.unannotated, absent);
          example.seed = derive_seed(seed, example.job.id);
          example.unfinished = together.front()->unfinished;
          std::vector<TrainingSample> made = format->samples(example);
          count.left_out += made.empty();
          for (TrainingSample& sample : made) {
            ++count.sequences;
            count.cut += sample.cut;
            alike.push_back(std::move(sample));
          }
        }
        for (TrainingSample& sample : share_prefixes(std::move(alike), parts_.share))
          all.push_back(std::move(sample));
      }
    }
  }
  shuffle(all, rng);
  return all;
}

std::vector<Example> hold_out(std::vector<Example>& examples, double share, std::uint64_t seed) {
  const auto held =
      std::stable_partition(examples.begin(), examples.end(), [&](const Example& example) {
        return Rng(derive_seed(seed, "hold out " + example.cluster)).uniform() >= share;
      });
  std::vector<Example> out(std::make_move_iterator(held), std::make_move_iterator(examples.end()));
  examples.erase(held, examples.end());
  return out;
}

}  // namespace pardec
