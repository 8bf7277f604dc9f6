#pragma once
#include <filesystem>

namespace pardec {

/// Makes a checkpoint folder `out` with model.safetensors of a folder whose weights torch has
/// pickled: pytorch_model.bin, or the shards that pytorch_model.bin.index.json names. The values
/// and types of the weights stay the same. The other files are copied (copy_beside_weights). A
/// Python program (from_pickled.py) with torch reads the pickled files, and runs no code of them.
/// ConfigError: `out` already contains a model. ModelError: `folder` has no such weights, their
/// index is invalid, or torch cannot load them as tensors. RunError: Python or torch is missing, or
/// writing fails.
void convert_pickled_weights(const std::filesystem::path& folder, const std::filesystem::path& out);

}  // namespace pardec
