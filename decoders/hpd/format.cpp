#include "decoders/hpd/format.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

TrainingSample hpd_sample(const HpdLayout& layout, const std::vector<Tokens>& values,
                          const std::vector<bool>& unknown) {
  TrainingSample sample;
  for (int extra = 0; extra < layout.extra_segments(); ++extra) sample.segments.add({0});
  size_t fed = 0;  // number of tokens of s that were added
  const auto feed_through = [&](int last) {
    for (; fed <= static_cast<size_t>(last); ++fed)
      sample.add(layout.tokens[fed], layout.labels[fed]);
  };
  for (int r = 0; r < layout.values(); ++r) {
    feed_through(layout.end[static_cast<size_t>(r)]);
    const Tokens& value = values[static_cast<size_t>(r)];
    const bool target = unknown.empty() || !unknown[static_cast<size_t>(r)];
    for (int k = 0; k < static_cast<int>(value.size()); ++k) {
      if (k > 0) sample.add(value[static_cast<size_t>(k) - 1], layout.value(r, k));
      if (target) sample.expect(value[static_cast<size_t>(k)]);
    }
  }
  return sample;
}

namespace {

class HpdFormat final : public TrainingFormat {
 public:
  HpdFormat(const HpdOptions& options, const Tokenizer& tokenizer, int context_length)
      : options_(options), tokenizer_(tokenizer), context_length_(context_length) {}

  std::string_view name() const override { return "hpd"; }
  Form form() const override { return Form::json; }
  bool takes_text() const override { return false; }
  int stack() const override { return options_.stack; }

  std::vector<TrainingSample> samples(const TrainingExample& example) const override {
    const HpdLayout layout = lay_out(example.pieces.whole_prompt(), example.pieces.segments,
                                     static_cast<int>(example.job.contexts.size()), options_);
    if (layout.last_position() >= context_length_)
      throw ConfigError(str(example.job.id, ": hpd needs ", layout.last_position() + 1,
                            " positions, the context length is ", context_length_,
                            "; use a smaller `stack` or `k_max`"));
    std::vector<bool> unknown;  // by product, in the order of the values
    for (const std::vector<bool>& product : example.unknown)
      unknown.insert(unknown.end(), product.begin(), product.end());
    if (!unknown.empty() && std::find(unknown.begin(), unknown.end(), false) == unknown.end())
      return {};
    return {
        hpd_sample(layout, hpd_values(example.references, options_.k_max, tokenizer_), unknown)};
  }

 private:
  HpdOptions options_;
  const Tokenizer& tokenizer_;
  int context_length_;
};

}  // namespace

std::unique_ptr<TrainingFormat> make_hpd_format(const HpdOptions& options,
                                                const Tokenizer& tokenizer, int context_length) {
  return std::make_unique<HpdFormat>(options, tokenizer, context_length);
}

std::vector<FormatEntry> hpd_formats() {
  return {{.name = "hpd",
           .meaning = "JSON answer, values in gaps of its skeleton",
           .make =
               [](const Options& options, const FormatScene& scene) {
                 return make_hpd_format(
                     {.k_max = options.whole("k-max"), .stack = options.whole("stack")},
                     scene.tokenizer, scene.config.positions());
               },
           .skips_unannotated = true}};
}

std::vector<TrainingOption> hpd_training_options() {
  const HpdOptions usual;
  return {{Option::whole("stack", usual.stack, {1}, "hpd: products in one prompt"), "N", "stack"},
          {Option::whole("k-max", usual.k_max, {1}, "hpd: positions reserved for a value"), "N",
           "k_max"}};
}

}  // namespace pardec
