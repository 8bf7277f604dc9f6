#pragma once
#include "decoders/decoder.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// Answers as the contract of `generate --format json` has them.
OrderedJson answers_json(const Job& job, const Decoder& decoder, const Answers& answers);

}  // namespace pardec
