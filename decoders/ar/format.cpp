#include "decoders/ar/format.hpp"

#include <limits>

#include "decoders/decoder.hpp"
#include "decoders/training_formats.hpp"
#include "decoders/training_text.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

TrainingSample causal_sample(const Tokens& prompt, const Tokens& answer,
                             const std::vector<bool>& unknown) {
  TrainingSample sample;
  const auto feed = [&](Token token) {
    const int position = static_cast<int>(sample.tokens.size());
    sample.add(token, {.position = position, .order = position, .segment = 0, .rank = 0});
  };
  for (const Token token : prompt) feed(token);
  for (size_t i = 0; i < answer.size(); ++i) {
    if (i > 0) feed(answer[i - 1]);
    if (unknown.empty() || !unknown[i]) sample.expect(answer[i]);
  }
  return sample;
}

JsonAnswerIds json_answer_ids(const TrainingExample& example, const Tokenizer& tokenizer) {
  const JsonSkeleton skeleton = json_skeleton(example.job.contexts);
  JsonAnswerIds ids;
  for (const auto& values : example.references)
    for (size_t n = 0; n < values.size(); ++n) {
      const size_t r = ids.keys.size();
      ids.keys.push_back(r == 0 ? example.pieces.segments[0]
                                : tokenizer.encode_piece(skeleton.segments[r].substr(1), false));
      ids.values.push_back(
          ids_through_line_break(json_value(values[n], n + 1 == values.size()) + "\n",
                                 std::numeric_limits<int>::max(), tokenizer));
    }
  ids.tail = tokenizer.encode_piece(skeleton.tail.substr(1), false);
  return ids;
}

Tokens JsonAnswerIds::joined() const {
  Tokens all;
  const auto add = [&](const Tokens& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (size_t r = 0; r < keys.size(); ++r) {
    add(keys[r]);
    add(values[r]);
  }
  add(tail);
  return all;
}

std::vector<bool> JsonAnswerIds::unknown(const std::vector<std::vector<bool>>& of) const {
  std::vector<bool> all;
  if (of.empty()) return all;
  size_t r = 0;
  for (const std::vector<bool>& context : of)
    for (const bool value : context) {
      all.insert(all.end(), keys[r].size(), false);
      all.insert(all.end(), values[r++].size(), value);
    }
  all.insert(all.end(), tail.size(), false);
  return all;
}

namespace {

class ArFormat final : public TrainingFormat {
 public:
  ArFormat(const ArFormatOptions& options, const Tokenizer& tokenizer, int context_length)
      : options_(options), tokenizer_(tokenizer), context_length_(context_length) {}

  std::string_view name() const override { return options_.together ? "ar" : "ar-value"; }
  Form form() const override { return options_.together ? Form::json : Form::value; }
  int stack() const override { return options_.stack; }

  std::vector<TrainingSample> samples(const TrainingExample& example) const override {
    std::vector<TrainingSample> all;
    if (example.form == Form::free) {
      const TrainingText text = training_text(example, tokenizer_, options_.eos, context_length_);
      if (text.turns.empty()) return all;
      all.push_back(causal_turns(text, text.turns.size()));
      all.back().cut = text.cut;
      return all;
    }
    if (options_.together) {
      const JsonAnswerIds ids = json_answer_ids(example, tokenizer_);
      all.push_back(
          causal_sample(example.pieces.whole_prompt(), ids.joined(), ids.unknown(example.unknown)));
    } else {
      for (size_t c = 0; c < example.references.size(); ++c)
        for (size_t f = 0; f < example.references[c].size(); ++f) {
          if (!example.unknown.empty() && example.unknown[c][f]) continue;
          Tokens answer = tokenizer_.encode_piece(
              " " + example.references[c][f].value_or(std::string(kAbsent)), false);
          answer.push_back(*options_.eos);
          all.push_back(causal_sample(example.pieces.field_prompt(c, f), answer));
        }
    }
    for (const TrainingSample& sample : all)
      if (std::ssize(sample.tokens) > context_length_)
        throw ConfigError(
            str(example.job.id, ": ar needs ", sample.tokens.size(),
                " positions, the context length is ", context_length_,
                "; use a larger `context_length`, or a smaller `ar_stack` if it is above 1"));
    return all;
  }

 private:
  ArFormatOptions options_;
  const Tokenizer& tokenizer_;
  int context_length_;
};

}  // namespace

std::unique_ptr<TrainingFormat> make_ar_format(const ArFormatOptions& options,
                                               const Tokenizer& tokenizer, int context_length) {
  return std::make_unique<ArFormat>(options, tokenizer, context_length);
}

std::vector<FormatEntry> ar_formats() {
  return {{.name = "ar",
           .meaning = "JSON answer",
           .make =
               [](const Options& options, const FormatScene& scene) {
                 return make_ar_format(
                     {.stack = options.whole("ar-stack"), .eos = end_of_answer(scene.config)},
                     scene.tokenizer, scene.config.positions());
               },
           .plain_text = true,
           .skips_unannotated = true,
           .asks = "together"},
          {.name = "ar-value",
           .meaning = "one field",
           .make =
               [](const Options&, const FormatScene& scene) {
                 return make_ar_format(
                     {.together = false, .eos = end_of_sequence(scene, "ar-value")},
                     scene.tokenizer, scene.config.positions());
               },
           .plain_text = true,
           .skips_unannotated = true,
           .asks = "separately"}};
}

std::vector<TrainingOption> ar_training_options() {
  return {{Option::whole("ar-stack", ArFormatOptions{}.stack, {1},
                         "ar, space, apar: products in one prompt"),
           "N", "ar_stack"}};
}

}  // namespace pardec
