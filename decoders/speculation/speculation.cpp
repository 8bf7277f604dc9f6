// Speculative decoding (Leviathan et al. 2023, arXiv:2211.17192, Algorithm 1) with any drafter:
// gamma guesses x after the text, one pass of the network over them, as many kept as the network
// agrees with, and one token of its own after those.
//
// Invariant: the network's cache contains the text except its pending end (at first the prompt,
// then the newest token), which is computed together with the guesses.
#include "decoders/speculation/speculation.hpp"

#include <numeric>
#include <utility>

#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The pending end of the text, and the guesses after it, with logits from the text's last token
/// on.
Step verifying_step(const Tokens& text, size_t cached, size_t prompt, int newest_from,
                    const Candidates& x, const Sampling& sampling) {
  Step step;
  for (size_t i = cached; i < text.size(); ++i)
    step.add(text[i], text_label(static_cast<int>(i)), i < prompt ? Origin::prompt : Origin::chosen,
             i < prompt ? -1 : newest_from);
  step.want(step.size() - 1, sampling);
  for (const Token token : x.tokens) {
    step.add(token, text_label(static_cast<int>(cached) + step.size()), Origin::draft);
    step.want(step.size() - 1, sampling);
  }
  return step;
}

}  // namespace

AcceptanceOracle acceptance_oracle(const StreamRequest& request, const DecoderContext& context) {
  AcceptanceOracle oracle;
  if (!request.acceptance) return oracle;
  oracle.coins = context.chance(derive_seed(request.seed, "accept"));
  oracle.forced = ForcedAcceptance(*request.acceptance, *oracle.coins);
  return oracle;
}

Task<Stream> speculate(std::string_view decoder, StreamRequest request,
                       const DecoderContext& context, MakeDrafter make) {
  check_prompt(request.name, request.prompt.size(), context.engine.model().config());
  const auto chance = context.chance(request.seed);
  const AcceptanceOracle oracle = acceptance_oracle(request, context);

  Sequence sequence = context.engine.open(request.name, std::string(decoder));
  Tokens text = request.prompt;
  StreamWriter writer(sequence, request.rule, request.acceptance.has_value(),
                      static_cast<int>(text.size()), context);
  const auto drafter = make({sequence, *chance, request.sampling, writer.eos()});
  size_t cached = 0;
  int newest_from = -1;  // the row that chose the newest token
  while (!writer.ended()) {
    Candidates x;  // 1. guesses
    if (writer.room() > 0)
      x = co_await drafter->draft(text, static_cast<int>(cached), writer.room());
    // 2. one pass of the network
    const StepResult p = co_await sequence.forward(
        verifying_step(text, cached, request.prompt.size(), newest_from, x, request.sampling));
    const Verdict verdict = verify(p.outputs, x, *chance, oracle.forced);  // 3. and 4.

    // 5. The accepted guesses and the extra token join the text; the rows of other guesses are
    // dropped.
    std::vector<int> rows(p.outputs.size());  // of the text's last token and of each guess
    std::iota(rows.begin(), rows.end(), p.first_row + static_cast<int>(text.size() - cached) - 1);
    const int added = writer.add(verdict.choices, rows, x.from(verdict.accepted));
    const int kept = std::min(added, verdict.accepted);
    sequence.drop(std::span(rows).subspan(static_cast<size_t>(kept) + 1));
    sequence.counters().count_draft(x.size(), kept);
    drafter->learn(x.size(), verdict.accepted);
    newest_from = rows[static_cast<size_t>(added) - 1];
    cached = text.size() + static_cast<size_t>(kept);
    for (int i = 0; i < added; ++i) text.push_back(verdict.choices[static_cast<size_t>(i)].token);
  }
  drafter->finish();
  Stream stream = writer.finish();
  stream.counters = sequence.finish();
  co_return stream;
}

}  // namespace pardec
