#include "src/model/files/checkpoint_advice.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/support/gguf.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kExpected = "expected a Hugging Face checkpoint folder or a GGUF file";

/// The names of the folder's files with one of these endings, sorted.
std::vector<std::string> files_with(const std::filesystem::path& folder,
                                    const std::vector<std::string_view>& ends) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (std::any_of(ends.begin(), ends.end(),
                    [&](std::string_view end) { return name.ends_with(end); }))
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// What to say about weights in other formats in the folder; empty: there are none.
std::string other_weights(const std::filesystem::path& folder) {
  if (const auto gguf = files_with(folder, {".gguf"}); !gguf.empty())
    return str("it has ", join(gguf, ", "), ": give ",
               gguf.size() > 1 ? "one of them" : "that file", " as the model");
  const auto own = files_with(folder, {"consolidated.safetensors", ".pth"});
  if (!own.empty())
    return str(own.front(),
               " is in the maker's own format, which is not read; take the checkpoint in "
               "the Hugging Face format");
  if (const auto pickled = files_with(folder, {".bin", ".pt", ".ckpt", ".bin.index.json"});
      !pickled.empty())
    return str(pickled.front(), " is pickled by torch; ",
               pickled.front().starts_with("pytorch_model") ? "" : "named pytorch_model.bin, ",
               "'pardec model convert ", folder.string(), " `out=OUT`' makes safetensors of it");
  if (const auto other = files_with(folder, {".h5", ".msgpack", ".onnx"}); !other.empty())
    return str(other.front(), " is of another library, which is not read");
  return "";
}

/// What completes a snapshot in the cache of the Hub.
std::string fetch_advice(const HubName& name) {
  return str("'pardec model fetch ", name.repository, "@", name.revision,
             "' fetches what is missing");
}

}  // namespace

std::string why_no_checkpoint(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::string text = path.string();
  if (gguf_file(path)) return "";
  if (!std::filesystem::exists(path, ignored)) {
    const auto name = parse_hub_name(text);
    return str("does not exist, ", kExpected,
               name ? str(", or a network of the Hub; as such, it ", why_no_snapshot(*name)) : "");
  }
  if (!std::filesystem::is_directory(path, ignored)) {
    const std::string end = path.extension().string();
    return str("is not a folder, ", kExpected,
               end == ".safetensors" ? "; give the folder that it is in" : "");
  }
  if (std::filesystem::exists(path / "config.json", ignored)) return "";
  std::string more = other_weights(path);
  if (std::filesystem::exists(path / "adapter_config.json", ignored))
    more = "it holds an adapter: give the network as `model`, and this as `adapter`";
  if (std::filesystem::is_directory(path / "snapshots", ignored))
    more = "it is of the Hub's cache: give ORG/NAME, or one of the folders in its snapshots/";
  if (const auto name = hub_name_of(path); name && more.empty()) more = fetch_advice(*name);
  return str("has no config.json, ", kExpected, more.empty() ? "" : "; " + more);
}

std::string why_no_weights(const std::filesystem::path& folder) {
  std::string more = other_weights(folder);
  if (const auto others = files_with(folder, {".safetensors"}); more.empty() && !others.empty())
    more = str("it has ", join(others, ", "), ", and no index that names them");
  if (const auto name = hub_name_of(folder); name && more.empty()) more = fetch_advice(*name);
  return str("has no weights, expected model.safetensors or model.safetensors.index.json",
             more.empty() ? "" : "; " + more);
}

std::string why_no_safetensors(std::string_view beginning) {
  if (beginning.starts_with("version https://git-lfs"))
    return "is a pointer of Git LFS, not the file: 'git lfs pull' fetches it";
  if (beginning.starts_with("GGUF")) return "is a GGUF file, expected safetensors";
  if (beginning.starts_with("PK")) return "is pickled by torch, expected safetensors";
  return "";
}

}  // namespace pardec
