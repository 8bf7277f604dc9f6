#pragma once
#include <string>
#include <vector>

#include "decoders/decoder.hpp"

namespace pardec {

/// Parses layers such as `3`, `2-5`, joined by `+`, or the words `none`, `odd` (every second layer,
/// from the second on), `all`. ConfigError, which starts with `where`: the text is not such a list,
/// or names a layer that the network does not have.
std::vector<bool> parse_layers(const std::string& text, int layers, const std::string& where);

DecoderEntry self_speculative_entry();

}  // namespace pardec
