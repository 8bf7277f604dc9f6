#include "decoders/space/format.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "decoders/space/space.hpp"
#include "decoders/training_formats.hpp"
#include "decoders/training_text.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The row of y_s, the last one that a group sees; for s = 0, the end of the prompt.
int last_seen(const TrainingSample& causal, int s, int k, int first) {
  const auto N = std::ssize(causal.targets) - first;
  if (s < 0 || s + 1 + k > N)
    throw std::logic_error(str("SAR: s is ", s, " with k = ", k, " and ", N, " answer tokens"));
  return causal.targets[static_cast<size_t>(first)].first + s;
}

}  // namespace

TrainingSample sar_sample(const TrainingSample& causal, int s, int k, Token mask, int first) {
  const int last = last_seen(causal, s, k, first);
  TrainingSample sample = causal;
  sample.tokens.resize(static_cast<size_t>(last) + 1);
  sample.labels.resize(static_cast<size_t>(last) + 1);
  sample.targets.resize(static_cast<size_t>(first + s) + 1);
  for (int j = 1; j <= k; ++j) {
    // Since the rest is cut off, a group sees exactly the causal rows before it.
    sample.add(mask, text_label(last + j));
    sample.expect(causal.targets[static_cast<size_t>(first + s + j)].second);
  }
  return sample;
}

TrainingSample sar_one_pass(const TrainingSample& causal, const std::vector<int>& cuts, int k,
                            Token mask, int first) {
  TrainingSample sample = causal;
  for (int group = 0; group < std::ssize(cuts); ++group) {
    const int s = cuts[static_cast<size_t>(group)], last = last_seen(causal, s, k, first);
    sample.segments.add({0});
    for (int j = 1; j <= k; ++j) {
      sample.add(mask, space_mask(last, group, j));
      sample.expect(causal.targets[static_cast<size_t>(first + s + j)].second);
    }
  }
  return sample;
}

namespace {

class SpaceFormat final : public TrainingFormat {
 public:
  SpaceFormat(const SpaceFormatOptions& options, const Tokenizer& tokenizer, int context_length)
      : options_(options),
        tokenizer_(tokenizer),
        context_length_(context_length),
        ar_(make_ar_format(options.ar, tokenizer, context_length)) {}

  std::string_view name() const override { return options_.ar.together ? "space" : "space-value"; }
  Form form() const override { return ar_->form(); }
  int stack() const override { return ar_->stack(); }

  std::vector<TrainingSample> samples(const TrainingExample& example) const override {
    Rng rng(example.seed);
    if (example.form == Form::free) return text_samples(example, rng);
    std::vector<TrainingSample> all = ar_->samples(example);
    for (TrainingSample& sample : all) {
      if (std::ssize(sample.targets) <= options_.k || rng.uniform() < options_.p_ar) continue;
      sample = with_masks(sample, 0, rng);
    }
    return all;
  }

 private:
  /// One of the turns gets masks, and becomes the last one.
  std::vector<TrainingSample> text_samples(const TrainingExample& example, Rng& rng) const {
    if (rng.uniform() < options_.p_ar) return ar_->samples(example);
    const TrainingText text =
        training_text(example, tokenizer_, options_.ar.eos, context_length_ - options_.k);
    std::vector<size_t> long_enough;
    for (size_t turn = 0; turn < text.turns.size(); ++turn)
      if (std::ssize(text.turns[turn].answer) > options_.k) long_enough.push_back(turn);
    if (long_enough.empty()) return ar_->samples(example);
    const size_t turn = long_enough[rng.below(long_enough.size())];
    const TrainingSample causal = causal_turns(text, turn + 1);
    const auto first = std::ssize(causal.targets) - std::ssize(text.turns[turn].answer);
    TrainingSample sample = with_masks(causal, static_cast<int>(first), rng);
    sample.cut = text.cut && turn + 1 == text.turns.size();
    return {std::move(sample)};
  }

  /// Cuts the answer that begins at target `first`, s = 0 .. N - k - 1.
  TrainingSample with_masks(const TrainingSample& causal, int first, Rng& rng) const {
    std::vector<int> cuts(causal.targets.size() - static_cast<size_t>(first + options_.k));
    std::iota(cuts.begin(), cuts.end(), 0);
    const size_t groups = std::min(cuts.size(), static_cast<size_t>(options_.groups));
    for (size_t i = 0; i < groups; ++i) std::swap(cuts[i], cuts[i + rng.below(cuts.size() - i)]);
    cuts.resize(groups);
    return options_.one_pass ? sar_one_pass(causal, cuts, options_.k, options_.mask, first)
                             : sar_sample(causal, cuts.front(), options_.k, options_.mask, first);
  }

  SpaceFormatOptions options_;
  const Tokenizer& tokenizer_;
  int context_length_;
  std::unique_ptr<TrainingFormat> ar_;
};

}  // namespace

std::unique_ptr<TrainingFormat> make_space_format(const SpaceFormatOptions& options,
                                                  const Tokenizer& tokenizer, int context_length) {
  return std::make_unique<SpaceFormat>(options, tokenizer, context_length);
}

namespace {

SpaceFormatOptions masked(const Options& options, const FormatScene& scene, ArFormatOptions ar) {
  if (options.whole("mask-groups") > 1 && !options.flag("one-pass"))
    throw ConfigError(
        "`mask_groups`: a cut answer has one group of masks; several are for `one_pass`");
  return {.ar = ar,
          .k = options.whole("masks"),
          .p_ar = options.number("ar-share"),
          .one_pass = options.flag("one-pass"),
          .groups = options.whole("mask-groups"),
          .mask = space_mask_token(options.text("mask-token"), &scene.tokenizer,
                                   scene.config.vocab_size, /*trains=*/true)};
}

}  // namespace

std::vector<FormatEntry> space_formats() {
  return {{.name = "space",
           .meaning = "as ar, with masks",
           .make =
               [](const Options& options, const FormatScene& scene) {
                 return make_space_format(masked(options, scene,
                                                 {.stack = options.whole("ar-stack"),
                                                  .eos = end_of_answer(scene.config)}),
                                          scene.tokenizer, scene.config.positions());
               },
           .asks = "together"},
          {.name = "space-value",
           .meaning = "as ar-value, with masks",
           .make =
               [](const Options& options, const FormatScene& scene) {
                 return make_space_format(
                     masked(options, scene,
                            {.together = false, .eos = end_of_sequence(scene, "space-value")}),
                     scene.tokenizer, scene.config.positions());
               },
           .asks = "separately"}};
}

std::vector<TrainingOption> space_training_options() {
  const SpaceFormatOptions usual;
  return {
      {Option::whole("masks", usual.k, {1}, "space: number of masks after a cut answer (k)"), "N",
       "space.k", /*smaller_too=*/true},  // fewer masks see what the first of more masks see
      {Option::number("ar-share", usual.p_ar, {0, 1},
                      "space: share of sequences without masks (p_ar)"),
       "X", "space.ar_share"},
      {Option::token("mask-token",
                     "space: [M] as id or text, if tokenizer.json does not have it by name"),
       "TOKEN", "space.mask_token"},
      {Option::flag("one-pass", usual.one_pass,
                    "space: keep the whole answer next to the masks, instead of cutting it"),
       "", "space.one_pass"},
      {Option::whole("mask-groups", usual.groups, {1},
                     "space: number of groups of masks per answer, with `one_pass`"),
       "N", "space.mask_groups"}};
}

}  // namespace pardec
