// Smart Parallel Auto-Correct dEcoding (SPACE).
//
// Idea: a network that was trained to guess the tokens at a few mask tokens drafts for itself. One
// forward pass verifies the k candidates of the previous step and drafts new ones: a group of k
// masks follows the newest token x_l and each candidate c_i. The pass determines how many
// candidates are correct (i*) and gives one more token; group i* contains the candidates of the
// next step.
//
//   x_l M M | c_1 M M | c_2 M M        k = 2: a grid of (k + 1) x (k + 1) cells; cell (i, j) is at
//    n  +1 +2  n+1 ..    n+2 ..         position n + i + j, and a mask only sees its own group
//
// Source: Yi et al., "Generation Meets Verification: Accelerating Large Language Model Inference
// with Smart Parallel Auto-Correct Decoding", section 3.2, Algorithm 1, Equations 4 and 5, appendix
// A.3. Letters are the paper's.
//
// Differences from the paper: a mask sees its group (A.3, Figure 7), not every mask less than k
// cells away (Equation 5), which leaks across groups from k = 3 on. After a rejected candidate, the
// extra token comes from the residual distribution, which makes sampling lossless; `extra=paper`
// draws it from Q (Algorithm 1, line 18). The first step has no candidates, instead of dummies that
// cannot be rejected. Q and D are both warped. [M] is banned in both. Logits are computed for the k
// + 1 rows that verify, then for the single group that drafts. At the end of the network's
// positions, masks that would draft beyond them are left out.
#include "decoders/space/space.hpp"

#include <algorithm>
#include <utility>

#include "decoders/control_tokens.hpp"
#include "decoders/space/format.hpp"
#include "decoders/speculation/speculation.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

RowLabel space_mask(int real, int i, int j) {
  return {.position = real + j, .order = real, .segment = 1 + i, .rank = j};
}

SpaceGrid space_grid(int n, int candidates, int k, int positions) {
  SpaceGrid grid;
  const auto add = [&](const RowLabel& label) {
    grid.labels.push_back(label);
    return static_cast<int>(grid.labels.size()) - 1;
  };
  for (int i = 0; i <= candidates; ++i) {
    grid.reals.push_back(add(text_label(n + i)));
    auto& group = grid.masks.emplace_back();
    // Mask j drafts the token of position n + i + j + 1.
    for (int j = 1; j <= k && n + i + j + 1 < positions; ++j)
      group.push_back(add(space_mask(n + i, i, j)));
  }
  return grid;
}

Token space_mask_token(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                       bool trains) {
  ControlToken token{"space.mask_token", given, {"<|mask|>", "[MASK]", "<mask>", "[M]"}};
  if (trains) name_by_setting(token, "mask_token");
  return find_control_token(token, tokenizer, vocab_size);
}

namespace {

constexpr std::array kExtras{Named<Extra>{"residual", Extra::residual},
                             Named<Extra>{"paper", Extra::target}};

class Space final : public FreeRunningDecoder {
 public:
  explicit Space(const Options& options)
      : FreeRunningDecoder(options),
        options_{.k = options.whole("k"),
                 .extra = options.choice("extra", kExtras),
                 .mask_token = options.text("mask_token")} {}

  std::string needs(const Tokenizer* tokenizer, const ModelConfig& config) const override {
    return names_with_ids({"[M]"},
                          {space_mask_token(options_.mask_token, tokenizer, config.vocab_size)});
  }
  std::optional<int> draft_length() const override { return options_.k; }
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override;

 private:
  SpaceOptions options_;
};

/// The real tokens of a step, x_l and the candidates, and the rows that chose them.
struct Line {
  Token x = 0;
  Origin origin = Origin::prompt;  ///< of x
  int from = -1;                   ///< the row that chose x
  Candidates c;                    ///< L_c, with P_c as full distributions
  std::vector<int> drafted_by;     ///< rows of the masks that drafted c
};

/// Appends the grid's cells to a step: I of Equation 4 without the cached tokens.
void feed(Step& step, const SpaceGrid& grid, const Line& line, Token mask) {
  const auto label = [&](int cell) { return grid.labels[static_cast<size_t>(cell)]; };
  for (size_t i = 0; i < grid.reals.size(); ++i) {
    if (i == 0)
      step.add(line.x, label(grid.reals[i]), line.origin, line.from);
    else
      step.add(line.c.tokens[i - 1], label(grid.reals[i]), Origin::chosen, line.drafted_by[i - 1]);
    for (const int cell : grid.masks[i]) step.add(mask, label(cell), Origin::forced);
  }
}

std::vector<int> shifted(std::span<const int> cells, int by) {
  std::vector<int> rows;
  for (const int cell : cells) rows.push_back(cell + by);
  return rows;
}

/// The outputs to request for the step's tokens `indices`.
std::vector<OutputRequest> requests(const std::vector<int>& indices, const Sampling& sampling,
                                    Token mask) {
  std::vector<OutputRequest> all;
  for (const int index : indices) {
    OutputRequest& request = all.emplace_back();
    request.index = index;
    request.sampling = sampling;
    request.banned = {mask};
  }
  return all;
}

/// Lines 23 and 24: one candidate from each mask of group i*, independently.
Candidates draft(std::span<const RowLogits> D, Chance& chance) {
  Candidates c;
  for (const RowLogits& row : D) {
    c.tokens.push_back(own_choice(row, chance).token);
    c.proposals.push_back(row.probabilities);
  }
  return c;
}

Task<Stream> Space::stream(StreamRequest request, const DecoderContext& context) const {
  const ModelConfig& config = context.engine.model().config();
  check_prompt(request.name, request.prompt.size(), config);
  const Token mask = space_mask_token(options_.mask_token, context.tokenizer, config.vocab_size);
  const auto chance = context.chance(request.seed);
  const AcceptanceOracle oracle = acceptance_oracle(request, context);

  Sequence sequence = context.engine.open(request.name, "space");
  // segment of group i, in every step
  for (int i = 0; i <= options_.k; ++i) sequence.add_segment({0});
  int n = static_cast<int>(request.prompt.size()) - 1;
  StreamWriter O(sequence, request.rule, request.acceptance.has_value(), n + 1, context);
  Line line{.x = request.prompt.back(), .c = {}, .drafted_by = {}};
  Step step;  // the prompt comes before the first grid
  for (int t = 0; t < n; ++t)
    step.add(request.prompt[static_cast<size_t>(t)], text_label(t), Origin::prompt);
  for (;;) {
    // Lines 3 to 5: I, A and P; one forward pass.
    const SpaceGrid grid = space_grid(n, line.c.size(), options_.k, config.positions());
    const int begin = step.size();
    feed(step, grid, line, mask);
    step.outputs = requests(shifted(grid.reals, begin), request.sampling, mask);
    step.later = true;
    const StepResult P = co_await sequence.forward(std::exchange(step, Step{}));

    // Lines 6 to 19: i* candidates are correct, and a follows.
    const Verdict verdict = verify(P.outputs, line.c, *chance, oracle.forced, options_.extra);
    const auto i = static_cast<size_t>(verdict.accepted);
    const int first = P.first_row + begin;
    const std::vector<int> kept = shifted(std::span(grid.reals).first(i + 1), first);
    sequence.keep(first, kept);
    const int entered = O.add(verdict.choices, kept, line.c.from(verdict.accepted));
    sequence.counters().count_draft(line.c.size(), std::min(entered, verdict.accepted));
    if (O.ended()) break;

    // Lines 23 and 24: group i* drafts.
    const StepResult D =
        co_await sequence.later(P, requests(shifted(grid.masks[i], begin), request.sampling, mask));
    n += verdict.accepted + 1;
    line = {.x = verdict.choices.back().token,
            .origin = Origin::chosen,
            .from = kept.back(),
            .c = draft(D.outputs, *chance),
            .drafted_by = shifted(grid.masks[i], first)};
  }
  Stream stream = O.finish();
  stream.counters = sequence.finish();
  co_return stream;
}

}  // namespace

DecoderEntry space_entry() {
  constexpr int kMost = 63;  // (k + 1)^2 rows per pass
  static_assert((kMost + 1) * (kMost + 1) <= kMostRows);
  return {.name = "space",
          .source = "Yi et al., SPACE",
          .options = with_asking(
              {Option::whole("k", SpaceOptions{}.k, {1, kMost},
                             "number of masks in a group, and limit of candidates in a pass"),
               Option::one_of("extra", kExtras,
                              "distribution of the token after a rejected candidate: the residual "
                              "(lossless), or the network's own"),
               Option::token("mask_token", "[M] as id or text; empty: found by its usual names")}),
          .make = make_as<Space>,
          .oracles = {"accept"},
          .trained = true,
          .exact = true,
          .stack_option = "stack",
          .formats = space_formats(),
          .training_options = space_training_options()};
}

}  // namespace pardec
