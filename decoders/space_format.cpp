#include "decoders/space_format.hpp"

#include <stdexcept>

#include "decoders/space.hpp"
#include "decoders/taught_text.hpp"
#include "decoders/training_formats.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

TrainingSample sar_sample(const TrainingSample& causal, int s, int k, Token mask, bool one_pass,
                          int first) {
  const auto target = [&](int i) { return causal.targets[static_cast<size_t>(first + i)]; };
  const auto N = std::ssize(causal.targets) - first;
  if (s < 0 || s + 1 + k > N)
    throw std::logic_error(
        str("sar_sample: s is ", s, " with k = ", k, " and ", N, " answer tokens"));
  const int last = target(0).first + s;  // row of y_s; of the prompt's end where s = 0
  TrainingSample sample = causal;
  if (one_pass) {
    sample.segments.add({0});
  } else {
    sample.tokens.resize(static_cast<size_t>(last) + 1);
    sample.labels.resize(static_cast<size_t>(last) + 1);
    sample.targets.resize(static_cast<size_t>(first + s) + 1);
  }
  for (int j = 1; j <= k; ++j) {
    // With the rest cut off, plainly causal rows are what a group sees.
    sample.add(mask, one_pass ? space_mask(last, 0, j) : text_label(last + j));
    sample.expect(target(s + j).second);
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
      const auto places = std::ssize(sample.targets) - options_.k;  // s = 0 .. N - k - 1
      if (places < 1 || rng.uniform() < options_.p_ar) continue;
      const auto s = static_cast<int>(rng.below(static_cast<std::uint64_t>(places)));
      sample = sar_sample(sample, s, options_.k, options_.mask, options_.one_pass);
    }
    return all;
  }

 private:
  /// One of the turns gets masks, and is then the last.
  std::vector<TrainingSample> text_samples(const TrainingExample& example, Rng& rng) const {
    if (rng.uniform() < options_.p_ar) return ar_->samples(example);
    const TaughtText text =
        taught_text(example, tokenizer_, options_.ar.eos, context_length_ - options_.k);
    std::vector<size_t> long_enough;
    for (size_t turn = 0; turn < text.turns.size(); ++turn)
      if (std::ssize(text.turns[turn].answer) > options_.k) long_enough.push_back(turn);
    if (long_enough.empty()) return ar_->samples(example);
    const size_t turn = long_enough[rng.below(long_enough.size())];
    const auto answer = static_cast<int>(text.turns[turn].answer.size());
    const auto s = static_cast<int>(rng.below(static_cast<std::uint64_t>(answer - options_.k)));
    const TrainingSample causal = causal_turns(text, turn + 1);
    TrainingSample sample = sar_sample(causal, s, options_.k, options_.mask, options_.one_pass,
                                       static_cast<int>(causal.targets.size()) - answer);
    sample.cut = text.cut && turn + 1 == text.turns.size();
    return {std::move(sample)};
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
  return {.ar = ar,
          .k = options.whole("masks"),
          .p_ar = options.number("ar-share"),
          .one_pass = options.flag("one-pass"),
          .mask = space_mask_token(options.text("mask-token"), &scene.tokenizer,
                                   scene.config.vocab_size)};
}

}  // namespace

std::vector<FormatEntry> space_formats() {
  return {{.name = "space",
           .meaning = "that of ar with masks",
           .make =
               [](const Options& options, const FormatScene& scene) {
                 return make_space_format(masked(options, scene,
                                                 {.stack = options.whole("ar-stack"),
                                                  .eos = end_of_answer(scene.config)}),
                                          scene.tokenizer, scene.config.positions());
               },
           .asks = "together"},
          {.name = "space-value",
           .meaning = "that of ar-value with masks",
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
  return {{Option::whole("masks", usual.k, {1}, "space: masks behind a cut answer (k)"), "N",
           "space.masks"},
          {Option::number("ar-share", usual.p_ar, {0, 1},
                          "space: share of sequences without masks (p_ar)"),
           "X", "space.ar_share"},
          {Option::token("mask-token",
                         "space: [M] by id or text where tokenizer.json has no such name"),
           "TOKEN", "space.mask_token"},
          {Option::flag("one-pass", usual.one_pass,
                        "space: masks beside the whole answer, instead of in place of its rest"),
           "", "space.one_pass"}};
}

}  // namespace pardec
