#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Option `forced_keys` of ar: inserts the keys of the JSON answer, and decodes the values one
/// after another, each up to a line break or the limit Limits::per_field. An oracle has one stream
/// for each value (forced_key_references). ConfigError: there is no tokenizer. ModelError: context
/// overflow. Other errors: see Sequence::forward. REQUIRES: the request has json form; both
/// arguments outlive the task.
Task<Answers> decode_forced_keys(const Request& request, const DecoderContext& context);

/// Makes the oracle of `--oracle references` for the option forced_keys. `references`:
/// [context][field]; none: the value is absent. The oracle has one stream for each value, in the
/// order of contexts and fields: the ids of the reference ("n/a" if the value is absent), up to and
/// including a line break, but at most Limits::per_field ids.
Oracle forced_key_references(const Request& request,
                             const std::vector<std::vector<std::optional<std::string>>>& references,
                             const Tokenizer& tokenizer);

}  // namespace pardec
