#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// `forced_keys`: the JSON answer's keys are fed as known, and its values decoded one after
/// another, each to its line break. Needs a tokenizer (ConfigError).
Task<Answers> decode_forced_keys(const Request& request, const DecoderContext& context);

/// What is forced for each value under an oracle: the reference through a line break.
Oracle forced_key_references(const Request& request,
                             const std::vector<std::vector<std::optional<std::string>>>& references,
                             const Tokenizer& tokenizer);

}  // namespace pardec
