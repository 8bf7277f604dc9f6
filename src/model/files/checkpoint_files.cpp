#include "src/model/files/checkpoint_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>

#include "src/model/files/checkpoint_advice.hpp"
#include "src/model/files/gguf_config.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/model/files/json_file.hpp"
#include "src/model/files/quantised_weights.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/number_text.hpp"
#include "src/support/shard_index.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::string_view kBase = "model.";
/// What names of weights may lack: as in transformers, the name of the network without its head.
constexpr std::array<std::string_view, 3> kBases{kBase, "transformer.", "gpt_neox."};

std::filesystem::path single_file(const std::filesystem::path& folder) {
  return folder / "model.safetensors";
}
std::filesystem::path index_file(const std::filesystem::path& folder) {
  return folder / "model.safetensors.index.json";
}

bool same_numbers(const StoredTensor& a, const StoredTensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.data.size() == b.data.size() &&
         std::memcmp(a.data.data(), b.data.data(), a.data.size()) == 0;
}

/// The pattern shared by names of one kind, or the name itself if it is the only one of its kind.
std::string kind_of(const std::string& name, int layers) {
  if (const size_t number = layer_number_at(name); number > 0) {
    const size_t dot = name.find('.', number);
    int layer = -1;
    std::from_chars(name.data() + number, name.data() + std::min(dot, name.size()), layer);
    if (layer >= 0 && dot != std::string::npos)
      return layer < layers ? name.substr(0, number) + "*" + name.substr(dot)
                            : name.substr(0, dot) + ".*";
  }
  const size_t dot = name.find('.', name.starts_with(kBase) ? kBase.size() : 0);
  const bool alone = dot == std::string::npos || name.find('.', dot + 1) == std::string::npos;
  return alone ? name : name.substr(0, dot) + ".*";
}

/// The weight's part of a stack.
CheckpointFiles::Entry part_of_stack(CheckpointFiles::Entry entry, const Parameter& parameter) {
  const Parameter::Stack& stack = *parameter.stack;
  StoredTensor& tensor = entry.tensor;
  const size_t bytes = tensor.data.size() / static_cast<size_t>(stack.experts);
  tensor.data = tensor.data.subspan(static_cast<size_t>(parameter.expert) * bytes, bytes);
  if (tensor.read_row) {
    tensor.shape = parameter.shape;
    tensor.read_row = [whole = std::move(tensor.read_row), step = stack.step,
                       first = parameter.expert * stack.size + stack.first](std::int64_t row,
                                                                            std::span<float> out) {
      whole(first + row * step, out);
    };
  } else {
    tensor.shape = parameter.stored_shape();
    tensor.data = tensor.data.subspan(static_cast<size_t>(stack.first * size_of(tensor.type)));
    tensor.strides = {stack.step};
    if (tensor.shape.size() > 1) tensor.strides.insert(tensor.strides.begin(), stack.size);
  }
  return entry;
}

}  // namespace

std::map<std::string, std::string> shards_by_tensor(const std::filesystem::path& index) try {
  std::map<std::string, std::string> shards = read_shard_index(index);
  for (const std::string& shard : shard_files(shards))
    if (std::error_code ignored; !std::filesystem::exists(index.parent_path() / shard, ignored))
      throw ModelError(index.string(),
                       str("names shard ", one_line(shard), ", which is not in the folder"));
  return shards;
} catch (const DataError& error) {
  throw as_model_error(error, index.string());
}

bool CheckpointFiles::there(const std::filesystem::path& folder) {
  std::error_code ignored;
  return gguf_file(folder) || std::filesystem::exists(single_file(folder), ignored) ||
         std::filesystem::exists(index_file(folder), ignored);
}

void CheckpointFiles::add_file(const std::filesystem::path& file) {
  const auto mapping = std::make_shared<const MappedFile>(file);
  for (auto& [tensor_name, tensor] : parse_safetensors(mapping->bytes(), file.string()))
    add(tensor_name, std::move(tensor), mapping, file);
}

void CheckpointFiles::add_gguf(const std::filesystem::path& file) {
  where_ = file.string();
  const auto mapping = std::make_shared<const MappedFile>(file);
  const Gguf gguf(mapping->bytes(), where_);
  const ModelConfig config = parse_model_config(gguf_config(gguf), where_);
  for (NamedTensor& one : named_tensors(gguf, config))
    add(std::move(one.name), std::move(one.tensor), mapping, file);
}

void CheckpointFiles::add(std::string name, StoredTensor tensor,
                          const std::shared_ptr<const MappedFile>& mapping,
                          const std::filesystem::path& file) {
  const auto [at, fresh] =
      tensors_.emplace(std::move(name), Entry{std::move(tensor), mapping, file.string()});
  if (!fresh)
    throw ModelError(file.string(), str("has tensor ", one_line(at->first), ", which ",
                                        at->second.file, " has too"));
}

CheckpointFiles::CheckpointFiles(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (const auto gguf = gguf_file(folder)) {
    add_gguf(*gguf);
    return;
  }
  if (std::filesystem::exists(single_file(folder), ignored)) {
    where_ = single_file(folder).string();
    add_file(single_file(folder));
    join_quantised_of(folder);
    return;
  }
  const std::filesystem::path index = index_file(folder);
  where_ = index.string();
  if (!std::filesystem::exists(index, ignored))
    throw ModelError(folder.string(), why_no_weights(folder));
  const std::map<std::string, std::string> shards = shards_by_tensor(index);
  for (const std::string& shard : shard_files(shards)) add_file(folder / shard);
  for (const auto& [tensor_name, shard] : shards) {
    const auto found = tensors_.find(tensor_name);
    const std::string file = (folder / shard).string();
    if (found == tensors_.end() || found->second.file != file)
      throw ModelError(
          file, str("has no tensor ", one_line(tensor_name), ", which ", where_, " says it has"));
  }
  join_quantised_of(folder);
}

void CheckpointFiles::join_quantised_of(const std::filesystem::path& folder) {
  const std::filesystem::path config = folder / "config.json";
  if (std::error_code ignored; !std::filesystem::exists(config, ignored)) return;
  if (const auto quantisation = parse_quantisation(read_model_json(config), config.string()))
    join_quantised(tensors_, *quantisation);
}

std::vector<std::string> CheckpointFiles::names_of(const std::string& weight) const {
  std::vector<std::string> found;
  const auto look = [&](const std::string& name) {
    if (tensors_.contains(name)) found.push_back(name);
  };
  look(weight);
  look(str(kBase, weight));
  for (const std::string_view base : kBases)
    if (weight.starts_with(base)) look(weight.substr(base.size()));
  return found;
}

CheckpointFiles::Entry CheckpointFiles::find(const Parameter& parameter,
                                             const ModelConfig& config) const {
  std::vector<std::string> names = names_of(parameter.name);
  const bool stacked = names.empty() && parameter.stack;
  if (stacked) names = names_of(parameter.stack->name);
  std::vector<std::int64_t> expected = stacked ? parameter.stack_shape() : parameter.stored_shape();
  if (names.empty() && (config.tied_head || config.head_from_embedding) &&
      parameter.role == Role::embedding)
    names = names_of(parameter_name(*config.family, Role::head));
  if (names.empty() && config.head_from_embedding && parameter.role == Role::head)
    names = names_of(parameter_name(*config.family, Role::embedding));
  if (names.empty()) {
    const std::vector<std::string> others = unused(config);
    throw ModelError(
        where_,
        str("has no tensor '", stacked ? parameter.stack->name : parameter.name, "' of shape ",
            shape_text(expected),
            parameter.role == Role::head ? ", which a config without tie_word_embeddings needs"
                                         : ", which the config asks for",
            others.empty()
                ? ""
                : "; what the network does not use: " + summary_of_tensors(others, config.layers)));
  }
  const Entry& entry = tensors_.at(names.front());
  for (const std::string& other : names)
    if (!same_numbers(entry.tensor, tensors_.at(other).tensor))
      throw ModelError(where_,
                       str("has '", names.front(), "' and '", other,
                           "', which are the same weight of a network, with different numbers"));
  check_type(entry.tensor, names.front(), entry.file);
  if (is_turned(entry.tensor) && parameter.transposed)
    std::swap(expected.end()[-2], expected.back());
  if (entry.tensor.shape != expected)
    throw ModelError(entry.file,
                     str("tensor '", names.front(), "' has shape ", shape_text(entry.tensor.shape),
                         ", expected ", shape_text(expected), " from the config"));
  return stacked ? part_of_stack(entry, parameter) : entry;
}

bool CheckpointFiles::has_own_head(const Family& family) const {
  const auto head = names_of(parameter_name(family, Role::head));
  const auto embedding = names_of(parameter_name(family, Role::embedding));
  return !head.empty() && !embedding.empty() &&
         !same_numbers(tensors_.at(head.front()).tensor, tensors_.at(embedding.front()).tensor);
}

std::vector<std::string> CheckpointFiles::unused(const ModelConfig& config) const {
  std::set<std::string> used;
  const auto add = [&](const std::string& weight) {
    for (std::string& name : names_of(weight)) used.insert(std::move(name));
  };
  for (const Parameter& parameter : parameters(config)) {
    add(parameter.name);
    if (parameter.stack) add(parameter.stack->name);
  }
  if (config.tied_head)
    add(parameter_name(*config.family, Role::head));  // the embedding serves as the head
  std::vector<std::string> unused;
  for (const auto& [name, entry] : tensors_)
    if (!used.contains(name)) unused.push_back(name);
  return unused;
}

std::string summary_of_tensors(const std::vector<std::string>& names, int layers) {
  constexpr size_t kMost = 6;
  std::map<std::string, std::vector<std::string>> kinds;
  for (const std::string& name : names) kinds[kind_of(name, layers)].push_back(name);
  std::vector<std::string> parts;
  std::int64_t left = 0;
  for (const auto& [kind, all] : kinds) {
    if (parts.size() == kMost)
      left += std::ssize(all);
    else
      parts.push_back(
          repair_utf8(all.size() == 1 ? all.front() : str(kind, " (", all.size(), ")")));
  }
  return str(join(parts, ", "), left > 0 ? str(" and ", counted(left, "other")) : "");
}

}  // namespace pardec
