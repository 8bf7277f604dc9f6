#include "src/finetune/title_source.hpp"

#include <algorithm>
#include <map>

#include "src/prompt/pieces.hpp"
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

/// What stands in one prompt shares category and attributes.
std::string stack_key(const Example& example) {
  std::string key = example.category;
  for (const ExampleField& field : example.fields) key += "\n" + field.name;
  return key;
}

}  // namespace

std::vector<TrainingSample> TitleSource::epoch(std::int64_t epoch) const {
  const std::uint64_t seed = derive_seed(parts_.seed, str("training epoch ", epoch));
  std::vector<Example> examples = parts_.train;
  Rng rng(derive_seed(seed, "recombine"));
  if (parts_.recombine > 0)
    for (Example& example : examples)
      if (rng.uniform() < parts_.recombine) example = recombiner_.recombine(example, rng);
  return samples(examples, seed);
}

std::vector<TrainingSample> TitleSource::validation() const {
  return samples(parts_.held_out, derive_seed(parts_.seed, "validation"));
}

std::vector<TrainingSample> TitleSource::samples(const std::vector<Example>& examples,
                                                 std::uint64_t seed) const {
  Rng rng(seed);
  std::map<std::string, std::vector<const Example*>> groups;
  for (const Example& example : examples) groups[stack_key(example)].push_back(&example);
  const DecodeOptions flags;
  std::vector<TrainingSample> all;
  for (const auto& format : parts_.formats)
    for (auto& [key, members] : groups) {
      shuffle(members, rng);
      const auto stack = static_cast<size_t>(format->stack());
      std::vector<TrainingSample> alike;  // of one category: one instruction
      for (size_t at = 0; at < members.size(); at += stack) {
        const std::vector<const Example*> together(
            members.begin() + static_cast<std::ptrdiff_t>(at),
            members.begin() + static_cast<std::ptrdiff_t>(std::min(at + stack, members.size())));
        TrainingExample example;
        example.job =
            make_job(together.front()->id, together, format->form(), {parts_.prompt, {}, 0}, flags);
        example.pieces = make_pieces(example.job, format->form(), parts_.prompt,
                                     parts_.chat_template, tokenizer_);
        example.references = references_of(together);
        example.seed = derive_seed(seed, example.job.id);
        for (TrainingSample& sample : format->samples(example)) alike.push_back(std::move(sample));
      }
      for (TrainingSample& sample : share_prefixes(std::move(alike), parts_.share))
        all.push_back(std::move(sample));
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
