#pragma once
#include <memory>

#include "decoders/decoder.hpp"

namespace pardec {

/// Options: `ask`, `stack` (Asking), `tree` (parse_medusa_tree), `acceptance`.
std::unique_ptr<Decoder> make_medusa(const Json& options);

}  // namespace pardec
