#include "src/model/files/checkpoint_advice.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/support/gguf.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kExpected = "expected a Hugging Face checkpoint folder or a GGUF file";

/// Whether the text is a model's name on the Hub, `owner/name`.
bool is_hub_id(const std::string& text) {
  const auto slash = text.find('/');
  const auto fits = [](std::string_view part) {
    return !part.empty() && part != "." && part != ".." &&
           std::all_of(part.begin(), part.end(), [](unsigned char c) {
             return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
           });
  };
  return slash != std::string::npos && fits(std::string_view(text).substr(0, slash)) &&
         fits(std::string_view(text).substr(slash + 1));
}

std::string convert(const std::string& folder) {
  return str(
      "transformers converts it: python -c \"from transformers import AutoModelForCausalLM as "
      "M, AutoTokenizer as T; f = '",
      folder,
      "'; M.from_pretrained(f).save_pretrained('OUT'); "
      "T.from_pretrained(f).save_pretrained('OUT')\"");
}

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
    return str(pickled.front(), " is not safetensors; ", convert(folder.string()));
  if (const auto other = files_with(folder, {".h5", ".msgpack", ".onnx"}); !other.empty())
    return str(other.front(), " is of another library, which is not read");
  return "";
}

}  // namespace

std::string why_no_checkpoint(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::string text = path.string();
  if (gguf_file(path)) return "";
  if (!std::filesystem::exists(path, ignored))
    return str("does not exist, ", kExpected,
               is_hub_id(text) ? str("; the Hub's models are not fetched: 'hf download ", text,
                                     " --local-dir DIR' does (pip install huggingface_hub), then "
                                     "give DIR")
                               : "");
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
    more = "it is of the Hub's cache: give one of the folders in its snapshots/";
  return str("has no config.json, ", kExpected, more.empty() ? "" : "; " + more);
}

std::string why_no_weights(const std::filesystem::path& folder) {
  std::string more = other_weights(folder);
  if (const auto others = files_with(folder, {".safetensors"}); more.empty() && !others.empty())
    more = str("it has ", join(others, ", "), ", and no index that names them");
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
