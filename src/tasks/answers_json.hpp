#pragma once
#include "decoders/decoder.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// Converts answers to JSON, as `generate --format json` prints them. decoders/answers.schema.json
/// has the schema. REQUIRES: `answers` are the decoder's answers to `job`.
OrderedJson answers_json(const Job& job, const Decoder& decoder, const Answers& answers);

}  // namespace pardec
