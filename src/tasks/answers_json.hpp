#pragma once
#include "decoders/decoder.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// Answers as JSON, as printed by `generate --format json`. Schema: decoders/answers.schema.json.
OrderedJson answers_json(const Job& job, const Decoder& decoder, const Answers& answers);

}  // namespace pardec
