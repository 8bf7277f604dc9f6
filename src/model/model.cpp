#include "src/model/model.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstring>

#include "src/group/group.hpp"
#include "src/kernels/bf16.hpp"
#include "src/kernels/team.hpp"
#include "src/model/adapter.hpp"
#include "src/model/device.hpp"
#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/extra_heads.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/model/network.hpp"
#include "src/model/packed/bfloat16_bits.hpp"
#include "src/model/packed/packed_backend.hpp"
#include "src/model/plain/rope_frequencies.hpp"
#include "src/model/ranks/ranks.hpp"
#include "src/model/ranks/split.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

at::ScalarType scalar_type(Dtype dtype) {
  switch (computing(dtype)) {
    case Dtype::fp32:
      return at::kFloat;
    case Dtype::fp64:
      return at::kDouble;
    default:
      return at::kBFloat16;
  }
}

at::ScalarType scalar_type(StoredType type) {
  switch (type) {
    case StoredType::bf16:
      return at::kBFloat16;
    case StoredType::f16:
      return at::kHalf;
    case StoredType::f32:
      return at::kFloat;
    case StoredType::f64:
      return at::kDouble;
    case StoredType::rows:
    case StoredType::other:
      break;
  }
  throw std::logic_error("no type of a weight");
}

at::Device parse_device(const std::string& name) {
  const bool cuda = name == "cuda" || name.starts_with("cuda:");
  const std::string index = name.size() > 5 ? name.substr(5) : "0";
  const bool number = !index.empty() && index.size() <= 3 &&
                      index.find_first_not_of("0123456789") == std::string::npos;
  if (name != "cpu" && !(cuda && number && name != "cuda:"))
    throw ModelError(str("device '", name, "'"), "is unknown; expected cpu, cuda or cuda:i");
  if (!cuda) return at::Device(at::kCPU);
  if (!at::hasCUDA())
    throw ModelError(str("device '", name, "'"),
                     "this libtorch is CPU-only, or sees no GPU; use cpu, or a CUDA libtorch");
  const int number_of_gpu = std::stoi(index);
  if (static_cast<size_t>(number_of_gpu) >= at::getNumGPUs())
    throw ModelError(str("device '", name, "'"),
                     str("is not there: GPUs found: ", at::getNumGPUs()));
  return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(number_of_gpu));
}

namespace {

/// The numbers of a tensor of the type `rows`, as bf16 or fp32.
at::Tensor widened(const StoredTensor& tensor, at::ScalarType type) {
  const bool narrowed = type == at::kBFloat16;
  const at::Tensor all = at::empty(tensor.shape, narrowed ? at::kBFloat16 : at::kFloat);
  const std::int64_t width = row_width(tensor);
  constexpr std::int64_t kNumbersOfAPiece = 1 << 16;
  const std::int64_t grain = std::max<std::int64_t>(1, kNumbersOfAPiece / width);
  team().run(row_count(tensor), grain, [&](int, std::int64_t first, std::int64_t last) {
    const auto numbers = static_cast<size_t>((last - first) * width);
    if (!narrowed) {
      read_rows(tensor, first, last - first, {all.data_ptr<float>() + first * width, numbers});
      return;
    }
    std::vector<float> row(static_cast<size_t>(width));
    for (std::int64_t i = first; i < last; ++i) {
      read_rows(tensor, i, 1, row);
      std::uint16_t* const out = mutable_bits(all) + i * width;
      for (std::int64_t j = 0; j < width; ++j) out[j] = narrow(row[static_cast<size_t>(j)]);
    }
  });
  return all;
}

/// All numbers of a stored tensor in its shape.
at::Tensor shaped(const at::Tensor& numbers, const StoredTensor& tensor) {
  return tensor.strides.empty() ? numbers.view(tensor.shape)
                                : numbers.as_strided(tensor.shape, tensor.strides);
}

/// The tensor in the file's type, or in one that `type` is made from without loss. Uses the mapped
/// memory itself if it is aligned.
at::Tensor to_tensor(const CheckpointFiles::Entry& entry, at::ScalarType type) {
  if (entry.tensor.type == StoredType::rows) {
    at::Tensor all = widened(entry.tensor, type);
    entry.mapping->release(entry.tensor.data);
    return all;
  }
  const StoredTensor& tensor = entry.tensor;
  const std::span<std::byte> bytes = tensor.data;
  const std::int64_t size = size_of(tensor.type);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % static_cast<std::uintptr_t>(size) != 0)
    return read_tensor(tensor);
  return shaped(at::from_blob(
                    bytes.data(), {std::ssize(bytes) / size},
                    [mapping = entry.mapping, bytes](void*) { mapping->release(bytes); },
                    at::TensorOptions().dtype(scalar_type(tensor.type))),
                tensor);
}

/// The blocks of a matrix (stored_blocks.hpp). Uses the mapped memory itself if its rows are in
/// order.
at::Tensor blocks_of(const CheckpointFiles::Entry& entry) {
  const StoredTensor& tensor = entry.tensor;
  const GgmlType& type = *tensor.form.type;
  const std::int64_t rows = row_count(tensor);
  const std::vector<std::int64_t> shape{rows, row_width(tensor) / type.block, type.bytes};
  const auto release = [mapping = entry.mapping, bytes = tensor.data](void*) {
    mapping->release(bytes);
  };
  const auto options = at::TensorOptions().dtype(at::kByte);
  if (tensor.form.heads == 0) return at::from_blob(tensor.data.data(), shape, release, options);
  at::Tensor all = at::empty(shape, options);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::span<std::byte> bytes = row_bytes(tensor, row);
    std::memcpy(all.data_ptr<std::uint8_t>() + row * all.stride(0), bytes.data(), bytes.size());
  }
  release(nullptr);
  return all;
}

/// The tensor of a weight, [out, in] of a matrix.
at::Tensor weight_of(const Parameter& parameter, const CheckpointFiles::Entry& entry,
                     at::ScalarType type) {
  const at::Tensor tensor = to_tensor(entry, type);
  return is_turned(entry.tensor) ? tensor : turned(tensor, parameter).contiguous();
}

/// The tensor in the network's type on its device; unchanged if it will be packed.
at::Tensor placed(const at::Tensor& tensor, const Model::Network& network) {
  return PackedBackend::fits(network) ? tensor : tensor.to(network.device, network.type);
}

/// This process's part of a weight of the whole network.
at::Tensor own_part(const Parameter& parameter, const at::Tensor& whole,
                    const Model::Network& network) {
  const auto& split = network.split;
  return split ? part_of(parameter, whole, split->whole, split->share) : whole;
}

/// The weights of the first `layers` layers, and those outside of layers. `config`: of the whole
/// network. `place(parameter, entry)` makes the tensor.
template <typename Place>
std::map<std::string, at::Tensor> load_tensors(const ModelConfig& config, int layers,
                                               const CheckpointFiles& checkpoint, Place&& place) {
  std::map<std::string, at::Tensor> loaded;
  for (const Parameter& parameter : parameters(config))
    if (const auto& entry = checkpoint.find(parameter, config); parameter.layer < layers)
      loaded.emplace(parameter.name, place(parameter, entry));
  return loaded;
}

/// Divides a network of the whole config network.config among processes.
void divide(Model::Network& network, Ranks& ranks) {
  if (!network.device.is_cpu())
    throw ConfigError(str("`parallel=tensor` computes on the CPU, and the device is ",
                          network.options.device, "; use `device=cpu`"));
  if (network.options.dtype == Dtype::gguf)
    throw ConfigError(
        "`parallel=tensor` does not divide the blocks of `dtype=gguf`; use `dtype=bf16`, int8, nf4 "
        "or fp32");
  Group& group = ranks.group();
  // Blocks of NF4 should not be divided.
  const std::int64_t unit = network.options.dtype == Dtype::nf4 ? kNf4Block : kPanel;
  network.split = std::make_shared<const NetworkSplit>(NetworkSplit{
      ranks, group, network.config, share_of(network.config, group.rank(), group.size(), unit)});
  network.config = part_of(network.config, network.split->share);
}

/// The extra heads in `file`; empty if the network has none.
std::vector<ExtraHead> load_extra_heads(const Model::Network& network,
                                        const std::filesystem::path& file) {
  if (network.config.extra_heads == 0) return {};
  const auto mapping = std::make_shared<const MappedFile>(file);
  const StoredExtraHeads stored = read_extra_heads(
      parse_safetensors(mapping->bytes(), file.string()), network.config, file.string());
  std::map<std::string, at::Tensor> loaded;
  for (const Parameter& parameter : extra_head_parameters(network.config, stored.shape)) {
    const StoredTensor& tensor = stored.tensors.at(parameter.name);
    const at::Tensor whole = to_tensor({tensor, mapping, file.string()}, network.type);
    loaded.emplace(parameter.name, placed(own_part(parameter, whole, network), network));
  }
  return extra_heads_over(loaded, stored.shape);
}

// in the order of Dtype
constexpr std::string_view kDtypes[] = {"fp32", "bf16", "int8", "nf4", "gguf", "fp64"};

}  // namespace

at::Tensor read_tensor(const StoredTensor& stored) {
  const at::Tensor numbers = at::empty({std::ssize(stored.data) / size_of(stored.type)},
                                       at::TensorOptions().dtype(scalar_type(stored.type)));
  std::memcpy(numbers.data_ptr(), stored.data.data(), stored.data.size());
  return shaped(numbers, stored).contiguous();
}

Dtype parse_dtype(std::string_view text) {
  const auto found = std::find(std::begin(kDtypes), std::end(kDtypes), text);
  if (found == std::end(kDtypes))
    throw ConfigError(str("dtype '", text, "' is unknown",
                          known_names(text, {std::begin(kDtypes), std::end(kDtypes)})));
  return static_cast<Dtype>(found - std::begin(kDtypes));
}

std::string_view name(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }

Dtype computing(Dtype dtype) {
  return dtype == Dtype::int8 || dtype == Dtype::nf4 || dtype == Dtype::gguf ? Dtype::bf16 : dtype;
}

namespace {

std::unique_ptr<Model::Network> load_network(const std::filesystem::path& folder,
                                             const Model::Options& options) {
  auto network = std::make_unique<Model::Network>();
  network->path = folder.string();
  network->options = options;
  network->type = scalar_type(options.dtype);
  network->device = parse_device(options.device);
  const ModelConfig whole = read_model_config(folder, options.adapter);
  network->config = with_first_layers(whole, options.layers, folder);
  if (computing(options.dtype) != options.dtype && !network->device.is_cpu())
    throw ModelError(str("dtype ", name(options.dtype)),
                     str("runs only on the CPU, and the device is ", options.device,
                         "; use `dtype=bf16`, or `device=cpu`"));
  if (options.dtype == Dtype::gguf && !gguf_file(folder))
    throw ModelError(folder.string(),
                     "is no GGUF file, whose blocks `dtype=gguf` computes with; use `dtype=bf16`, "
                     "int8 or nf4");
  if (options.weights) {
    const c10::NoGradGuard no_grad;
    std::optional<Adapter> adapter;
    if (!options.adapter.empty() && holds_low_rank(options.adapter))
      adapter = Adapter::load(options.adapter, network->config);
    if (options.ranks) divide(*network, *options.ranks);
    const bool keeps_blocks = options.dtype == Dtype::gguf && PackedBackend::fits(*network);
    if (adapter && keeps_blocks)
      throw ModelError(options.adapter.string(),
                       "is merged into the weights, which `dtype=gguf` leaves as they are stored; "
                       "use `dtype=bf16`");
    network->assign(load_tensors(
        whole, network->config.layers, CheckpointFiles(folder),
        [&](const Parameter& parameter, const CheckpointFiles::Entry& entry) {
          if (keeps_blocks && packed_type(parameter, whole)) return blocks_of(entry);
          const at::Tensor tensor =
              weight_of(parameter, entry, adapter ? at::kFloat : network->type);
          const at::Tensor merged = adapter ? adapter->merged(parameter, tensor) : tensor;
          return placed(own_part(parameter, merged, *network), *network);
        }));
    for (Layer& layer : network->layers) layer.split = network->split.get();
    network->extra_heads = load_extra_heads(*network, extra_heads_file(folder, options.adapter));
    network->inverse_frequencies = inverse_frequencies(network->config, network->device);
    network->backend = choose_backend(*network);
  }
  return network;
}

}  // namespace

Model Model::load(const std::filesystem::path& folder, const Options& options) {
  if (!options.ranks || !options.weights) return Model(load_network(folder, options));
  const std::shared_ptr<const RankCopy> copy = options.ranks->begin_load(folder, options);
  std::unique_ptr<Network> network;
  std::exception_ptr failed;
  std::string error;
  try {
    network = load_network(folder, options);
    network->remote = copy;
  } catch (const std::exception& caught) {
    failed = std::current_exception();
    error = reason_of(caught);
  }
  options.ranks->end_load(error);
  if (failed) std::rethrow_exception(failed);
  return Model(std::move(network));
}

std::map<std::string, at::Tensor> load_weights(const std::filesystem::path& folder,
                                               at::ScalarType type) {
  const ModelConfig config = read_model_config(folder);
  return load_tensors(config, config.layers, CheckpointFiles(folder),
                      [&](const Parameter& parameter, const CheckpointFiles::Entry& entry) {
                        return weight_of(parameter, entry, type).to(type);
                      });
}

bool SkippedSublayers::any() const {
  const auto some = [](const std::vector<bool>& skipped) {
    return std::find(skipped.begin(), skipped.end(), true) != skipped.end();
  };
  return some(attention) || some(mlp);
}

Model::Model(std::unique_ptr<Network> network) : network_(std::move(network)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const ModelConfig& Model::config() const {
  return network_->split ? network_->split->whole : network_->config;
}
const Model::Options& Model::options() const { return network_->options; }

std::int64_t Model::experts_read() const {
  return network_->backend ? network_->backend->experts_read() : 0;
}

void Model::set_profile(Profile* into) {
  if (into && !network_->backend->profiles())
    throw ConfigError(
        "a profile needs a network that computes in bf16 on the CPU; give `dtype=bf16`, int8, nf4 "
        "or gguf");
  network_->profile = into;
}

std::int64_t weight_bytes(const Parameter& parameter, const ModelConfig& config, Dtype dtype) {
  std::optional<WeightType> packed;
  if (dtype == Dtype::gguf)
    packed = packed_type(parameter, config);
  else if (parameter.matrix() && parameter.layer >= 0 && parameter.role != Role::router &&
           parameter.role != Role::shared_router && computing(dtype) != dtype)
    packed = weight_type(dtype);
  if (packed) return weight_bytes(parameter.shape[0], parameter.shape[1], *packed);
  return parameter.elements() * static_cast<std::int64_t>(at::elementSize(scalar_type(dtype)));
}

std::int64_t weight_bytes(const ModelConfig& config, Dtype dtype) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : parameters(config))
    sum += weight_bytes(parameter, config, dtype);
  return sum;
}

std::int64_t Model::weight_bytes() const {
  return pardec::weight_bytes(config(), network_->options.dtype);
}

}  // namespace pardec
