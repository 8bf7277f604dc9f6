#include "src/finetune/merged_checkpoint.hpp"

#include "src/checkpoint/checkpoint.hpp"
#include "src/model/adapter.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kShards = "model.safetensors.index.json";

}  // namespace

void copy_beside_weights(const std::filesystem::path& from, const std::filesystem::path& to,
                         const std::set<std::string>& but) {
  constexpr auto kOverwrite = std::filesystem::copy_options::overwrite_existing;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(from))
      if ((entry.path().extension() == ".json" || entry.path().extension() == ".jinja") &&
          !but.contains(entry.path().filename().string()))
        std::filesystem::copy_file(entry.path(), to / entry.path().filename(), kOverwrite);
    if (std::filesystem::is_directory(from / "prompts"))
      std::filesystem::copy(from / "prompts", to / "prompts",
                            kOverwrite | std::filesystem::copy_options::recursive);
  } catch (const std::filesystem::filesystem_error& error) {
    throw RunError(str(to.string(), ": ", from.string(), " cannot be copied here: ", error.what()));
  }
}

void merge_checkpoint(const std::filesystem::path& base, const std::filesystem::path& adapter,
                      const std::filesystem::path& out) {
  read_model_config(base);
  std::error_code error;
  if (std::filesystem::exists(out / kWeights, error) ||
      std::filesystem::exists(out / kShards, error))
    throw ConfigError(str(out.string(), ": holds a model; give another folder"));
  std::filesystem::create_directories(out, error);
  if (error) throw RunError(str(out.string(), ": cannot be made: ", error.message()));
  copy_beside_weights(base, out, {kShards, kTrainingRecord});
  copy_beside_weights(adapter, out, {kAdapterConfig});
  merge_adapter(base, adapter, out / kWeights);  // last: with it the checkpoint is whole
}

}  // namespace pardec
