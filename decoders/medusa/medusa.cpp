// Medusa (Cai et al. 2024, "Medusa: Simple LLM Inference Acceleration Framework with Multiple
// Decoding Heads", arXiv:2401.10774).
//
// Idea: the network drafts for itself, with extra heads on its last layer. At a row whose own head
// chooses the next token, head h guesses the token h positions later. The heads' best guesses make
// a tree after the next token, the root, and one pass verifies all its paths. A guess sees the
// text, the preceding guesses on its path, and itself.
//
//   text ... root -+- a -+- c       a, b: the best two of head 1, at the position after the root
//                  |     +- d       c, d: the best two of head 2, after each of a and b
//                  +- b -+- c
//                        +- d
//
// The path with the longest agreement with the network's own choices joins the text. Its last row
// gives the next root and the next tree.
//
// Differences from the paper: the default tree is Medusa-APAR's dense one (arXiv:2401.06761), 1 x 7
// x 6; the authors' own is `tree=sparse`. When sampling, the authors accept typical guesses, which
// changes the network's distribution; with `acceptance=exact`, a guess is accepted if it equals the
// token that was drawn. Typical acceptance takes the first of several longest paths, and draws the
// token after it. There is no tree after the prompt, because its last row makes the first guesses.
// Guesses that could not be accepted any more are left out.
#include "decoders/medusa/medusa.hpp"

#include <utility>

#include "decoders/free_running.hpp"
#include "decoders/medusa/tree.hpp"
#include "decoders/speculation/speculation.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

class Medusa final : public FreeRunningDecoder {
 public:
  explicit Medusa(const Options& options)
      : FreeRunningDecoder(options),
        tree_(parse_medusa_tree(options.text("tree"), "medusa.tree")),
        typical_(options.text("acceptance") == "typical") {}

  std::string needs(const Tokenizer*, const ModelConfig& config) const override {
    return needed_heads(tree_, "medusa.tree", config);
  }
  std::optional<int> draft_length() const override { return tree_.depth(); }
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override;

 private:
  TreeVerdict accept(const Tokens& guesses, std::span<const RowLogits> rows, Chance& chance,
                     ForcedAcceptance forced) const {
    const bool sampled = !rows.front().probabilities.empty();
    return typical_ && sampled && !forced ? accept_typical(tree_, guesses, rows, chance)
                                          : accept_exact(tree_, guesses, rows, chance, forced);
  }

  MedusaTree tree_;
  bool typical_;
};

Task<Stream> Medusa::stream(StreamRequest request, const DecoderContext& context) const {
  check(context);
  check_prompt(request.name, request.prompt.size(), context.engine.model().config());
  const auto chance = context.chance(request.seed);
  const AcceptanceOracle oracle = acceptance_oracle(request, context);

  Sequence sequence = context.engine.open(request.name, "medusa");
  const std::vector<int> segments = add_tree_segments(sequence, tree_, {0});
  // the end of the text that is not yet computed; its last token is the root
  Tokens pending = request.prompt;
  Tokens guesses;  // guesses of the tree's nodes
  int n = static_cast<int>(pending.size()), newest_from = -1;
  StreamWriter writer(sequence, request.rule, request.acceptance.has_value(), n, context);
  for (;;) {
    // 1. The root and the tree after it, in one pass.
    Step step;
    for (const Token token : pending)
      step.add(token, text_label(n - static_cast<int>(pending.size()) + step.size()),
               newest_from < 0 ? Origin::prompt : Origin::chosen, newest_from);
    const int root = step.size() - 1;
    feed_tree(step, tree_, guesses, n - 1, segments);
    for (int i = root; i < step.size(); ++i) step.want(i, request.sampling);
    step.later = true;
    const StepResult seen = co_await sequence.forward(std::move(step));

    // 2. The longest path that the network agrees with.
    const TreeVerdict verdict = accept(guesses, seen.outputs, *chance, oracle.forced);

    // 3. It joins the text; all other guesses are dropped.
    std::vector<int> choosing{seen.first_row + root};
    for (const int node : verdict.nodes) choosing.push_back(seen.first_row + root + 1 + node);
    const int last = verdict.nodes.empty() ? -1 : verdict.nodes.back();
    const int added = writer.add(verdict.choices, choosing, first_path(tree_, guesses, last));
    const int kept = std::min(added, static_cast<int>(verdict.nodes.size()));
    const std::span joined = std::span(choosing).subspan(1, static_cast<size_t>(kept));
    sequence.keep(choosing.front() + 1, joined);
    for (int k = 0; k < kept; ++k)
      sequence.relabel(joined[static_cast<size_t>(k)], text_label(n + k));
    sequence.counters().count_draft(guesses.empty() ? 0 : tree_.nodes[guesses.size() - 1].depth,
                                    kept);
    if (writer.ended()) break;
    n += added;
    pending = {verdict.choices.back().token};
    newest_from = choosing.back();

    // 4. The heads at its last row guess the tokens after the next root.
    const StepResult heads = co_await sequence.later(
        seen, ask_heads(tree_, newest_from - seen.first_row, writer.room()));
    guesses = fill_tree(tree_, heads.outputs);
  }
  Stream stream = writer.finish();
  stream.counters = sequence.finish();
  co_return stream;
}

}  // namespace

DecoderEntry medusa_entry() {
  return {
      .name = "medusa",
      .source = "Cai et al., arXiv:2401.10774",
      .options = with_asking(
          {Option::text(
               "tree", "1x7x6",
               "tree of guesses: number of children per node, level by level (1x7x6), or sparse"),
           Option::one_of(
               "acceptance", {"typical", "exact"},
               "sampling: accept guesses that are likely, or that equal the sampled token")}),
      .make = make_as<Medusa>,
      .oracles = {"accept"},
      .exact = true,
      .stack_option = "stack"};
}

}  // namespace pardec
