#include "decoders/ar/choose.hpp"

#include <algorithm>
#include <utility>

#include "src/engine/log_probability.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

namespace {

/// A choice as an answer.
struct Candidate {
  Tokens ids;             ///< after the prompt
  std::int64_t length;    ///< in characters
  std::vector<int> rows;  ///< index in the step of the row that predicts each id
};

std::vector<Candidate> candidates_of(const Field& field, const Request& request,
                                     const Tokens& prompt, const Tokenizer& tokenizer) {
  const std::string_view end = tokenizer.bytes(prompt.back());
  const std::string space = rstrip(end).size() < end.size() ? "" : " ";
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < field.choices.size(); ++i) {
    const std::string text = request.pieces.lettered ? choice_letter(i) : field.choices[i];
    candidates.push_back({tokenizer.encode_piece(space + text, false), code_points(text), {}});
    if (strip(text).empty() || candidates.back().ids.empty())
      throw ConfigError(str(request.job.id, ": choice ", i + 1, " of field '", field.name,
                            "' is empty, expected a text to rank"));
  }
  return candidates;
}

Task<Stream> choose(StreamRequest request, std::vector<Candidate> candidates, Choosing choosing,
                    const DecoderContext& context) {
  const int before = static_cast<int>(request.prompt.size());
  size_t longest = 0;
  for (const Candidate& candidate : candidates) longest = std::max(longest, candidate.ids.size());
  check_prompt(request.name, request.prompt.size() + longest - 1, context.engine.model().config());

  Sequence sequence = context.engine.open(request.name, "ar");
  Step step = prompt_step(request.prompt, 0);
  const auto want = [&](int row) {
    step.want(row);
    step.outputs.back().logits = true;
  };
  want(before - 1);
  for (Candidate& candidate : candidates) {
    const int segment = sequence.add_segment({0});
    candidate.rows.push_back(before - 1);
    for (size_t i = 0; i + 1 < candidate.ids.size(); ++i) {
      const int position = before + static_cast<int>(i);
      candidate.rows.push_back(
          step.add(candidate.ids[i],
                   {.position = position, .order = position, .segment = segment, .rank = 0},
                   Origin::forced));
      want(candidate.rows.back());
    }
  }
  step.streams = static_cast<int>(candidates.size());
  const StepResult seen = co_await sequence.forward(std::move(step));
  // every row from the prompt's last on has an output
  const auto output = [&](int row) -> const RowLogits& {
    return seen.outputs[static_cast<size_t>(row - (before - 1))];
  };

  const Candidate* best = nullptr;
  double best_score = 0;
  for (const Candidate& candidate : candidates) {
    double score = 0;
    for (size_t i = 0; i < candidate.ids.size(); ++i)
      score += log_probabilities(output(candidate.rows[i]), {&candidate.ids[i], 1})[0];
    if (choosing == Choosing::per_character) score /= static_cast<double>(candidate.length);
    if (best && score <= best_score) continue;
    best = &candidate;
    best_score = score;
  }

  const auto chance = context.chance(request.seed);
  std::vector<Choice> choices;
  std::vector<int> chosen_by;
  for (size_t i = 0; i < best->ids.size(); ++i) {
    Choice choice = own_choice(output(best->rows[i]), *chance);
    choice.token = best->ids[i];
    choices.push_back(choice);
    chosen_by.push_back(seen.first_row + best->rows[i]);
  }
  StopRule rule = request.rule;
  rule.limit = std::max(rule.limit, static_cast<int>(longest));
  StreamWriter writer(sequence, rule, /*forced=*/false, before, context);
  writer.add(choices, chosen_by);
  Stream stream = writer.finish();
  if (stream.stop != Stop::interrupted) stream.stop = Stop::terminator;
  stream.counters = sequence.finish();
  co_return stream;
}

}  // namespace

Task<Answers> choose_answers(const FreeRunningDecoder& decoder, Choosing choosing,
                             const Request& request, const DecoderContext& context) {
  if (!context.tokenizer)
    throw ConfigError("ar.choose needs a tokenizer: it ranks texts; expected a Job, not token ids");
  std::vector<Task<Stream>> tasks;
  std::vector<StreamRequest> streams_asked = field_requests(request);
  auto next = streams_asked.begin();
  for (const Context& asked : request.job.contexts)
    for (const Field& field : asked.fields) {
      StreamRequest& one = *next++;
      if (field.choices.size() < 2) {
        tasks.push_back(decoder.stream(std::move(one), context));
        continue;
      }
      check_prompt(one.name, one.prompt.size(), context.engine.model().config());
      auto candidates = candidates_of(field, request, one.prompt, *context.tokenizer);
      tasks.push_back(choose(std::move(one), std::move(candidates), choosing, context));
    }
  std::vector<Stream> streams = co_await all(std::move(tasks));
  Counters cost = shared_cost(streams);
  co_return field_answers(request, std::move(streams), std::move(cost));
}

}  // namespace pardec
