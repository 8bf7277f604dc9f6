// Speculative decoding with a draft network (Leviathan et al. 2023, arXiv:2211.17192; Chen et al.
// 2023, arXiv:2302.01318).
//
// Idea: a small network M_q guesses gamma tokens one after another. The large network M_p verifies
// them in a single pass (speculation.cpp), keeps the longest prefix that leaves its own output
// unchanged, and adds one token of its own.
//
// Schedules of gamma: constant (the papers), and those of transformers' assisted generation.
// Heuristic: gamma grows by 2 after a draft that was accepted completely, and shrinks by 1
// otherwise; each answer starts again, as in transformers' heuristic_transient. Dynamic: a draft
// ends with the first guess whose own probability is below a threshold.
//
// Differences from the papers: a draft ends at an end of sequence, and is never longer than the
// rest of the answer may be. Differences from transformers: any number of answers at once, each
// with its own acceptance counts; the threshold is not adjusted while decoding (transformers does
// this if scikit-learn is installed).
#include "decoders/speculation/speculative.hpp"

#include <algorithm>
#include <limits>

#include "decoders/speculation/speculation.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// M_q with its own cache, which keeps the tokens that the text has confirmed.
class ModelDrafter final : public Drafter {
 public:
  ModelDrafter(DraftScene scene, Model& M_q, const ModelConfig& target, DraftLength length)
      : scene_(scene), M_q_(M_q), sequence_(scene.sequence.open_draft(M_q)), length_(length) {
    for (Token id = target.vocab_size; id < M_q.config().vocab_size; ++id) foreign_.push_back(id);
  }

  Task<Candidates> draft(const Tokens& text, int, int room) override {
    roll_back(text);
    Candidates x;
    const int gamma = std::min({room, length_.most(), room_in_draft(text)});
    Tokens next(text.begin() + std::ssize(held_), text.end());
    int from = -1;
    while (x.size() < gamma) {
      StepResult q = co_await sequence_.forward(step_of(next, from));
      RowLogits& row = q.outputs[0];
      const Token guess = own_choice(row, scene_.chance).token;
      const double probability = row.probabilities.empty()
                                     ? row.confidence
                                     : row.probabilities[static_cast<size_t>(guess)];
      from = sequence_.rows_fed() - 1;
      sequence_.emit(from, guess);
      x.tokens.push_back(guess);
      x.proposals.push_back(std::move(row.probabilities));
      if (length_.ends_with(probability) || contains(scene_.eos, guess)) break;
      next = {guess};
    }
    co_return x;
  }

  void learn(int drafted, int accepted) override { length_.learn(drafted, accepted); }
  void finish() override { sequence_.finish(); }

 private:
  /// Reduces the cache to the longest common prefix with the text, without the text's last token.
  void roll_back(const Tokens& text) {
    const auto differs =
        std::mismatch(held_.begin(), held_.end(), text.begin(), text.end() - 1).first;
    const auto kept = static_cast<size_t>(differs - held_.begin());
    sequence_.drop(std::span(rows_).subspan(kept));
    rows_.resize(kept);
    held_.resize(kept);
  }

  /// Number of tokens that M_q can guess after the text; the last guess is not an input of M_q.
  int room_in_draft(const Tokens& text) const {
    const bool unknown = std::any_of(
        text.begin(), text.end(), [&](Token token) { return token >= M_q_.config().vocab_size; });
    return unknown ? 0 : M_q_.config().positions() - static_cast<int>(text.size()) + 1;
  }

  Step step_of(const Tokens& tokens, int from) {
    Step step;
    for (const Token token : tokens) {
      step.add(token, text_label(static_cast<int>(held_.size())), Origin::draft, from);
      rows_.push_back(sequence_.rows_fed() + step.size() - 1);
      held_.push_back(token);
    }
    step.want(step.size() - 1, scene_.sampling);
    step.outputs[0].banned = foreign_;
    step.outputs[0].confidence = scene_.sampling.temperature <= 0;
    return step;
  }

  DraftScene scene_;
  Model& M_q_;
  Sequence sequence_;
  DraftLength length_;
  Tokens held_;            // the tokens in M_q's cache
  std::vector<int> rows_;  // their rows
  Tokens foreign_;         // ids that M_p does not have (vocabularies may be padded differently)
};

struct SpeculativeOptions {
  GammaSchedule schedule = GammaSchedule::constant;
  int gamma = 5;  ///< 20 with schedule=dynamic
  double threshold = 0.4;
};

class Speculative final : public FreeRunningDecoder {
 public:
  Speculative(const Options& options, SpeculativeOptions chosen)
      : FreeRunningDecoder(options), options_(chosen) {}

  void check(const DecoderContext& context) const override {
    if (!context.draft)
      throw ConfigError("decoder speculative needs a draft network; give `draft_model=DIR`");
  }
  std::optional<int> draft_length() const override {
    if (options_.schedule == GammaSchedule::heuristic) return std::nullopt;
    return options_.gamma;
  }
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override {
    check(context);
    const DraftLength length(options_.schedule, options_.gamma, options_.threshold);
    return speculate(name(), std::move(request), context, [&context, length](DraftScene scene) {
      return std::make_unique<ModelDrafter>(scene, *context.draft, context.engine.model().config(),
                                            length);
    });
  }

 private:
  SpeculativeOptions options_;
};

}  // namespace

namespace {

constexpr std::array kSchedules{Named<GammaSchedule>{"constant", GammaSchedule::constant},
                                Named<GammaSchedule>{"heuristic", GammaSchedule::heuristic},
                                Named<GammaSchedule>{"dynamic", GammaSchedule::dynamic}};

std::unique_ptr<Decoder> make_speculative(Options options) {
  const auto schedule = options.choice("schedule", kSchedules);
  if (schedule == GammaSchedule::dynamic) {
    if (!options.given("gamma")) options.set("gamma", 20);
  } else if (options.given("threshold")) {
    throw ConfigError("speculative.threshold goes with schedule=dynamic only");
  }
  const SpeculativeOptions chosen{schedule, options.whole("gamma"), options.number("threshold")};
  if (schedule != GammaSchedule::dynamic) options.leave_out("threshold");
  return std::make_unique<Speculative>(options, chosen);
}

}  // namespace

DecoderEntry speculative_entry() {
  return {.name = "speculative",
          .source = "Leviathan et al., arXiv:2211.17192",
          .options = with_asking(
              {Option::one_of("schedule", kSchedules,
                              "how long drafts are: always gamma, by the number of accepted "
                              "guesses, or by the probability of the newest guess"),
               Option::whole("gamma", SpeculativeOptions{}.gamma, {1, kMostGuesses},
                             "limit of guesses in a draft; 20 with schedule=dynamic"),
               Option::number(
                   "threshold", SpeculativeOptions{}.threshold, {0, 1},
                   "schedule=dynamic: a draft ends after a guess with a lower probability")}),
          .make = make_speculative,
          .oracles = {"accept"},
          .drafts_with_model = true,
          .exact = true,
          .stack_option = "stack"};
}

}  // namespace pardec
