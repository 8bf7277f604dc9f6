#include <algorithm>
#include <stdexcept>

#include "decoders/apar.hpp"
#include "decoders/ar.hpp"
#include "decoders/aspd.hpp"
#include "decoders/decoder.hpp"
#include "decoders/hpd.hpp"
#include "decoders/ippd.hpp"
#include "decoders/lookahead.hpp"
#include "decoders/medusa.hpp"
#include "decoders/prompt_lookup.hpp"
#include "decoders/self_speculative.hpp"
#include "decoders/skeleton_of_thought.hpp"
#include "decoders/space.hpp"
#include "decoders/speculative.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string_view name(Stop stop) {
  switch (stop) {
    case Stop::terminator:
      return "terminator";
    case Stop::eos:
      return "eos";
    case Stop::limit:
      return "limit";
    case Stop::context:
      return "context";
  }
  return "";
}

Oracle Decoder::reference_oracle(const Request&,
                                 const std::vector<std::vector<std::optional<std::string>>>&,
                                 const DecoderContext&) const {
  throw std::logic_error(str("decoder ", name(), " takes no oracle of references"));
}

std::string Decoder::needs(const Tokenizer*, const ModelConfig&) const { return ""; }

std::int64_t Decoder::positions_needed(const Request& request) const {
  if (request.form == Form::json) return std::ssize(request.pieces.whole_prompt());
  std::int64_t most = 0;
  for (size_t c = 0; c < request.pieces.fields.size(); ++c) {
    const auto& fields = request.pieces.fields[c];
    std::int64_t conversation = 0;  // its last turn stands behind all others
    for (size_t f = 0; f < fields.size(); ++f) {
      conversation += std::ssize(fields[f]);
      most = std::max(most, std::ssize(request.pieces.field_prompt(c, f)));
    }
    if (request.job.conversation && !fields.empty())
      most = std::max(most, std::ssize(request.pieces.field_prompt(c, 0)) + conversation -
                                std::ssize(fields[0]));
  }
  return most;
}

std::int64_t positions_with_skeleton(const Request& request) {
  std::int64_t tokens = std::ssize(request.pieces.whole_prompt());
  for (const Tokens& segment : request.pieces.segments) tokens += std::ssize(segment);
  return tokens;
}

const std::vector<DecoderEntry>& decoders() {
  static const std::vector<DecoderEntry> kDecoders{
      {.name = "ar",
       .source = "-",
       .options = {"ask", "forced_keys", "stack", "prefix_cache"},
       .free_running = true,
       .make = make_ar,
       .oracles = {"references", "recorded"},
       .stack_option = "stack",
       .baseline_asks = "together"},
      {.name = "speculative",
       .source = "Leviathan et al., arXiv:2211.17192",
       .options = {"ask", "stack", "gamma", "schedule", "threshold"},
       .free_running = true,
       .make = make_speculative,
       .oracles = {"accept"},
       .exact = true,
       .stack_option = "stack"},
      {.name = "prompt-lookup",
       .source = "Saxena, prompt lookup decoding",
       .options = {"ask", "stack", "ngram", "draft"},
       .free_running = true,
       .make = make_prompt_lookup,
       .oracles = {"accept"},
       .exact = true,
       .stack_option = "stack"},
      {.name = "medusa",
       .source = "Cai et al., arXiv:2401.10774",
       .options = {"ask", "stack", "tree", "acceptance"},
       .free_running = true,
       .make = make_medusa,
       .oracles = {"accept"},
       .exact = true,
       .stack_option = "stack"},
      {.name = "lookahead",
       .source = "Fu et al., arXiv:2402.02057",
       .options = {"ask", "stack", "window", "ngram", "guesses"},
       .free_running = true,
       .make = make_lookahead,
       .oracles = {"accept"},
       .exact = true,
       .stack_option = "stack"},
      {.name = "self-speculative",
       .source = "Zhang et al., arXiv:2309.08168",
       .options = {"ask", "stack", "gamma", "threshold", "skip_attention", "skip_mlp"},
       .free_running = true,
       .make = make_self_speculative,
       .oracles = {"accept"},
       .exact = true,
       .stack_option = "stack",
       .drafts_untraced = true},
      {.name = "hpd",
       .source = "Glavas et al., Hyper-Parallel Decoding",
       .options = {"k_max", "stack", "isolated"},
       .free_running = false,
       .make = make_hpd,
       .oracles = {"references", "recorded"},
       .trained = true,
       .stack_option = "stack"},
      {.name = "space",
       .source = "Yi et al., SPACE",
       .options = {"ask", "stack", "k", "extra", "mask_token"},
       .free_running = true,
       .make = make_space,
       .oracles = {"accept"},
       .trained = true,
       .exact = true,
       .stack_option = "stack"},
      {.name = "apar",
       .source = "Liu et al., arXiv:2401.06761",
       .options = {"ask", "stack", "max_threads", "max_depth", "max_total", "fork_token",
                   "child_token", "medusa"},
       .free_running = true,
       .make = make_apar,
       .oracles = {"recorded"},
       .trained = true,
       .stack_option = "stack",
       .own_columns = apar_columns()},
      {.name = "aspd",
       .source = "Chen et al., arXiv:2508.08895",
       .options = {"ask", "positions", "mask", "max_steps", "tokens"},
       .free_running = true,
       .make = make_aspd,
       .oracles = {"recorded"},
       .trained = true,
       .own_columns = aspd_columns()},
      {.name = "ippd",
       .source = "Intra-Prompt Parallel Decoding for Common-Context Question Answering",
       .options = {"contexts", "prefix_cache"},
       .free_running = true,
       .make = make_ippd,
       .oracles = {"references", "recorded"},
       .exact = true,
       .stack_option = "contexts",
       .baseline_asks = "separately"},
      {.name = "skeleton-of-thought",
       .source = "Ning et al., Skeleton-of-Thought, arXiv:2307.15337",
       .options = {"shared_prefix"},
       .free_running = true,
       .make = make_skeleton_of_thought},
  };
  return kDecoders;
}

const DecoderEntry& find_decoder(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& entry : decoders()) {
    if (entry.name == name) return entry;
    known.emplace_back(entry.name);
  }
  throw ConfigError(str("unknown decoder '", name, "'", known_names(name, known)));
}

std::unique_ptr<Decoder> make_decoder(std::string_view name, const Json& options) {
  const DecoderEntry& entry = find_decoder(name);
  const std::vector<std::string> known(entry.options.begin(), entry.options.end());
  for (const auto& [key, value] : options.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw ConfigError(
          str("decoder ", name, ": unknown option '", key, "'", known_names(key, known)));
  return entry.make(options);
}

int stack_asked(const DecoderEntry& entry, const Json& options) {
  return entry.stack_option.empty() ? 1 : options.value(std::string(entry.stack_option), 1);
}

int baseline_rank(const DecoderChoice& method, const DecoderChoice& other) {
  const auto asks = [](const Json& options) { return options.value("ask", "together"); };
  const bool plain = other.decoder == kPlainDecoder && !other.options.value("forced_keys", false) &&
                     other.options.value("stack", 1) == 1;
  if (!plain) return 0;
  const std::string_view wanted = find_decoder(method.decoder).baseline_asks;
  if (!wanted.empty()) return asks(other.options) == wanted;
  if (asks(other.options) == asks(method.options)) return 2;
  return asks(other.options) == "together";
}

std::string bytes_of(const Tokens& tokens, const Tokenizer& tokenizer) {
  std::string bytes;
  for (const Token token : tokens) bytes += tokenizer.bytes(token);
  return bytes;
}

Tokens ids_through_line_break(const std::string& text, int limit, const Tokenizer& tokenizer) {
  Tokens ids;
  for (const Token id : tokenizer.encode_piece(text, false)) {
    if (static_cast<int>(ids.size()) >= limit) break;
    ids.push_back(id);
    if (tokenizer.bytes(id).find('\n') != std::string_view::npos) break;
  }
  return ids;
}

}  // namespace pardec
