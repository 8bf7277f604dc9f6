// Hyper-Parallel Decoding (HPD).
//
// Idea: in attribute extraction, the keys of the answer are known, and the values hardly depend on
// each other. Therefore the prompt is followed by the complete skeleton of the answer, with a gap
// of K_max position ids for each value. One forward pass gives the first token of every value. Each
// later pass computes the newest token of every unfinished value, at the positions of its gap,
// regardless of its place in memory. J products of one category share a prompt, and their J * N
// values are decoded in parallel.
//
//   "Brand":  . . . .  "Color":  . . . .        step 1 (prefill)  ->  v_11 v_21
//   10    11  12 ..    15    16  17 ..          step 2: v_11 at 12, v_21 at 17  ->  v_12 v_22
//
// Source: Glavas et al., "Breaking the Autoregressive Chain: Hyper-Parallel Decoding for Efficient
// LLM-Based Attribute Value Extraction", sections 4.3.1 to 4.3.5, Algorithms 1 and 2. Letters are
// the paper's.
//
// Differences from the paper: Algorithm 2 ignores structure tokens; here, each of them belongs to
// the segment that ends at the next value. The token that closes a value is not computed. Sampling
// is supported. `isolated` values or products are an addition. Batches are packed, so there are no
// dummy tokens as in section 4.3.6.
#include "decoders/hpd/hpd.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "decoders/hpd/format.hpp"
#include "decoders/writer.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

HpdLayout lay_out(const Tokens& prompt, const std::vector<Tokens>& segments, int products,
                  const HpdOptions& options) {
  HpdLayout layout;
  layout.k_max = options.k_max;
  layout.prompt_length = static_cast<int>(prompt.size());
  const auto add = [&](Token token, int gaps) {
    const int position = static_cast<int>(layout.tokens.size()) + gaps * options.k_max;
    layout.tokens.push_back(token);
    layout.labels.push_back({.position = position, .order = position, .segment = 0, .rank = 0});
  };
  for (const Token token : prompt) add(token, 0);
  const int per_product = static_cast<int>(segments.size()) / std::max(products, 1);
  for (int r = 0; r < static_cast<int>(segments.size()); ++r) {
    const Tokens& segment = segments[static_cast<size_t>(r)];
    if (segment.empty())
      throw ConfigError(
          str("hpd: segment ", r + 1, " of the skeleton has no token, expected at least one"));
    for (const Token token : segment) add(token, r);
    layout.end.push_back(static_cast<int>(layout.tokens.size()) - 1);
    switch (options.isolated) {
      case HpdIsolation::none:
        layout.segment.push_back(0);
        break;
      case HpdIsolation::values:
        layout.segment.push_back(r + 1);
        break;
      case HpdIsolation::products:
        layout.segment.push_back(r / per_product + 1);
        break;
    }
  }
  return layout;
}

std::vector<Tokens> hpd_values(
    const std::vector<std::vector<std::optional<std::string>>>& references, int k_max,
    const Tokenizer& tokenizer) {
  std::vector<Tokens> streams;
  for (const auto& values : references)
    for (size_t n = 0; n < values.size(); ++n)
      streams.push_back(ids_through_line_break(json_value(values[n], n + 1 == values.size()) + "\n",
                                               k_max, tokenizer));
  return streams;
}

int HpdLayout::extra_segments() const { return segment.empty() ? 0 : segment.back(); }

RowLabel HpdLayout::value(int r, int k) const {
  const auto index = static_cast<size_t>(r);
  const int position = labels[static_cast<size_t>(end[index])].position + k;
  return {.position = position, .order = position, .segment = segment[index], .rank = k};
}

namespace {

constexpr std::array kIsolations{Named<HpdIsolation>{"none", HpdIsolation::none},
                                 Named<HpdIsolation>{"values", HpdIsolation::values},
                                 Named<HpdIsolation>{"products", HpdIsolation::products}};

class Hpd final : public Decoder {
 public:
  explicit Hpd(const Options& options)
      : Decoder(options),
        options_{.k_max = options.whole("k_max"),
                 .stack = options.whole("stack"),
                 .isolated = options.choice("isolated", kIsolations)} {}

  Form form() const override { return Form::json; }
  int stack() const override { return options_.stack; }
  Oracle reference_oracle(const Request& request,
                          const std::vector<std::vector<std::optional<std::string>>>& references,
                          const DecoderContext& context) const override;
  std::int64_t positions_needed(const Request& request) const override {
    return positions_with_skeleton(request) +
           std::ssize(request.pieces.segments) * std::int64_t{options_.k_max};
  }
  Task<Answers> decode(const Request& request, const DecoderContext& context) const override;

 private:
  HpdOptions options_;
};

/// A value ends with the token whose text contains a line break (section 4.3.4).
bool closes(Token token, const Tokenizer& tokenizer) {
  return tokenizer.bytes(token).find('\n') != std::string_view::npos;
}

/// Throws if the positions of the prompt, the skeleton and the gaps exceed the network's positions.
void check_context(const Request& request, std::int64_t positions, int k_max,
                   const ModelConfig& config) {
  if (positions <= config.positions()) return;
  const auto values = std::ssize(request.pieces.segments);
  throw ModelError(request.job.id, str("context overflow: ", positions - values * k_max,
                                       " tokens and ", values, " values of K_max ", k_max, " need ",
                                       positions, " positions, ", config.positions_key(), " is ",
                                       config.positions(), "; use a smaller stack or K_max"));
}

Task<FieldResult> decode_value(Sequence& sequence, const HpdLayout& layout, int r, RowLogits logits,
                               Chooser chooser, Sampling sampling, const DecoderContext& context);
Answers assemble(const Request& request, std::vector<FieldResult> values,
                 const Tokenizer& tokenizer);

Task<Answers> Hpd::decode(const Request& request, const DecoderContext& context) const {
  if (!context.tokenizer)
    throw ConfigError(
        "hpd needs a tokenizer: a value ends at a line break; expected a Job, not token ids");
  const Tokenizer& tokenizer = *context.tokenizer;
  const Tokens prompt = request.pieces.whole_prompt();
  check_context(request, positions_needed(request), options_.k_max,
                context.engine.model().config());
  // Input and position ids (section 4.3.1).
  const HpdLayout layout = lay_out(prompt, request.pieces.segments,
                                   static_cast<int>(request.job.contexts.size()), options_);

  // First inference step (4.3.2): all of s, with one choice after each segment.
  Sequence sequence = context.engine.open(request.job.id, "hpd");
  for (int extra = 0; extra < layout.extra_segments(); ++extra) sequence.add_segment({0});
  Step prefill;
  for (int i = 0; i < static_cast<int>(layout.tokens.size()); ++i)
    prefill.add(layout.tokens[static_cast<size_t>(i)], layout.labels[static_cast<size_t>(i)],
                i < layout.prompt_length ? Origin::prompt : Origin::forced);
  for (const int end : layout.end) prefill.want(end, request.job.sampling);
  prefill.streams = layout.values();
  StepResult first = co_await sequence.forward(std::move(prefill));

  // Subsequent steps (4.3.3): values continue independently; unfinished values share each pass.
  const auto chance = context.chance(request.job.seed);
  std::vector<Task<FieldResult>> values;
  for (int r = 0; r < layout.values(); ++r) {
    Chooser chooser(*chance, request.oracle
                                 ? std::optional(request.oracle->streams[static_cast<size_t>(r)])
                                 : std::nullopt);
    values.push_back(decode_value(sequence, layout, r,
                                  std::move(first.outputs[static_cast<size_t>(r)]),
                                  std::move(chooser), request.job.sampling, context));
  }
  Answers answers = assemble(request, co_await all(std::move(values)), tokenizer);
  for (const auto& fields : answers.fields)
    for (const auto& value : fields) {
      Counters& counters = sequence.counters();
      counters.text +=
          static_cast<std::int64_t>(value.tokens.size()) -
          (value.stop == Stop::terminator && rstrip(tokenizer.bytes(value.tokens.back())).empty());
      counters.count_branch(static_cast<std::int64_t>(value.tokens.size()));
    }
  answers.counters = sequence.finish();
  co_return answers;
}

/// v_{r,1}, v_{r,2}, ... until a token closes the value (4.3.4) or K_max tokens were chosen.
Task<FieldResult> decode_value(Sequence& sequence, const HpdLayout& layout, int r, RowLogits logits,
                               Chooser chooser, Sampling sampling, const DecoderContext& context) {
  FieldResult v;
  const Writer writer(sequence, chooser.forced(), r);
  int row = layout.end[static_cast<size_t>(r)];
  for (int k = 1;; ++k) {
    const Choice choice = chooser.choose(logits);
    writer.record(choice, row, v);
    if (closes(choice.token, *context.tokenizer))
      v.stop = Stop::terminator;
    else if (k < layout.k_max && context.interrupted())
      v.stop = Stop::interrupted;
    if (v.stop != Stop::limit || k == layout.k_max) break;
    Step step;
    step.add(choice.token, layout.value(r, k), Origin::chosen, chooser.forced() ? -1 : row);
    step.want(0, sampling);
    StepResult next = co_await sequence.forward(std::move(step));
    row = next.first_row;
    logits = std::move(next.outputs[0]);
  }
  co_return v;
}

/// Inserts the values into the skeleton, and parses them. The result is valid JSON by construction.
Answers assemble(const Request& request, std::vector<FieldResult> values,
                 const Tokenizer& tokenizer) {
  Answers answers;
  const JsonSkeleton skeleton = json_skeleton(request.job.contexts);
  answers.text = kAnswerOpening;
  size_t r = 0;
  for (const Context& context : request.job.contexts) {
    auto& fields = answers.fields.emplace_back();
    for (size_t n = 0; n < context.fields.size(); ++n, ++r) {
      const std::string written = repair_utf8(bytes_of(values[r].tokens, tokenizer));
      values[r].text = parse_json_value(written);
      values[r].said_absent = says_absent(written);
      answers.text +=
          skeleton.segments[r] + json_value(values[r].text, n + 1 == context.fields.size());
      fields.push_back(std::move(values[r]));
    }
    answers.parsed.push_back(true);
  }
  answers.text += skeleton.tail;
  answers.stop = Stop::terminator;
  return answers;
}

Oracle Hpd::reference_oracle(const Request&,
                             const std::vector<std::vector<std::optional<std::string>>>& references,
                             const DecoderContext& context) const {
  Oracle oracle;
  oracle.streams = hpd_values(references, options_.k_max, *context.tokenizer);
  return oracle;
}

}  // namespace

DecoderEntry hpd_entry() {
  const HpdOptions usual;
  return {
      .name = "hpd",
      .source = "Glavas et al., Hyper-Parallel Decoding",
      .options = {Option::whole("k_max", usual.k_max, {1, kMostGap},
                                "K_max: positions reserved for a value, and limit of its tokens"),
                  Option::whole("stack", usual.stack, {1, kMostStacked},
                                "J: products in one prompt"),
                  Option::one_of("isolated", kIsolations,
                                 "which values must not see each other: none, values (all), or "
                                 "products (those of different products)")},
      .make = make_as<Hpd>,
      .free_running = false,
      .oracles = {"references", "recorded"},
      .trained = true,
      .stack_option = "stack",
      .formats = hpd_formats(),
      .training_options = hpd_training_options()};
}

}  // namespace pardec
