#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Options: `ask`, `stack` (Asking); `forced_keys`: the answer's keys are fed, only values are
/// decoded, one after another.
std::unique_ptr<Decoder> make_ar(const Json& options);

}  // namespace pardec
