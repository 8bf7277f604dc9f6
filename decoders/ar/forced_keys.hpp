#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// `forced_keys`: inserts the keys of the JSON answer, and decodes its values one after another,
/// each up to its line break. ConfigError: there is no tokenizer.
Task<Answers> decode_forced_keys(const Request& request, const DecoderContext& context);

/// For `--oracle references`, which replaces the network's choices: the ids of each value are those
/// of its reference up to a line break.
Oracle forced_key_references(const Request& request,
                             const std::vector<std::vector<std::optional<std::string>>>& references,
                             const Tokenizer& tokenizer);

}  // namespace pardec
