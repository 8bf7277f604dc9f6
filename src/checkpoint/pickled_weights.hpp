#pragma once
#include <filesystem>

namespace pardec {

/// Converts a checkpoint whose weights are in torch's pickle format to a new checkpoint folder
/// `out`. The weights in `folder` are in pytorch_model.bin, or in the shards that
/// pytorch_model.bin.index.json names. They are written to model.safetensors with the same values
/// and types. The other files are copied (copy_beside_weights). A Python program (from_pickled.py)
/// with torch reads the pickled files, and does not run the code that they contain. ConfigError:
/// `out` already contains a model. ModelError: `folder` has no such weights, their index is
/// invalid, or torch cannot load them as tensors. RunError: Python or torch is missing, or writing
/// fails.
void convert_pickled_weights(const std::filesystem::path& folder, const std::filesystem::path& out);

}  // namespace pardec
