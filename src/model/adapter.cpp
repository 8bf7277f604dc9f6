#include "src/model/adapter.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "src/model/files/adapter_config.hpp"
#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/json_file.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/model/network.hpp"
#include "src/model/plain/layers.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kPrefix = "base_model.model.", kWeight = ".weight";

/// "model.layers.0.self_attn.q_proj"
std::string module_of(const Parameter& parameter) {
  return parameter.name.substr(0, parameter.name.rfind('.'));
}

std::string target_name(const Parameter& matrix) { return last_part(module_of(matrix)); }

/// "embed_tokens", "lm_head"
std::string short_name(const ModelConfig& config, Role role) {
  return last_part(std::string(module_name(*config.family, role)));
}

/// Not experts and their router: peft's targets name no part of them.
bool adaptable(const Parameter& parameter) {
  return parameter.matrix() && parameter.layer >= 0 && parameter.expert < 0 &&
         parameter.role != Role::router && parameter.role != Role::shared_router;
}

}  // namespace

std::string low_rank_name(const Parameter& matrix, char factor) {
  return str(kPrefix, module_of(matrix), ".lora_", factor, kWeight);
}

std::string token_rows_name(const Family& family, Role role) {
  return str(kPrefix, module_of({.name = parameter_name(family, role)}),
             // peft's name; the rows are values, not deltas
             ".token_adapter.trainable_tokens_delta");
}

std::vector<std::string> adapter_targets(const ModelConfig& config) {
  std::vector<std::string> all;
  for (const Parameter& parameter : parameters(config))
    if (adaptable(parameter) && parameter.layer == 0) all.push_back(target_name(parameter));
  // GPT-2 has a `c_proj` in both sublayers.
  std::vector<std::string> once;
  for (const std::string& one : all)
    if (std::find(once.begin(), once.end(), one) == once.end()) once.push_back(one);
  return once;
}

std::vector<Parameter> adapted_matrices(const ModelConfig& config, const AdapterShape& shape) {
  std::vector<Parameter> all;
  for (const Parameter& parameter : parameters(config))
    if (adaptable(parameter) && std::find(shape.targets.begin(), shape.targets.end(),
                                          target_name(parameter)) != shape.targets.end())
      all.push_back(parameter);
  return all;
}

std::vector<Parameter> adapter_parameters(const ModelConfig& config, const AdapterShape& shape) {
  std::vector<Parameter> all;
  const std::int64_t rank = shape.rank, rows = std::ssize(shape.tokens);
  const auto add_rows = [&](Role role) {
    all.push_back({token_rows_name(*config.family, role), {rows, config.hidden_size}, role});
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
    tokens = {{short_name(config, Role::embedding), shape.tokens},
              {short_name(config, Role::head), shape.tokens}};
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

/// The changes to one weight. An undefined tensor means no change of its kind.
struct Change {
  at::Tensor whole;      ///< replaces the weight
  at::Tensor a, b;       ///< scale * B A is added; to the embedding, stored as [in, out], A' B'
  at::Tensor lengths;    ///< [out]: new lengths of the rows, applied after the sum (DoRA)
  at::Tensor added;      ///< added to a bias
  at::Tensor ids, rows;  ///< rows that replace those of these ids
  double scale = 1;
  AdapterConfig::Taken taken = AdapterConfig::Taken::nothing;
};

struct Adapter::Parts {
  std::map<std::string, at::Tensor> tensors;  ///< float32, by their names in the file
  std::map<std::string, Change> changes;      ///< by the weight's name
  std::vector<Parameter> matrices;            ///< matrices that have low-rank factors
  std::vector<std::string> beyond_plain;
  int rank = 0;
  double scale = 1;
  Tokens tokens;  ///< tokens with their own rows in the embedding
};

namespace {

at::Tensor read_wide(const StoredTensor& stored) {
  return read_tensor(stored).to(wide(scalar_type(stored.type)));
}

/// The ids of tokens with their own rows, as the config lists them: either one list for the
/// embedding, or one list per module.
std::map<Role, std::vector<std::int64_t>> token_ids(const AdapterConfig& adapter,
                                                    const ModelConfig& config) {
  const Json& listed = adapter.token_indices();
  std::map<Role, std::vector<std::int64_t>> all;
  const auto add = [&](Role role, const Json& ids) {
    const bool good = ids.is_array() && std::all_of(ids.begin(), ids.end(), [&](const Json& id) {
                        return id.is_number_integer() && id >= 0 && id < config.vocab_size;
                      });
    if (!good)
      throw ModelError(adapter.where(), str("'trainable_token_indices' is ", one_line(listed),
                                            ", expected ids of the vocabulary"));
    all.emplace(role, ids.get<std::vector<std::int64_t>>());
  };
  if (listed.is_null()) return all;
  if (!listed.is_object()) {
    add(Role::embedding, listed);
    return all;
  }
  const std::string embedding = short_name(config, Role::embedding);
  const std::string head = short_name(config, Role::head);
  for (const auto& [module, ids] : listed.items()) {
    if (module != embedding && module != head)
      throw ModelError(adapter.where(), str("'trainable_token_indices' names ", one_line(module),
                                            ", expected ", embedding, " or ", head));
    add(module == head ? Role::head : Role::embedding, ids);
  }
  // With a tied head, peft stores no separate rows for the head.
  if (config.tied_head && all.contains(Role::head)) {
    if (all.contains(Role::embedding) && all[Role::embedding] != all[Role::head])
      throw ModelError(adapter.where(),
                       "'trainable_token_indices' names other ids for lm_head than for "
                       "embed_tokens, which are one matrix: expected the same");
    all.erase(Role::head);
  }
  return all;
}

/// A tensor's name without the adapter's name ("lora_A.default.weight"), which occurs in files that
/// peft itself did not save. In memory, row lengths have a module of their own, hence `.weight` is
/// cut off.
std::string plain_name(std::string name) {
  for (const char* part :
       {".lora_A", ".lora_B", ".lora_embedding_A", ".lora_embedding_B", ".lora_magnitude_vector"})
    name = replace_all(std::move(name), str(part, ".default"), part);
  constexpr std::string_view kLengths = ".lora_magnitude_vector.weight";
  if (name.ends_with(kLengths)) name.resize(name.size() - kWeight.size());
  return name;
}

/// Reads an adapter's file and assigns its tensors to the weights of a network.
class AdapterReader {
 public:
  AdapterReader(const std::filesystem::path& folder, const ModelConfig& config)
      : adapter_(folder),
        config_(config),
        file_((folder / kAdapterFile).string()),
        mapped_(file_),
        stored_(parse_safetensors(mapped_.bytes(), file_)) {
    const std::map<std::string, StoredTensor> as_named = std::exchange(stored_, {});
    for (const auto& [name, tensor] : as_named) stored_.emplace(plain_name(name), tensor);
    if (stored_.size() < as_named.size())
      throw ModelError(file_, "has a tensor twice, with the adapter's name in its own and without");
  }

  std::shared_ptr<Adapter::Parts> read() {
    parts_->rank = adapter_.rank("");
    parts_->scale = adapter_.scale("");
    parts_->beyond_plain = adapter_.beyond_plain();
    for (const auto& [role, ids] : token_ids(adapter_, config_)) read_rows(role, ids);
    for (const Parameter& parameter : parameters(config_)) {
      read_whole(parameter);
      if (parameter.matrix()) read_low_rank(parameter);
      if (parameter.bias) read_added(parameter);
    }
    if (config_.tied_head) read_tied_head();
    if (!missing_.empty()) refuse_missing();
    if (!stored_.empty()) refuse_left();
    if (wholes_ > 0) parts_->beyond_plain.push_back(counted(wholes_, "whole weight"));
    return parts_;
  }

 private:
  Change& change(const Parameter& parameter) { return parts_->changes[parameter.name]; }

  /// `key`: the config key that requires the tensor, for the error message; null: no single key
  /// does.
  at::Tensor take(const std::string& name, const std::vector<std::int64_t>& shape,
                  const char* key = nullptr) {
    const auto found = stored_.extract(name);
    if (found.empty())
      throw ModelError(file_, str("has no tensor '", name, "' of shape ", shape_text(shape),
                                  key ? str(", though the config has ", key) : ""));
    if (found.mapped().shape != shape)
      throw ModelError(file_,
                       str("tensor '", name, "' has shape ", shape_text(found.mapped().shape),
                           ", expected ", shape_text(shape)));
    check_type(found.mapped(), name, file_);
    return parts_->tensors[name] = read_wide(found.mapped());
  }

  void read_rows(Role role, const std::vector<std::int64_t>& ids) {
    Change& rows = change({.name = parameter_name(*config_.family, role)});
    rows.ids = at::tensor(ids, at::kLong);
    rows.rows = take(token_rows_name(*config_.family, role), {std::ssize(ids), config_.hidden_size},
                     "trainable_token_indices");
    if (role == Role::embedding) parts_->tokens.assign(ids.begin(), ids.end());
  }

  /// The names under which the file stores the weight as a whole: its plain name, or the name
  /// inside peft's wrapper.
  std::vector<std::string> whole_names(const Parameter& parameter) const {
    const char* const kind = parameter.bias ? ".bias" : ".weight";
    const std::string module = str(kPrefix, module_of(parameter));
    std::vector<std::string> names;
    for (const char* inside : {"", ".base_layer"})
      if (const std::string name = str(module, inside, kind); stored_.contains(name))
        names.push_back(name);
    return names;
  }

  void read_whole(const Parameter& parameter) {
    const auto names = whole_names(parameter);
    if (names.empty() && adapter_.saves(module_of(parameter)))
      throw ModelError(file_, str("has no tensor '", kPrefix, parameter.name, "' of shape ",
                                  shape_text(parameter.stored_shape()),
                                  ", though modules_to_save names its module"));
    for (const std::string& name : names)
      change(parameter).whole = turned(take(name, parameter.stored_shape()), parameter);
    wholes_ += std::ssize(names);
  }

  /// A whole head of a network with a tied head. It must equal a stored embedding, or else replaces
  /// the embedding.
  void read_tied_head() {
    const Parameter head{parameter_name(*config_.family, Role::head),
                         {config_.vocab_size, config_.hidden_size}};
    for (const std::string& name : whole_names(head)) {
      Change& embedding = change({.name = parameter_name(*config_.family, Role::embedding)});
      const at::Tensor whole = take(name, head.shape);
      if (embedding.whole.defined() && !at::equal(embedding.whole, whole))
        throw ModelError(file_, str("'", name,
                                    "' is not the embedding beside it, expected the same, as the "
                                    "network's head is its embedding"));
      embedding.whole = whole;
      ++wholes_;
    }
  }

  void read_low_rank(const Parameter& matrix) {
    const bool embedding = matrix.role == Role::embedding;
    const std::string module = module_of(matrix);
    const std::string a =
        embedding ? str(kPrefix, module, ".lora_embedding_A") : low_rank_name(matrix, 'A');
    const std::string b =
        embedding ? str(kPrefix, module, ".lora_embedding_B") : low_rank_name(matrix, 'B');
    const bool stored = stored_.contains(a) || stored_.contains(b);
    if (!adapter_.targets(module, stored)) return;
    if (!stored) {
      missing_.push_back(matrix);
      return;
    }
    if (embedding && (adapter_.dora() || adapter_.taken() != AdapterConfig::Taken::nothing))
      throw ModelError(adapter_.where(),
                       str("'target_modules' names embed_tokens beside ",
                           adapter_.dora() ? "use_dora" : "init_lora_weights",
                           ", which is not supported; expected matrices of layers"));
    Change& low_rank = change(matrix);
    const std::int64_t rank = adapter_.rank(module);
    const std::int64_t out = embedding ? config_.hidden_size : matrix.shape[0];
    low_rank.a = take(a, {rank, embedding ? config_.vocab_size : matrix.shape[1]});
    low_rank.b = take(b, {out, rank});
    low_rank.scale = adapter_.scale(module);
    low_rank.taken = adapter_.taken();
    if (adapter_.dora())
      low_rank.lengths = take(str(kPrefix, module, ".lora_magnitude_vector"), {out}, "use_dora");
    parts_->matrices.push_back(matrix);
    if (!adaptable(matrix)) parts_->beyond_plain.push_back(module);
  }

  void read_added(const Parameter& bias) {
    const std::string name = str(kPrefix, module_of(bias), ".lora_B.bias");
    if (!adapter_.low_rank_bias() || !stored_.contains(name)) return;
    change(bias).added = take(name, bias.shape) * adapter_.scale(module_of(bias));
  }

  [[noreturn]] void refuse_missing() const {
    const int last = parts_->matrices.empty() ? -1 : parts_->matrices.back().layer;
    const bool further = std::all_of(missing_.begin(), missing_.end(),
                                     [&](const Parameter& one) { return one.layer > last; });
    if (further && last >= 0)
      throw ModelError(
          file_, str("is of a network of ", last + 1, " layers, this one has ", config_.layers,
                     "; an adapter of its first layers is a draft: "
                     "`draft_model=DIR`, or draft=DIR of an arm"));
    throw ModelError(
        file_,
        str("has no tensor '", low_rank_name(missing_.front(), 'A'),
            "', though the config names its module",
            missing_.size() > 1 ? str(", nor those of ", counted(std::ssize(missing_) - 1, "other"))
                                : ""));
  }

  [[noreturn]] void refuse_left() const {
    const std::string& name = stored_.begin()->first;
    if (name.ends_with(".lora_B.bias"))
      throw ModelError(adapter_.where(),
                       str("'lora_bias' is ", adapter_.low_rank_bias() ? "true" : "false",
                           ", and the file has '", repair_utf8(name),
                           "': expected true, and a network that has a bias there"));
    throw ModelError(file_, str("has tensor '", repair_utf8(name),
                                "', which fits nothing in a network of this config, or is of no "
                                "module that adapter_config.json names"));
  }

  const AdapterConfig adapter_;
  const ModelConfig& config_;
  const std::string file_;
  const MappedFile mapped_;
  std::map<std::string, StoredTensor> stored_;
  std::vector<Parameter> missing_;
  std::int64_t wholes_ = 0;
  const std::shared_ptr<Adapter::Parts> parts_ = std::make_shared<Adapter::Parts>();
};

/// The part that an adapter of this rank and scale subtracted from `weight` at its initialisation.
at::Tensor taken_from(const at::Tensor& weight, AdapterConfig::Taken taken, std::int64_t rank,
                      double scale) {
  if (taken == AdapterConfig::Taken::principal) {
    const auto [u, s, v] = at::linalg_svd(weight, /*full_matrices=*/false);
    return at::mm(u.narrow(1, 0, rank) * s.narrow(0, 0, rank), v.narrow(0, 0, rank));
  }
  const auto [q, r] = at::linalg_qr(weight);
  return scale * at::mm(q.narrow(1, 0, rank), r.narrow(0, 0, rank));
}

}  // namespace

bool holds_low_rank(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / kAdapterConfig, ignored)) {
    if (!std::filesystem::exists(folder / kAdapterFile, ignored))
      throw ModelError(
          folder.string(),
          str("has no ", kAdapterFile,
              std::filesystem::exists(folder / "adapter_model.bin", ignored)
                  ? ", but adapter_model.bin, which is not safetensors; peft converts it: "
                    "PeftModel.from_pretrained(NETWORK, ADAPTER).save_pretrained(OUT)"
                  : ", expected it beside adapter_config.json"));
    return true;
  }
  if (!std::filesystem::exists(folder / kExtraHeadsFile, ignored))
    throw ModelError(folder.string(), str("holds no adapter, expected ", kAdapterConfig,
                                          " (low-rank, as in peft) or ", kExtraHeadsFile));
  return false;
}

int adapted_layers(const std::filesystem::path& folder) {
  const std::string file = (folder / kAdapterFile).string();
  const MappedFile mapped(file);
  int layers = 0;
  for (const auto& [name, tensor] : parse_safetensors(mapped.bytes(), file)) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string_view module = std::string_view(name).substr(kPrefix.size());
    int layer = -1;
    if (const size_t number = layer_number_at(module); number > 0)
      std::from_chars(module.data() + number, module.data() + module.size(), layer);
    layers = std::max(layers, layer + 1);
  }
  if (layers == 0)
    throw ModelError(file,
                     str("changes no layer, expected tensors '", kPrefix, "model.layers.0...'"));
  return layers;
}

Adapter Adapter::load(const std::filesystem::path& folder, const ModelConfig& config) {
  return Adapter(AdapterReader(folder, config).read());
}

AdapterShape Adapter::shape() const {
  AdapterShape shape{.rank = parts_->rank,
                     .alpha = parts_->scale * static_cast<double>(parts_->rank),
                     .tokens = parts_->tokens};
  for (const Parameter& matrix : parts_->matrices)
    if (const std::string target = target_name(matrix);
        std::find(shape.targets.begin(), shape.targets.end(), target) == shape.targets.end())
      shape.targets.push_back(target);
  return shape;
}

std::vector<std::string> Adapter::beyond_plain(const ModelConfig& config) const {
  std::vector<std::string> all = parts_->beyond_plain;
  if (adapted_matrices(config, shape()).size() != parts_->matrices.size())
    all.emplace_back("matrices of only some layers");
  return all;
}

const std::map<std::string, at::Tensor>& Adapter::tensors() const { return parts_->tensors; }

at::Tensor Adapter::merged(const Parameter& parameter, const at::Tensor& weight) const {
  const c10::NoGradGuard no_grad;
  const auto found = parts_->changes.find(parameter.name);
  if (found == parts_->changes.end()) return weight;
  const Change& change = found->second;
  const at::ScalarType type = wide(weight.scalar_type());
  at::Tensor sum = (change.whole.defined() ? change.whole : weight).to(type);
  if (change.a.defined()) {
    const at::Tensor a = change.a.to(type), b = change.b.to(type);
    if (change.taken != AdapterConfig::Taken::nothing)
      sum = sum - taken_from(sum, change.taken, a.size(0), change.scale);
    sum = parameter.role == Role::embedding ? at::addmm(sum, a.t(), b.t(), 1, change.scale)
                                            : at::addmm(sum, b, a, 1, change.scale);
  }
  if (change.lengths.defined())
    sum = sum * (change.lengths.to(type) / at::linalg_vector_norm(sum, 2, {1})).unsqueeze(1);
  if (change.added.defined()) sum = sum + change.added.to(type);
  if (change.ids.defined()) sum = sum.index_copy(0, change.ids, change.rows.to(type));
  return sum;
}

void merge_adapter(const std::filesystem::path& base, const std::filesystem::path& adapter,
                   const std::filesystem::path& file) {
  const ModelConfig config = read_model_config(base, adapter);
  std::optional<Adapter> low_rank;
  if (holds_low_rank(adapter)) low_rank = Adapter::load(adapter, config);
  const CheckpointFiles checkpoint(base);
  std::vector<TensorToWrite> tensors;
  for (const Parameter& parameter : parameters(config)) {
    const StoredTensor stored = checkpoint.find(parameter, config).tensor;
    tensors.push_back({parameter.name, stored.type, stored.shape,
                       [stored, parameter, &low_rank](std::span<std::byte> bytes) {
                         at::Tensor whole = read_tensor(stored);
                         if (low_rank) {
                           const at::Tensor merged =
                               low_rank->merged(parameter, turned(read_wide(stored), parameter));
                           whole = turned(merged, parameter).to(whole.scalar_type()).contiguous();
                         }
                         std::memcpy(bytes.data(), whole.const_data_ptr(), bytes.size());
                       }});
  }
  write_safetensors(file, with_stacks(std::move(tensors), parameters(config)));
}

}  // namespace pardec
