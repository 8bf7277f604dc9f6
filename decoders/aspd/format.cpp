#include "decoders/aspd/format.hpp"

#include <algorithm>

#include "decoders/training_formats.hpp"
#include "decoders/training_text.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::vector<MarkupPart> aspd_json_parts(
    const std::vector<Context>& contexts,
    const std::vector<std::vector<std::optional<std::string>>>& references) {
  const JsonSkeleton skeleton = json_skeleton(contexts);
  std::vector<MarkupPart> parts;
  size_t r = 0;
  for (size_t c = 0; c < contexts.size(); ++c) {
    MarkupPart& part = parts.emplace_back();
    for (size_t n = 0; n < contexts[c].fields.size(); ++n, ++r) {
      // A segment ends with the line of its value. In the first value's segment, the lines before
      // that are serial.
      const std::string& segment = skeleton.segments[r];
      const size_t line = segment.rfind('\n') + 1;
      if (n == 0) part.serial = segment.substr(0, line);
      part.branches.push_back(
          {contexts[c].fields[n].name,
           " " + segment.substr(line) +
               json_value(references[c][n], n + 1 == contexts[c].fields.size())});
    }
  }
  parts.push_back({skeleton.tail, {}});
  return parts;
}

TrainingSample aspd_sample(const Tokens& prompt, const std::vector<AspdIds>& answer,
                           const AspdOptions& options, const AspdTokens& tokens,
                           const Tokenizer& tokenizer) {
  TrainingSample sample;
  AspdLayout layout(options.positions, options.shared,
                    [&](const std::vector<int>& sees) { return sample.segments.add(sees); });
  for (const Token token : prompt) sample.add(token, layout.main());
  int before = static_cast<int>(prompt.size()) - 1;  // row of the previous token in flattened order
  const auto put = [&](Token token, const RowLabel& label) {
    sample.targets.emplace_back(before, token);
    sample.add(token, label);
    before = static_cast<int>(sample.tokens.size()) - 1;
  };
  for (const AspdIds& part : answer) {
    for (const Token token : part.serial) put(token, layout.main());
    if (part.branches.empty()) continue;
    for (const auto& branch : part.branches) {
      put(tokens.title, layout.main());
      for (const Token token : branch.title) put(token, layout.main());
      put(tokens.title_end, layout.main());
    }
    put(tokens.para, layout.main());
    layout.open(static_cast<int>(part.branches.size()));
    std::vector<Tokens> texts;
    std::vector<int> lengths;
    for (const auto& branch : part.branches) {
      Tokens& text = texts.emplace_back(branch_prefix(branch.title, tokens, &tokenizer));
      text.insert(text.end(), branch.content.begin(), branch.content.end());
      text.push_back(tokens.branch_end);
      lengths.push_back(static_cast<int>(text.size()));
    }
    for (size_t k = 0; k < texts.size(); ++k)
      for (int r = 0; r < lengths[k]; ++r)
        put(texts[k][static_cast<size_t>(r)], layout.branch(static_cast<int>(k), r));
    layout.close(lengths);
    if (layout.moves())
      for (size_t k = 0; k < texts.size(); ++k)
        for (int r = 0; r < lengths[k]; ++r)
          sample.add(texts[k][static_cast<size_t>(r)], layout.copy(static_cast<int>(k), r));
    put(tokens.para_end, layout.main());
  }
  sample.tokens.pop_back();
  sample.labels.pop_back();
  return sample;
}

namespace {

class AspdFormat final : public TrainingFormat {
 public:
  AspdFormat(AspdFormatOptions options, const Tokenizer& tokenizer, int context_length,
             int vocab_size)
      : options_(std::move(options)),
        tokenizer_(tokenizer),
        context_length_(context_length),
        tokens_(
            find_aspd_tokens(options_.decoder.tokens, &tokenizer, vocab_size, /*trains=*/true)) {}

  std::string_view name() const override { return options_.together ? "aspd" : "aspd-value"; }
  Form form() const override { return options_.together ? Form::json : Form::value; }
  int stack() const override { return 1; }

  std::vector<TrainingSample> samples(const TrainingExample& example) const override {
    std::vector<TrainingSample> all;
    if (example.form == Form::free) {
      const TrainingText text = training_text(example, tokenizer_, options_.eos, context_length_);
      if (text.turns.empty()) return all;
      if ((text.cut || example.unfinished) && text.turns.size() == 1) return all;
      all.push_back(sample(text.turns.front().given,
                           parse_markup(text.turns.front().text, example.job.id), example.job.id,
                           options_.eos));
    } else if (options_.together) {
      all.push_back(sample(example.pieces.whole_prompt(),
                           aspd_json_parts(example.job.contexts, example.references),
                           example.job.id, std::nullopt));
    } else {
      for (size_t c = 0; c < example.references.size(); ++c)
        for (size_t f = 0; f < example.references[c].size(); ++f)
          all.push_back(
              sample(example.pieces.field_prompt(c, f),
                     parse_markup(" " + example.references[c][f].value_or(std::string(kAbsent)),
                                  example.job.id),
                     example.job.id, options_.eos));
    }
    // Branches cannot be cut, so an example that needs more positions is left out.
    for (const TrainingSample& sample : all)
      for (const RowLabel& label : sample.labels)
        if (label.position >= context_length_) return {};
    return all;
  }

 private:
  TrainingSample sample(const Tokens& prompt, const std::vector<MarkupPart>& parts,
                        const std::string& id, std::optional<Token> eos) const {
    std::vector<AspdIds> ids;
    for (const MarkupPart& part : parts) {
      AspdIds& of = ids.emplace_back();
      of.serial = tokenizer_.encode_piece(part.serial, false);
      for (const auto& branch : part.branches)
        of.branches.push_back({tokenizer_.encode_piece(branch.title, false),
                               tokenizer_.encode_piece(branch.content, false)});
      if (options_.decoder.shared && std::ssize(of.branches) > AspdLayout::kMostSharedBranches)
        throw ConfigError(str(id, ": a block has ", of.branches.size(),
                              " branches, with mask=shared ", AspdLayout::kMostSharedBranches,
                              " is the most"));
    }
    if (eos) ids.back().serial.push_back(*eos);
    return aspd_sample(prompt, ids, options_.decoder, tokens_, tokenizer_);
  }

  AspdFormatOptions options_;
  const Tokenizer& tokenizer_;
  int context_length_;
  AspdTokens tokens_;
};

}  // namespace

std::unique_ptr<TrainingFormat> make_aspd_format(const AspdFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length,
                                                 int vocab_size) {
  return std::make_unique<AspdFormat>(options, tokenizer, context_length, vocab_size);
}

namespace {

std::unique_ptr<TrainingFormat> make(const Options& options, const FormatScene& scene,
                                     bool together, std::optional<Token> eos) {
  const AspdOptions decoder{.positions = parse_aspd_positions(options.text("aspd-positions")),
                            .shared = options.text("aspd-mask") == "shared",
                            .tokens = options.text("aspd-tokens")};
  return make_aspd_format({.decoder = decoder, .together = together, .eos = eos}, scene.tokenizer,
                          scene.config.positions(), scene.config.vocab_size);
}

}  // namespace

std::vector<FormatEntry> aspd_formats() {
  return {{.name = "aspd",
           .meaning = "JSON answer, the values of a context in parallel",
           .make =
               [](const Options& options, const FormatScene& scene) {
                 return make(options, scene, true, end_of_answer(scene.config));
               },
           .asks = "together"},
          {.name = "aspd-value",
           .meaning = "one field, with branches as its markup says",
           .make =
               [](const Options& options, const FormatScene& scene) {
                 return make(options, scene, false, end_of_sequence(scene, "aspd-value"));
               },
           .asks = "separately"}};
}

std::vector<TrainingOption> aspd_training_options() {
  return {{Option::text(
               "aspd-positions", "same-seq",
               "aspd: positions of branches in decoding: same-seq, same-max, same-re or fix-N"),
           "NAME", "aspd.positions"},
          {Option::one_of("aspd-mask", {"independent", "shared"},
                          "aspd: mask of branches in decoding: independent or shared"),
           "NAME", "aspd.mask"},
          {Option::text("aspd-tokens", "",
                        "aspd: title, /title, branch, /branch, para, /para as ids or texts; empty: "
                        "found by name"),
           "A,B,...", "aspd.tokens"}};
}

}  // namespace pardec
