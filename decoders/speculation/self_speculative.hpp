#pragma once
#include <string>
#include <vector>

#include "decoders/decoder.hpp"

namespace pardec {

/// Layers as `3`, `2-5`, joined by `+`, or the words `none`, `odd` (every second layer, from the
/// second on), `all`. ConfigError, which begins with `where`: not such a list, or a layer that the
/// network lacks.
std::vector<bool> parse_layers(const std::string& text, int layers, const std::string& where);

DecoderEntry self_speculative_entry();

}  // namespace pardec
