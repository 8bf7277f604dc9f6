#pragma once
#include <string>
#include <vector>

#include "decoders/decoder.hpp"

namespace pardec {

/// Parses a list of layers: numbers (`3`) and ranges (`2-5`) joined by `+`, or `none`, `odd` (every
/// second layer, beginning with the second) or `all`. Returns for each layer whether it is in the
/// list. ConfigError, which starts with `where`: the text has another form, or names a layer that
/// the network does not have.
std::vector<bool> parse_layers(const std::string& text, int layers, const std::string& where);

DecoderEntry self_speculative_entry();

}  // namespace pardec
