#include "src/tasks/decode_options.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

Sampling DecodeOptions::sampling() const {
  const Sampling sampling{temperature, top_k, top_p};
  if (!(temperature >= 0))
    throw ConfigError(str("`temperature` is ", temperature, ", expected 0 (greedy) or more"));
  if (top_k < 0) throw ConfigError(str("`top_k` is ", top_k, ", expected 0 (off) or more"));
  if (!(top_p > 0 && top_p <= 1))
    throw ConfigError(str("`top_p` is ", top_p, ", expected above 0 and at most 1"));
  if (max_new_tokens < 1)
    throw ConfigError(str("`max_new_tokens` is ", max_new_tokens, ", expected at least 1"));
  if (per_field.value_or(1) < 1)
    throw ConfigError(str("`per_field` is ", *per_field, ", expected at least 1"));
  return sampling;
}

std::string generation_note(const GenerationRules& rules, bool left_out) {
  std::vector<std::string> settings, parts;
  for (const auto& [key, value] : rules.applied.items())
    settings.push_back(
        str(key, " ",
            value.is_structured() && value.size() > 4 ? str("of ", value.size()) : dump(value)));
  if (!settings.empty() && left_out)
    parts.push_back(str(join(settings, ", "), " left out (`no_generation_config`)"));
  else if (!settings.empty())
    parts.push_back(str(join(settings, ", "),
                        " applied to the tokens that the choosing row sees (`no_generation_config` "
                        "leaves it out)"));
  if (!rules.left_out.empty())
    parts.push_back(str(join(rules.left_out, ", "), " not supported, and not applied"));
  return parts.empty() ? "" : str(rules.file, ": ", join(parts, "; "));
}

}  // namespace pardec
