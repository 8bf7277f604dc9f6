#include "src/checkpoint/checkpoint_notes.hpp"

#include <map>

#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/model/files/json_file.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

void add_weights(const std::filesystem::path& folder, const ModelConfig& config,
                 std::vector<std::string>& notes) {
  const CheckpointFiles files(folder);
  if (!config.tied_head && parse_model_config(read_config_json(folder), files.where()).tied_head)
    notes.push_back(
        str("config.json says tie_word_embeddings, but the weights hold an "
            "lm_head.weight that is not the embedding: it is the head, as in "
            "transformers"));
  if (const auto unused = files.unused(config); !unused.empty())
    notes.push_back(
        str("weights that this network does not use: ", summary_of_tensors(unused, config.layers)));
}

std::string text_of(const std::vector<Token>& ids) {
  std::vector<std::string> texts;
  for (const Token id : ids) texts.push_back(std::to_string(id));
  return join(texts, ", ");
}

/// Adds ends of sequence that are not in the network's vocabulary; and a note if
/// generation_config.json names no end, which transformers interprets as answers without an end.
void add_ends(const std::filesystem::path& file, const ModelConfig& config,
              std::vector<std::string>& notes) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return;
  const Json json = read_model_json(file);
  const Json ends = json.is_object() ? json.value("eos_token_id", Json()) : Json();
  for (const Json& id : ends.is_array() ? ends : Json::array({ends}))
    if (id.is_number_integer() && (id < 0 || id >= config.vocab_size))
      notes.push_back(str(file.filename().string(), "'s eos_token_id ", dump(id),
                          " ends no answer: it lies beyond the vocabulary of ", config.vocab_size));
  if (ends.is_null() && file.filename() == "generation_config.json" && !config.eos.empty())
    notes.push_back(str("generation_config.json has no eos_token_id: answers end at the config's ",
                        text_of(config.eos),
                        ", where transformers goes on to the limit, as with `ignore_eos`"));
}

/// Adds a sliding window that the family's layers do not implement and that would have an effect.
void add_window(const std::filesystem::path& file, const ModelConfig& config,
                std::vector<std::string>& notes) {
  std::error_code ignored;
  if (config.family->windows != Windows::none || !std::filesystem::exists(file, ignored)) return;
  const Json window = read_model_json(file).value("sliding_window", Json());
  if (!window.is_null() && window < config.max_position)
    notes.push_back(str("config.json's sliding_window ", dump(window), " is not applied: ",
                        config.family->model_type, " has none, and a row sees all before it"));
}

/// "Q4_1 (210 tensors), Q8_0 (1 tensor)".
std::string types_text(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [type, count] : counts)
    parts.push_back(str(type, " (", counted(count, "tensor"), ")"));
  return join(parts, ", ");
}

/// Adds what becomes of the block-quantised weights of a GGUF file.
void add_blocks(const ModelConfig& config, std::vector<std::string>& notes) {
  std::map<std::string, std::int64_t> kept, widened;
  for (const Parameter& parameter : parameters(config))
    if (const auto found = config.blocks.find(parameter.name); found != config.blocks.end())
      ++(packed_type(parameter, config) ? kept : widened)[found->second->name];
  if (!kept.empty())
    notes.push_back(
        str("block-quantised weights: `dtype=gguf` computes with these types as they "
            "are stored: ",
            types_text(kept),
            "; every other dtype widens them while they are loaded, to fp32, or to "
            "bf16 where the network computes in it"));
  if (!widened.empty())
    notes.push_back(
        str("block-quantised weights that are widened while they are loaded, to fp32, "
            "or to bf16 where the network computes in it: ",
            types_text(widened)));
}

}  // namespace

std::string foreign_ids(const Tokenizer& tokenizer, const ModelConfig& config) {
  std::vector<std::string> named;
  std::int64_t count = 0;
  for (Token id = config.vocab_size; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.token(id).empty()) continue;
    if (++count <= 3) named.push_back(str("'", tokenizer.token(id), "' ", id));
  }
  if (count == 0) return "";
  return str("the tokenizer has ", counted(count, "id"), " beyond the network's vocabulary of ",
             config.vocab_size, " (", join(named, ", "), count > 3 ? ", ..." : "",
             "): a prompt with one of them fails");
}

std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder,
                                          const ModelConfig& config) {
  std::vector<std::string> notes;
  if (CheckpointFiles::there(folder)) add_weights(folder, config, notes);
  if (!config.blocks.empty()) add_blocks(config, notes);
  if (!config.quantised.empty())
    notes.push_back(str("quantised weights (", config.quantised,
                        ") that are widened while they are loaded, to fp32, or to bf16 where the "
                        "network computes in it; activations are not quantised"));
  for (const char* file : {"config.json", "generation_config.json"})
    add_ends(folder / file, config, notes);
  add_window(folder / "config.json", config, notes);
  return notes;
}

std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored) && !gguf_file(folder)) return {};
  return checkpoint_notes(folder, read_model_config(folder));
}

}  // namespace pardec
