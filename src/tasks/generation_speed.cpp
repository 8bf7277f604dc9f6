#include "src/tasks/generation_speed.hpp"

#include <cmath>

#include "metrics/statistics.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

double rate(std::int64_t count, std::int64_t ns) {
  return count > 0 && ns > 0 ? 1e9 * static_cast<double>(count) / static_cast<double>(ns)
                             : std::nan("");
}

}  // namespace

GenerationSpeed generation_speed(const std::vector<Counters>& answers, std::int64_t wall_ns,
                                 int in_flight) {
  std::int64_t chosen = 0, prompt = 0, prefill_ns = 0;
  std::vector<double> first_tokens;
  for (const Counters& counters : answers) {
    chosen += counters.chosen;
    prompt += counters.prompt;
    prefill_ns += counters.prefill_ns;
    if (counters.first_token_ns > 0)
      first_tokens.push_back(static_cast<double>(counters.first_token_ns) * 1e-9);
  }
  const bool alone = in_flight == 1 || answers.size() == 1;
  return {.tokens = chosen,
          .seconds = static_cast<double>(wall_ns) * 1e-9,
          .tokens_per_second = rate(chosen, wall_ns),
          .prompt_tokens = prompt,
          .prompt_tokens_per_second = alone ? rate(prompt, prefill_ns) : std::nan(""),
          .first_token = first_tokens.empty() ? std::nan("") : quantile(first_tokens, 0.5)};
}

std::string text_of(const GenerationSpeed& speed) {
  std::string text = str(counted(speed.tokens, "token"), " in ", seconds_text(speed.seconds), ", ",
                         fixed(speed.tokens_per_second, 1), " tokens/s; prompt ",
                         counted(speed.prompt_tokens, "token"));
  if (std::isfinite(speed.prompt_tokens_per_second))
    text += str(", ", fixed(speed.prompt_tokens_per_second, 1), " tokens/s");
  if (std::isfinite(speed.first_token))
    text += str("; first token ", seconds_text(speed.first_token));
  return text;
}

OrderedJson json_of(const GenerationSpeed& speed) {
  const auto number = [](double value) {
    return std::isfinite(value) ? OrderedJson(value) : OrderedJson();
  };
  return {{"tokens", speed.tokens},
          {"seconds", speed.seconds},
          {"tokens_per_second", number(speed.tokens_per_second)},
          {"prompt_tokens", speed.prompt_tokens},
          {"prompt_tokens_per_second", number(speed.prompt_tokens_per_second)},
          {"first_token_p50_s", number(speed.first_token)}};
}

}  // namespace pardec
