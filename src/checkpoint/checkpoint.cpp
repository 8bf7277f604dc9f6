#include "src/checkpoint/checkpoint.hpp"

#include <algorithm>

#include "src/checkpoint/checkpoint_notes.hpp"
#include "src/model/adapter.hpp"
#include "src/model/device.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/gguf.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/gguf_tokenizer.hpp"

namespace pardec {

Tokenizer load_tokenizer(const std::filesystem::path& folder) {
  const auto file = tokenizer_file(folder);
  if (!file)
    throw ModelError(folder.string(),
                     "has no tokenizer.json, expected one (only generate `prompt_tokens` works "
                     "without)");
  return Tokenizer::load(*file);
}

TrainingRecord read_training_record(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kTrainingRecord;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  const Json record = read_json(file);
  const auto at = [&](const char* pointer) {
    return record.is_object() ? record.value(Json::json_pointer(pointer), Json()) : Json();
  };
  const auto text = [&](const char* pointer) {
    const Json value = at(pointer);
    return value.is_string() ? value.get<std::string>() : "";
  };
  TrainingRecord taught{std::nullopt, text("/settings/chat_template"),
                        text("/chat_template_sha256"), text("/prompt_sha256")};
  if (Json settings = at("/settings"); settings.is_object()) taught.settings = std::move(settings);
  // `train` keeps the weights of the best validation, if there is one.
  for (const char* pointer : {"/result/steps", "/result/best_step"})
    if (const Json count = at(pointer); count.is_number_integer() && count.get<std::int64_t>() > 0)
      taught.updates = count.get<std::int64_t>();
  const Json formats = at("/settings/format");
  if (!formats.is_array() || !std::all_of(formats.begin(), formats.end(),
                                          [](const Json& name) { return name.is_string(); }))
    throw ModelError(file.string(),
                     "has no settings.format of names, expected the record of `train`");
  const bool heads_alone = !at("/settings/medusa").is_null() && at("/settings/lora").is_null();
  if (!heads_alone) taught.formats = formats.get<std::vector<std::string>>();
  return taught;
}

namespace {

constexpr const char* kHalf = "float16";

/// Whether the path names a checkpoint folder or a GGUF file.
bool is_checkpoint(const std::filesystem::path& model) {
  std::error_code ignored;
  return std::filesystem::is_directory(model, ignored) || gguf_file(model).has_value();
}

/// Whether `auto` computes with the blocks of a GGUF file.
bool keeps_blocks(const ModelOptions& options, const ModelConfig& config) {
  return options.device == "cpu" && options.adapter.empty() &&
         std::any_of(config.blocks.begin(), config.blocks.end(),
                     [](const auto& weight) { return packed_type(*weight.second).has_value(); });
}

/// The formats of the network with this record; extra heads alone leave those of the network.
std::optional<std::vector<std::string>> trained_formats(const std::filesystem::path& record,
                                                        const std::filesystem::path& network) {
  const auto formats = read_training_record(record).formats;
  return formats ? formats : read_training_record(network).formats;
}

}  // namespace

Dtype chosen_dtype(const ModelOptions& options) {
  if (options.dtype != "auto") return parse_dtype(options.dtype);
  if (!is_checkpoint(options.model)) return Dtype::fp32;  // errors are reported when it is loaded
  const ModelConfig config = read_model_config(options.model);
  if (keeps_blocks(options, config)) return Dtype::gguf;
  // GGUF's types of blocks have fewer bits than bf16.
  const bool half =
      config.dtype == "bfloat16" || config.dtype == kHalf ||
      (gguf_file(options.model) && config.dtype != "float32" && config.dtype != "F64");
  return half && computes_bf16_fast(options.device) ? Dtype::bf16 : Dtype::fp32;
}

std::filesystem::path texts_folder(const ModelOptions& options) {
  std::error_code ignored;
  const std::filesystem::path adapter = options.adapter;
  const auto holds = [&](const char* file) {
    return !adapter.empty() && std::filesystem::exists(adapter / file, ignored);
  };
  return holds("tokenizer.json") || holds(kTrainingRecord) ? adapter
                                                           : std::filesystem::path(options.model);
}

std::filesystem::path tokenizer_folder(const ModelOptions& options) {
  const std::filesystem::path texts = texts_folder(options);
  return tokenizer_file(texts) ? texts : std::filesystem::path(options.model);
}

Checkpoint load_checkpoint(const ModelOptions& options, bool with_tokenizer) {
  if (options.model.empty())
    throw ConfigError("no model was named; give `model=DIR` ('pardec model synth' makes one)");
  const std::filesystem::path folder = options.model;
  const Dtype dtype = chosen_dtype(options);
  if (options.threads < 0)
    throw ConfigError(str("`threads` is ", options.threads, ", expected 0 (all cores) or more"));
  set_threads(options.threads);
  std::error_code ignored;
  const ModelConfig config = read_model_config(folder);
  // Small files are read first, so that errors are found before the weights are loaded.
  std::optional<Tokenizer> tokenizer;
  const std::filesystem::path texts = texts_folder(options);
  if (with_tokenizer) tokenizer = load_tokenizer(tokenizer_folder(options));
  std::vector<std::string> notes = checkpoint_notes(folder, config);
  if (tokenizer)
    if (std::string note = foreign_ids(*tokenizer, config); !note.empty())
      notes.push_back(std::move(note));
  if (options.dtype == "auto" && dtype == Dtype::bf16 && config.dtype == kHalf)
    notes.emplace_back(
        "holds float16, which is computed in bf16 (`dtype=auto`): weights are rounded from 11 to 8 "
        "significant bits; `dtype=fp32` keeps them");
  std::vector<std::filesystem::path> weights{folder};
  if (!options.adapter.empty()) weights.emplace_back(options.adapter);
  const bool untrained = std::filesystem::exists(folder / kSynthesisNote, ignored);
  return {texts,
          std::move(weights),
          untrained ? "untrained: random weights, its values are noise" : "",
          std::move(notes),
          untrained,
          trained_formats(texts, folder),
          std::move(tokenizer),
          Model::load(folder, {.dtype = dtype,
                               .device = options.weights ? options.device : "cpu",
                               .cuda_graphs = !options.no_cuda_graphs,
                               .adapter = options.adapter,
                               .layers = options.layers,
                               .weights = options.weights,
                               .ranks = options.ranks})};
}

std::string network_key(const ModelOptions& options) {
  std::error_code ignored;
  const auto canonical = [&](const std::string& folder) {
    return folder.empty() ? "" : std::filesystem::weakly_canonical(folder, ignored).string();
  };
  return str(canonical(options.model), "\n", canonical(options.adapter), "\n", options.layers, "\n",
             name(chosen_dtype(options)), options.weights ? "" : "\nno weights");
}

std::shared_ptr<Checkpoint> Checkpoints::held(const ModelOptions& options) const {
  const auto found = loaded_.find(network_key(options));
  return found == loaded_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<Checkpoint> Checkpoints::get(const ModelOptions& options, bool with_tokenizer) {
  std::shared_ptr<Checkpoint> checkpoint = held(options);
  if (!checkpoint) {
    checkpoint = std::make_shared<Checkpoint>(load_checkpoint(options, with_tokenizer));
    loaded_[network_key(options)] = checkpoint;
  } else if (with_tokenizer && !checkpoint->tokenizer) {
    checkpoint->tokenizer = load_tokenizer(tokenizer_folder(options));
  }
  return checkpoint;
}

std::optional<CheckpointFace> read_face(const std::string& model) {
  const std::filesystem::path folder = model;
  if (!is_checkpoint(folder)) return std::nullopt;
  CheckpointFace face{read_model_config(folder), std::nullopt};
  if (tokenizer_file(folder)) face.tokenizer = load_tokenizer(folder);
  return face;
}

std::optional<CheckpointFace> read_face(const ModelOptions& options) {
  auto face = read_face(options.model);
  if (face) face->config = read_model_config(options.model, options.adapter);
  if (const auto folder = tokenizer_folder(options); face && folder != options.model)
    face->tokenizer = load_tokenizer(folder);
  return face;
}

namespace {

/// ModelError: equal ids of the two networks do not mean the same tokens. If a folder has no
/// tokenizer, only the sizes of the vocabularies are compared.
void check_same_vocabulary(const std::filesystem::path& draft, const ModelConfig& draft_config,
                           const std::filesystem::path& target, const ModelConfig& target_config) {
  const auto draft_file = tokenizer_file(draft), target_file = tokenizer_file(target);
  if (!draft_file || !target_file) {
    if (draft_config.vocab_size != target_config.vocab_size)
      throw ModelError(
          draft.string(),
          str("has another vocabulary: ", draft_config.vocab_size, " ids, ", target.string(),
              " has ", target_config.vocab_size, "; a draft network must share the tokenizer"));
    return;
  }
  std::error_code ignored;
  if (std::filesystem::equivalent(*draft_file, *target_file, ignored)) return;
  if (!gguf_file(draft) && !gguf_file(target) && read_file(*draft_file) == read_file(*target_file))
    return;
  const Tokenizer ours = load_tokenizer(draft), theirs = load_tokenizer(target);
  for (Token id = 0; id < std::max(ours.vocab_size(), theirs.vocab_size()); ++id)
    if (ours.token(id) != theirs.token(id))
      throw ModelError(draft_file->string(),
                       str("has another vocabulary: id ", id, " is '", ours.token(id), "', in ",
                           target_file->string(), " it is '", theirs.token(id),
                           "'; a draft network must share the tokenizer"));
}

}  // namespace

ModelOptions draft_options(const ModelOptions& options) {
  ModelOptions draft = options;
  draft.draft_model.clear();
  const std::filesystem::path folder = options.draft_model;
  if (std::error_code ignored; std::filesystem::exists(folder / kAdapterConfig, ignored) &&
                               !std::filesystem::exists(folder / "config.json", ignored)) {
    draft.adapter = options.draft_model;
    draft.layers = adapted_layers(folder);
  } else {
    draft.model = options.draft_model;
    draft.adapter.clear();
  }
  // Both networks compute in the same type.
  const Dtype dtype = chosen_dtype(options);
  const bool blocks = gguf_file(draft.model) && draft.adapter.empty();
  draft.dtype = name(dtype == Dtype::gguf && !blocks ? computing(dtype) : dtype);
  return draft;
}

std::shared_ptr<Checkpoint> load_draft(const ModelOptions& options, const Checkpoint& target,
                                       Checkpoints& loaded) {
  const ModelOptions draft = draft_options(options);
  const std::filesystem::path folder = draft.model;
  if (is_checkpoint(folder))
    check_same_vocabulary(folder, read_model_config(folder), target.folder, target.model.config());
  return loaded.get(draft, false);
}

}  // namespace pardec
