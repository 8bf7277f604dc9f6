// Self-speculative decoding (Zhang et al. 2023, "Draft & Verify", arXiv:2309.08168).
//
// Idea: the draft network is the network itself without a fixed set of attention and MLP sublayers.
// It reads the cache of the full network. Rows that it adds to the cache while drafting are
// removed, and the verifying pass computes them again. There are no additional weights and no
// additional cache.
//
// A draft ends after gamma guesses, or with the first one whose own probability is below a
// threshold.
//
// Differences from the paper: the skipped sublayers are an option (every second layer by default)
// instead of the result of a search on a development set; the threshold is fixed instead of adapted
// to the share accepted so far. The prompt is only processed by the full network: its first pass
// has no guesses.
#include "decoders/speculation/self_speculative.hpp"

#include <algorithm>

#include "decoders/speculation/speculation.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A layer's number; -1 if the text is not a number.
int layer_number(std::string_view text) {
  if (text.empty() || text.size() > 6 ||
      text.find_first_not_of("0123456789") != std::string_view::npos)
    return -1;
  return std::stoi(std::string(text));
}

}  // namespace

std::vector<bool> parse_layers(const std::string& text, int layers, const std::string& where) {
  std::vector<bool> chosen(static_cast<size_t>(layers), text == "all");
  if (text == "all" || text == "none") return chosen;
  if (text == "odd") {
    for (size_t i = 1; i < chosen.size(); i += 2) chosen[i] = true;
    return chosen;
  }
  for (const auto& part : split(text, '+')) {
    const auto ends = split(part, '-');
    const int first = layer_number(ends.front()), last = layer_number(ends.back());
    if (ends.size() > 2 || first < 0 || last < first)
      throw ConfigError(
          str(where, " is '", text, "', expected none, odd, all, or layers such as 3+5-8"));
    if (last >= layers)
      throw ConfigError(
          str(where, " is '", text, "', but the network's layers end at ", layers - 1));
    for (int layer = first; layer <= last; ++layer) chosen[static_cast<size_t>(layer)] = true;
  }
  return chosen;
}

namespace {

/// Drafts with the network without the `skipped` sublayers.
class SkippingDrafter final : public Drafter {
 public:
  SkippingDrafter(DraftScene scene, SkippedSublayers skipped, int gamma, double threshold)
      : scene_(scene), skipped_(std::move(skipped)), gamma_(gamma), threshold_(threshold) {}

  Task<Candidates> draft(const Tokens& text, int cached, int room) override {
    Candidates x;
    const int last = static_cast<int>(text.size()) - 1;
    if (cached < last) co_return x;  // the prompt has not been computed yet
    Token newest = text.back();
    while (x.size() < std::min(gamma_, room)) {
      StepResult q = co_await scene_.sequence.forward(step_of(newest, last + x.size()));
      RowLogits& row = q.outputs[0];
      newest = own_choice(row, scene_.chance).token;
      const double probability = row.probabilities.empty()
                                     ? row.confidence
                                     : row.probabilities[static_cast<size_t>(newest)];
      x.tokens.push_back(newest);
      x.proposals.push_back(std::move(row.probabilities));
      if (probability < threshold_ || contains(scene_.eos, newest)) break;
    }
    scene_.sequence.take_back_drafts();
    co_return x;
  }

 private:
  Step step_of(Token token, int position) const {
    Step step;
    step.add(token, text_label(position), Origin::draft);
    step.want(0, scene_.sampling);
    step.outputs[0].confidence = scene_.sampling.temperature <= 0;
    step.skipped = skipped_;
    return step;
  }

  DraftScene scene_;
  SkippedSublayers skipped_;
  int gamma_;
  double threshold_;
};

struct SelfOptions {
  int gamma = 12;
  double threshold = 0.6;
  std::string skip_attention = "odd", skip_mlp = "odd";

  SkippedSublayers skipped(const ModelConfig& config) const {
    return {parse_layers(skip_attention, config.layers, "self-speculative.skip_attention"),
            parse_layers(skip_mlp, config.layers, "self-speculative.skip_mlp")};
  }
};

class SelfSpeculative final : public FreeRunningDecoder {
 public:
  explicit SelfSpeculative(const Options& options)
      : FreeRunningDecoder(options),
        options_{.gamma = options.whole("gamma"),
                 .threshold = options.number("threshold"),
                 .skip_attention = options.text("skip_attention"),
                 .skip_mlp = options.text("skip_mlp")} {}

  std::string needs(const Tokenizer*, const ModelConfig& config) const override {
    const SkippedSublayers skipped = options_.skipped(config);
    const auto count = [](const std::vector<bool>& left_out) {
      return std::count(left_out.begin(), left_out.end(), true);
    };
    return str("guesses without ", count(skipped.attention), " of ", config.layers,
               " attentions and ", count(skipped.mlp), " of ", config.layers, " MLPs");
  }
  std::optional<int> draft_length() const override { return options_.gamma; }
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override {
    const SkippedSublayers skipped = options_.skipped(context.engine.model().config());
    return speculate(name(), std::move(request), context, [this, skipped](DraftScene scene) {
      return std::make_unique<SkippingDrafter>(scene, skipped, options_.gamma, options_.threshold);
    });
  }

 private:
  SelfOptions options_;
};

}  // namespace

DecoderEntry self_speculative_entry() {
  const SelfOptions usual;
  return {
      .name = "self-speculative",
      .source = "Zhang et al., arXiv:2309.08168",
      .options = with_asking(
          {Option::whole("gamma", usual.gamma, {1, kMostGuesses}, "limit of guesses in a draft"),
           Option::number("threshold", usual.threshold, {0, 1},
                          "a draft ends after a guess with a lower probability"),
           Option::text("skip_attention", usual.skip_attention,
                        "attention layers skipped in drafts: none, odd, all, or a list such as "
                        "3+5-8"),
           Option::text("skip_mlp", usual.skip_mlp,
                        "MLP layers skipped in drafts, in the same form")}),
      .make = make_as<SelfSpeculative>,
      .oracles = {"accept"},
      .exact = true,
      .stack_option = "stack",
      .drafts_untraced = true};
}

}  // namespace pardec
