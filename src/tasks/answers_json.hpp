#pragma once
#include "decoders/decoder.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// Answers in the JSON form defined by the contract of `generate --format json`.
OrderedJson answers_json(const Job& job, const Decoder& decoder, const Answers& answers);

}  // namespace pardec
