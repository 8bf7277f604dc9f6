#include <algorithm>
#include <stdexcept>

#include "decoders/apar/apar.hpp"
#include "decoders/ar/ar.hpp"
#include "decoders/aspd/aspd.hpp"
#include "decoders/decoder.hpp"
#include "decoders/hpd/hpd.hpp"
#include "decoders/ippd/ippd.hpp"
#include "decoders/medusa/medusa.hpp"
#include "decoders/service/service.hpp"
#include "decoders/skeleton_of_thought/skeleton_of_thought.hpp"
#include "decoders/space/space.hpp"
#include "decoders/speculation/lookahead.hpp"
#include "decoders/speculation/prompt_lookup.hpp"
#include "decoders/speculation/self_speculative.hpp"
#include "decoders/speculation/speculative.hpp"
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
    case Stop::interrupted:
      return "interrupted";
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
    std::int64_t conversation = 0;  // its last turn follows all others
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
      ar_entry(),     speculative_entry(), prompt_lookup_entry(),
      medusa_entry(), lookahead_entry(),   self_speculative_entry(),
      hpd_entry(),    space_entry(),       apar_entry(),
      aspd_entry(),   ippd_entry(),        skeleton_of_thought_entry(),
  };
  return kDecoders;
}

const DecoderEntry& service_decoder() {
  static const DecoderEntry kService = service_entry();
  return kService;
}

const DecoderEntry& find_decoder(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& entry : decoders()) {
    if (entry.name == name) return entry;
    known.emplace_back(entry.name);
  }
  if (service_decoder().name == name) return service_decoder();
  known.emplace_back(service_decoder().name);
  throw ConfigError(str("unknown decoder '", name, "'", known_names(name, known)));
}

std::string decoders_that(bool DecoderEntry::*property) {
  std::vector<std::string_view> names;
  for (const DecoderEntry& entry : decoders())
    if (entry.*property) names.push_back(entry.name);
  return alternatives(names);
}

bool Decoder::drafts_with_model() const { return find_decoder(name()).drafts_with_model; }

bool Decoder::elsewhere() const { return find_decoder(name()).elsewhere; }

std::unique_ptr<Decoder> make_decoder(std::string_view name, const Json& options) {
  const DecoderEntry& entry = find_decoder(name);
  return entry.make(Options::of_decoder(entry.name, entry.options, options));
}

int stack_asked(const DecoderEntry& entry, const Json& options) {
  return entry.stack_option.empty() ? 1 : options.value(std::string(entry.stack_option), 1);
}

namespace {

/// The value of an option, given or default; null if the decoder does not have the option.
Json value_of(const DecoderChoice& choice, std::string_view name) {
  for (const Option& option : find_decoder(choice.decoder).options)
    if (option.name == name) return choice.options.value(std::string(name), option.fallback);
  return {};
}

}  // namespace

int baseline_rank(const DecoderChoice& method, const DecoderChoice& other, bool open) {
  const Json together = "together";
  const bool plain = other.decoder == kPlainDecoder && value_of(other, "forced_keys") == false &&
                     value_of(other, "stack") == 1;
  if (!plain) return 0;
  const Json asks = value_of(other, "ask"), asked = value_of(method, "ask");
  const std::string_view wanted = find_decoder(method.decoder).baseline_asks;
  if (open) return asks == together ? 2 : 1;
  if (!wanted.empty()) return asks == Json(wanted);
  if (asks == (asked.is_null() ? together : asked)) return 2;
  return asks == together;
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
