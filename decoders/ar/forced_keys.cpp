#include "decoders/ar/forced_keys.hpp"

#include <algorithm>
#include <utility>

#include "decoders/ar/ar.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

Task<Answers> decode_forced_keys(const Request& request, const DecoderContext& context) {
  if (!context.tokenizer)
    throw ConfigError(
        "ar.forced_keys needs a tokenizer: a value ends at a line break; expected a Job, not token "
        "ids");
  const auto chance = context.chance(request.job.seed);
  Sequence sequence = context.engine.open(request.job.id, "ar");
  const JsonSkeleton skeleton = json_skeleton(request.job.contexts);
  const int context_length = context.engine.model().config().positions();
  Answers answers;
  answers.text = kAnswerOpening;
  Step step;
  for (const Token token : request.pieces.whole_prompt())
    step.add(token, text_label(step.size()), Origin::prompt);
  size_t r = 0;
  for (const Context& product : request.job.contexts) {
    auto& fields = answers.fields.emplace_back();
    for (size_t n = 0; n < product.fields.size(); ++n, ++r) {
      const int begin = sequence.rows_fed();
      for (const Token token : request.pieces.segments[r])
        step.add(token, text_label(begin + step.size()), Origin::forced);
      if (begin + step.size() > context_length)
        throw ModelError(request.job.id, str("context overflow: the answer's keys need more than ",
                                             context.engine.model().config().positions_key(), " (",
                                             context_length, ") positions; use a smaller stack"));
      step.want(step.size() - 1, request.job.sampling);
      StepResult seen = co_await sequence.forward(std::exchange(step, Step{}));
      StopRule rule;
      rule.limit = request.job.limits.per_field;
      rule.until = "\n";
      rule.at_eos = false;
      std::optional<Tokens> forced;
      if (request.oracle) {
        forced = request.oracle->streams[r];
        rule.limit = std::min(rule.limit, static_cast<int>(forced->size()));
      }
      Stream stream = co_await continue_from(sequence, std::move(seen), Chooser(*chance, forced),
                                             request.job.sampling, rule, context);
      if (stream.stop == Stop::terminator)
        sequence.counters().text -= rstrip(context.tokenizer->bytes(stream.tokens.back())).empty();
      // A line break that ends a value is already part of the next key's text; the last token of a
      // value that was cut short is added.
      else
        step.add(stream.tokens.back(), text_label(sequence.rows_fed()), Origin::chosen,
                 request.oracle ? -1 : stream.last_row);
      FieldResult& field = fields.emplace_back();
      const std::string written = repair_utf8(stream.bytes);
      field.text = parse_json_value(written);
      field.said_absent = says_absent(written);
      field.stop = stream.stop;
      static_cast<Chosen&>(field) = std::move(stream);
      answers.text += skeleton.segments[r] + json_value(field.text, n + 1 == product.fields.size());
    }
    answers.parsed.push_back(true);
  }
  answers.text += skeleton.tail;
  answers.stop = Stop::terminator;
  answers.counters = sequence.finish();
  co_return answers;
}

Oracle forced_key_references(const Request& request,
                             const std::vector<std::vector<std::optional<std::string>>>& references,
                             const Tokenizer& tokenizer) {
  Oracle oracle;
  for (const auto& values : references)
    for (size_t n = 0; n < values.size(); ++n)
      oracle.streams.push_back(
          ids_through_line_break(json_value(values[n], n + 1 == values.size()) + "\n",
                                 request.job.limits.per_field, tokenizer));
  return oracle;
}

}  // namespace pardec
