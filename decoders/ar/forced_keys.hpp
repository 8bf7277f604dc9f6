#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Option `forced_keys` of ar: inserts the keys of the JSON answer, and decodes the values one
/// after another, each up to a line break. ConfigError: there is no tokenizer.
Task<Answers> decode_forced_keys(const Request& request, const DecoderContext& context);

/// The oracle `references` for forced_keys: for each value, the ids of its reference up to a line
/// break.
Oracle forced_key_references(const Request& request,
                             const std::vector<std::vector<std::optional<std::string>>>& references,
                             const Tokenizer& tokenizer);

}  // namespace pardec
