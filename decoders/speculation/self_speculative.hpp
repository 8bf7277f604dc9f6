#pragma once
// Self-speculative decoding (Zhang et al. 2023, arXiv:2309.08168);
// decoders/speculation/self-speculative.md explains the method.
#include <string>
#include <vector>

#include "decoders/decoder.hpp"

namespace pardec {

/// Parses a list of layers: numbers (`3`) and ranges (`2-5`) joined by `+`, or `none`, `odd`
/// (layers 1, 3, 5, ...) or `all`. Layers count from 0. `layers`: the network's number of layers.
/// Returns for each layer whether the list has it. ConfigError, whose message starts with
/// `where`: the text has another form, or names a layer that the network does not have.
std::vector<bool> parse_layers(const std::string& text, int layers, const std::string& where);

/// The decoder's entry in the registry (decoders()).
DecoderEntry self_speculative_entry();

}  // namespace pardec
