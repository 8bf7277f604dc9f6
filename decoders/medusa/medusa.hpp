#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

DecoderEntry medusa_entry();

}  // namespace pardec
