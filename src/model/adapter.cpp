#include "src/model/adapter.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "src/model/checkpoint_files.hpp"
#include "src/model/json_file.hpp"
#include "src/model/layers.hpp"
#include "src/model/safetensors.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kPrefix = "base_model.model.", kWeight = ".weight";

/// "model.layers.0.self_attn.q_proj"
std::string module_of(const Parameter& matrix) {
  return matrix.name.substr(0, matrix.name.size() - kWeight.size());
}

std::string last_part(const Parameter& matrix) {
  const std::string module = module_of(matrix);
  return module.substr(module.rfind('.') + 1);
}

bool adaptable(const Parameter& parameter) { return parameter.matrix() && parameter.layer >= 0; }

}  // namespace

std::string low_rank_name(const Parameter& matrix, char factor) {
  return str(kPrefix, module_of(matrix), ".lora_", factor, kWeight);
}

std::string token_rows_name(Role role) {
  return str(kPrefix, module_of({.name = parameter_name(role)}),
             ".token_adapter.trainable_tokens_delta");  // peft calls the rows so; they are no delta
}

std::vector<std::string> adapter_targets(const ModelConfig& config) {
  std::vector<std::string> all;
  for (const Parameter& parameter : parameters(config))
    if (adaptable(parameter) && parameter.layer == 0) all.push_back(last_part(parameter));
  return all;
}

std::vector<Parameter> adapted_matrices(const ModelConfig& config, const AdapterShape& shape) {
  std::vector<Parameter> all;
  for (const Parameter& parameter : parameters(config))
    if (adaptable(parameter) && std::find(shape.targets.begin(), shape.targets.end(),
                                          last_part(parameter)) != shape.targets.end())
      all.push_back(parameter);
  return all;
}

std::vector<Parameter> adapter_parameters(const ModelConfig& config, const AdapterShape& shape) {
  std::vector<Parameter> all;
  const std::int64_t rank = shape.rank, rows = std::ssize(shape.tokens);
  const auto add_rows = [&](Role role) {
    all.push_back({token_rows_name(role), {rows, config.hidden_size}, role});
  };
  if (rows > 0) add_rows(Role::embedding);
  for (const Parameter& matrix : adapted_matrices(config, shape)) {
    all.push_back({low_rank_name(matrix, 'A'), {rank, matrix.shape[1]}, matrix.role, matrix.layer});
    all.push_back({low_rank_name(matrix, 'B'), {matrix.shape[0], rank}, matrix.role, matrix.layer});
  }
  if (rows > 0 && !config.tied_head) add_rows(Role::head);
  return all;
}

void write_adapter_config(const AdapterShape& shape, const ModelConfig& config,
                          const std::string& base, const std::filesystem::path& folder) {
  OrderedJson tokens;
  if (!shape.tokens.empty() && config.tied_head) tokens = shape.tokens;
  if (!shape.tokens.empty() && !config.tied_head)
    tokens = {{"embed_tokens", shape.tokens}, {"lm_head", shape.tokens}};
  const OrderedJson json = {{"peft_type", "LORA"},
                            {"task_type", "CAUSAL_LM"},
                            {"base_model_name_or_path", base},
                            {"inference_mode", true},
                            {"r", shape.rank},
                            {"lora_alpha", shape.alpha},
                            {"lora_dropout", shape.dropout},
                            {"target_modules", shape.targets},
                            {"trainable_token_indices", tokens},
                            {"bias", "none"},
                            {"fan_in_fan_out", false},
                            {"use_rslora", false},
                            {"use_dora", false},
                            {"modules_to_save", nullptr}};
  write_file(folder / kAdapterConfig, json.dump(2) + "\n");
}

// ---- reading ----

struct Adapter::Parts {
  std::map<std::string, at::Tensor> tensors;  // float32
  std::int64_t rank = 0;
  double scale = 1;
  std::map<Role, at::Tensor> tokens;  // int64, of the rows of each
  std::vector<Parameter> matrices;    // those that it changes
};

namespace {

at::Tensor read_tensor(const StoredTensor& stored) {
  const at::ScalarType type = scalar_type(stored.type);
  const at::Tensor tensor = at::empty(stored.shape, at::TensorOptions().dtype(type));
  std::memcpy(tensor.data_ptr(), stored.data.data(), stored.data.size());
  return tensor.to(wide(type));
}

/// What would change the sums, and is not done here.
void refuse_variants(const Json& json, const std::string& where) {
  const auto is = [&](const char* key, const Json& plain) {
    const Json value = json.value(key, Json());
    const bool empty = (value.is_object() || value.is_array()) && value.empty();
    if (!value.is_null() && !empty && value != plain)
      throw ModelError(where, str("'", key, "' is ", dump(value), ", expected ", dump(plain),
                                  ": this kind of adapter is not supported"));
  };
  if (json.value("peft_type", Json()) != "LORA")
    throw ModelError(where, str("'peft_type' is ", dump(json.value("peft_type", Json())),
                                ", expected \"LORA\""));
  for (const char* key : {"use_dora", "fan_in_fan_out", "use_qalora", "lora_bias"}) is(key, false);
  for (const char* key : {"rank_pattern", "alpha_pattern", "modules_to_save", "layer_replication",
                          "target_parameters"})
    is(key, nullptr);
  is("bias", "none");
}

double scale_of(const Json& json, const std::string& where) {
  const Json rank = json.value("r", Json()), alpha = json.value("lora_alpha", Json());
  if (!rank.is_number_integer() || rank.get<std::int64_t>() < 1 || !alpha.is_number())
    throw ModelError(where, str("'r' is ", dump(rank), " and 'lora_alpha' ", dump(alpha),
                                ", expected a whole number from 1 on and a number"));
  const auto r = rank.get<double>();
  const Json root = json.value("use_rslora", Json());
  return alpha.get<double>() / (root == true ? std::sqrt(r) : r);
}

/// The ids of rows that tokens have of their own, as the config lists them: for the embedding, or
/// by module.
std::map<Role, at::Tensor> token_ids(const Json& json, const ModelConfig& config,
                                     const std::string& where) {
  const Json listed = json.value("trainable_token_indices", Json());
  std::map<Role, at::Tensor> all;
  const auto add = [&](Role role, const Json& ids) {
    const bool good = ids.is_array() && std::all_of(ids.begin(), ids.end(), [&](const Json& id) {
                        return id.is_number_integer() && id >= 0 && id < config.vocab_size;
                      });
    if (!good)
      throw ModelError(where, str("'trainable_token_indices' is ", dump(listed),
                                  ", expected ids of the vocabulary"));
    all.emplace(role, at::tensor(ids.get<std::vector<std::int64_t>>(), at::kLong));
  };
  if (listed.is_null()) return all;
  if (!listed.is_object()) {
    add(Role::embedding, listed);
    return all;
  }
  for (const auto& [module, ids] : listed.items()) {
    if (module != "embed_tokens" && module != "lm_head")
      throw ModelError(where, str("'trainable_token_indices' names ", dump(Json(module)),
                                  ", expected embed_tokens or lm_head"));
    add(module == "lm_head" ? Role::head : Role::embedding, ids);
  }
  return all;
}

}  // namespace

bool holds_low_rank(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / kAdapterConfig, ignored)) return true;
  if (!std::filesystem::exists(folder / kExtraHeadsFile, ignored))
    throw ModelError(folder.string(), str("holds no adapter, expected ", kAdapterConfig,
                                          " (low-rank, as peft has it) or ", kExtraHeadsFile));
  return false;
}

int adapted_layers(const std::filesystem::path& folder) {
  const std::string file = (folder / kAdapterFile).string(), prefix = str(kPrefix, "model.layers.");
  const MappedFile mapped(file);
  int layers = 0;
  for (const auto& [name, tensor] : parse_safetensors(mapped.bytes(), file)) {
    if (!name.starts_with(prefix)) continue;
    int layer = -1;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), layer);
    layers = std::max(layers, layer + 1);
  }
  if (layers == 0)
    throw ModelError(file, str("changes no layer, expected tensors '", prefix, "0...'"));
  return layers;
}

Adapter Adapter::load(const std::filesystem::path& folder, const ModelConfig& config) {
  const std::string where = (folder / kAdapterConfig).string();
  const Json json = read_model_json(folder / kAdapterConfig);
  if (!json.is_object())
    throw ModelError(where, str("is ", json.type_name(), ", expected an object"));
  refuse_variants(json, where);
  auto parts = std::make_shared<Parts>();
  parts->scale = scale_of(json, where);
  parts->tokens = token_ids(json, config, where);

  const std::string file = (folder / kAdapterFile).string();
  const MappedFile mapped(file);
  auto stored = parse_safetensors(mapped.bytes(), file);
  const auto take = [&](const std::string& name, std::vector<std::int64_t> shape) {
    const auto found = stored.extract(name);
    if (found.empty())
      throw ModelError(file, str("has no tensor '", name, "' of shape ", shape_text(shape)));
    if (found.mapped().shape != shape)
      throw ModelError(file, str("tensor '", name, "' has shape ", shape_text(found.mapped().shape),
                                 ", expected ", shape_text(shape)));
    check_numbers(found.mapped(), name, file);
    parts->tensors.emplace(name, read_tensor(found.mapped()));
  };
  for (const auto& [role, ids] : parts->tokens)
    take(token_rows_name(role), {ids.numel(), config.hidden_size});
  const std::int64_t rank = parts->rank = json.at("r").get<std::int64_t>();
  for (const Parameter& matrix : parameters(config)) {
    if (!adaptable(matrix)) continue;
    const std::string a = low_rank_name(matrix, 'A'), b = low_rank_name(matrix, 'B');
    if (!stored.contains(a) && !stored.contains(b)) continue;
    take(a, {rank, matrix.shape[1]});
    take(b, {matrix.shape[0], rank});
    parts->matrices.push_back(matrix);
  }
  if (!stored.empty())
    throw ModelError(file, str("has tensor '", repair_utf8(stored.begin()->first),
                               "', which fits nothing in a network of this config"));
  // peft says by other keys, or whole names, where an adapter means some layers alone.
  const Json targets = json.value("target_modules", Json());
  const bool means_all =
      json.value("layers_to_transform", Json()).is_null() && targets.is_array() &&
      std::all_of(targets.begin(), targets.end(), [](const Json& target) {
        return target.is_string() &&
               target.get_ref<const std::string&>().find('.') == std::string::npos;
      });
  if (const int last = parts->matrices.empty() ? -1 : parts->matrices.back().layer;
      means_all && last >= 0 && last + 1 < config.layers)
    throw ModelError(file,
                     str("is of a network of ", last + 1, " layers, this one has ", config.layers,
                         "; an adapter of its first layers is a draft: --draft-model DIR, or "
                         "draft=DIR of an arm"));
  return Adapter(std::move(parts));
}

AdapterShape Adapter::shape() const {
  AdapterShape shape{.rank = static_cast<int>(parts_->rank),
                     .alpha = parts_->scale * static_cast<double>(parts_->rank)};
  for (const Parameter& matrix : parts_->matrices)
    if (const std::string target = last_part(matrix);
        std::find(shape.targets.begin(), shape.targets.end(), target) == shape.targets.end())
      shape.targets.push_back(target);
  if (const auto ids = parts_->tokens.find(Role::embedding); ids != parts_->tokens.end())
    for (const std::int64_t id :
         std::span(ids->second.data_ptr<std::int64_t>(), static_cast<size_t>(ids->second.numel())))
      shape.tokens.push_back(static_cast<Token>(id));
  return shape;
}

const std::map<std::string, at::Tensor>& Adapter::tensors() const { return parts_->tensors; }

at::Tensor Adapter::merged(const Parameter& parameter, const at::Tensor& weight) const {
  const c10::NoGradGuard no_grad;
  const at::ScalarType type = wide(weight.scalar_type());
  if (const auto ids = parts_->tokens.find(parameter.role); ids != parts_->tokens.end())
    return weight.to(type).index_copy(0, ids->second,
                                      parts_->tensors.at(token_rows_name(parameter.role)).to(type));
  if (!adaptable(parameter)) return weight;
  const auto a = parts_->tensors.find(low_rank_name(parameter, 'A'));
  if (a == parts_->tensors.end()) return weight;
  const at::Tensor& b = parts_->tensors.at(low_rank_name(parameter, 'B'));
  return at::addmm(weight.to(type), b.to(type), a->second.to(type), 1, parts_->scale);
}

void merge_adapter(const std::filesystem::path& base, const std::filesystem::path& adapter,
                   const std::filesystem::path& file) {
  const ModelConfig config = read_model_config(base);
  std::optional<Adapter> low_rank;
  if (holds_low_rank(adapter)) low_rank = Adapter::load(adapter, config);
  const CheckpointFiles checkpoint(base);
  std::vector<TensorToWrite> tensors;
  for (const Parameter& parameter : parameters(config)) {
    const StoredTensor stored = checkpoint.find(parameter, config).tensor;
    tensors.push_back({parameter.name, stored.type, stored.shape,
                       [stored, parameter, &low_rank](std::span<std::byte> bytes) {
                         if (!low_rank) {
                           std::memcpy(bytes.data(), stored.data.data(), bytes.size());
                           return;
                         }
                         const at::Tensor whole = low_rank->merged(parameter, read_tensor(stored))
                                                      .to(scalar_type(stored.type))
                                                      .contiguous();
                         std::memcpy(bytes.data(), whole.const_data_ptr(), bytes.size());
                       }});
  }
  write_safetensors(file, tensors);
}

}  // namespace pardec
