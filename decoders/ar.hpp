#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

struct ArOptions {
  bool together =
      true;  ///< ask=together: one JSON answer for all fields; ask=separately: one prompt a field
  bool forced_keys =
      false;      ///< the answer's keys are fed, only values are decoded, one after another
  int stack = 1;  ///< J: contexts in one prompt (batch prompting)
};

std::unique_ptr<Decoder> make_ar(const Json& options);

}  // namespace pardec
