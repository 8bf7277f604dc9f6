#include "src/checkpoint/checkpoint_notes.hpp"

#include "src/model/checkpoint_files.hpp"
#include "src/model/json_file.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

void add_weights(const std::filesystem::path& folder, const ModelConfig& config,
                 std::vector<std::string>& notes) {
  const CheckpointFiles files(folder);
  const std::filesystem::path file = folder / "config.json";
  if (!config.tied_head && parse_model_config(read_model_json(file), file.string()).tied_head)
    notes.push_back(
        str("config.json says tie_word_embeddings, but the weights hold an "
            "lm_head.weight that is not the embedding: it is the head, as in "
            "transformers"));
  if (const auto unused = files.unused(config); !unused.empty())
    notes.push_back(
        str("weights that this network does not use: ", summary_of_tensors(unused, config.layers)));
}

}  // namespace

std::vector<std::string> checkpoint_notes(const ModelOptions& options) {
  std::vector<std::string> notes;
  const std::filesystem::path folder = options.model;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return notes;
  const ModelConfig config = read_model_config(folder);
  if (CheckpointFiles::there(folder)) add_weights(folder, config, notes);
  return notes;
}

}  // namespace pardec
