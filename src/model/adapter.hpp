#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/model/files/parameters.hpp"
#include "src/support/types.hpp"

namespace at {
class Tensor;
}

namespace pardec {

/// A low-rank adapter (LoRA, Hu et al. 2021, arXiv:2106.09685) over a frozen network. Matrices W
/// [out, in] of the layers become W + alpha / rank * B A, with A [rank, in] and B [out, rank]. In
/// addition, the adapter may replace the rows of some tokens in the embedding and in the head. This
/// project trains adapters of this shape only. Adapters from other sources may have other features
/// (Adapter::beyond_plain). Class Adapter reads and merges these adapters too.
struct AdapterShape {
  int rank = 0;  ///< 0: no adapter
  double alpha = 16;
  double dropout = 0;  ///< dropout probability of A's inputs in training
  /// adapted matrices; each entry is the last part of a module name, e.g. "q_proj"
  std::vector<std::string> targets;
  Tokens tokens;  ///< tokens with replaced rows, ascending; empty: none

  /// Whether there is an adapter.
  bool there() const { return rank > 0; }
};

// File and tensor names as in Hugging Face's peft.
inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr const char* kAdapterFile = "adapter_model.safetensors";
/// Tensor name of one low-rank factor. `matrix`: the adapted matrix, an element of
/// parameters(config); `factor`: 'A' or 'B'.
std::string low_rank_name(const Parameter& matrix, char factor);
/// Tensor name of the replaced rows. `role`: Role::embedding or Role::head.
std::string token_rows_name(const Family& family, Role role);

/// The matrices of a network's layers that an adapter of AdapterShape can change, by the last parts
/// of their module names: "q_proj", "k_proj", ... These are the matrices of layer 0, except routers
/// and the matrices of experts. Those of a shared expert are included. Each name occurs once.
std::vector<std::string> adapter_targets(const ModelConfig& config);
/// The matrices in parameters(config) that `shape` adapts.
std::vector<Parameter> adapted_matrices(const ModelConfig& config, const AdapterShape& shape);
/// All tensors of an adapter of this shape (factors, and replaced rows of tokens), in a fixed
/// order. Parameter::name is the tensor's name in the adapter's file.
std::vector<Parameter> adapter_parameters(const ModelConfig& config, const AdapterShape& shape);

/// Writes kAdapterConfig to `folder`, which must exist. `config`: the network's config. `base`: the
/// path or name of the checkpoint to which the adapter belongs. RunError: writing fails.
void write_adapter_config(const AdapterShape& shape, const ModelConfig& config,
                          const std::string& base, const std::filesystem::path& folder);

/// Whether an adapter's folder contains a low-rank adapter. False: the folder contains only extra
/// heads. ModelError: the folder contains neither, or kAdapterConfig without kAdapterFile.
bool holds_low_rank(const std::filesystem::path& folder);

/// The smallest number of layers that a network needs for the low-rank adapter in `folder`: the
/// index of the last adapted layer, plus one. ModelError: a file is missing or wrong, or no layer
/// is adapted.
int adapted_layers(const std::filesystem::path& folder);

/// A low-rank adapter, read from its folder and interpreted as peft does (adapter_config.hpp). It
/// may also have features that AdapterShape cannot express: another rank and scale for each module,
/// factors for embedding and head, scaled rows (DoRA, Liu et al. 2024, arXiv:2402.09353), and whole
/// weights and biases that replace the network's.
class Adapter {
 public:
  /// REQUIRES: `config` was read together with the adapter (read_model_config). ModelError: a file
  /// is missing or wrong; the kind of adapter is not supported; a tensor does not fit the network,
  /// or belongs to no module that the adapter's config names; a module that the adapter's config
  /// names has no tensors; the adapter has more layers than the network.
  static Adapter load(const std::filesystem::path& folder, const ModelConfig& config);

  /// The adapter's shape. `rank` is the general rank of the adapter's config, and alpha / rank is
  /// its general factor of B A (AdapterConfig::scale). `targets` lists every matrix that is adapted
  /// in at least one layer. `tokens` lists the tokens whose embedding rows are replaced. `dropout`
  /// is not read, and is 0.
  AdapterShape shape() const;
  /// The features of the adapter that AdapterShape cannot express, each as a config key
  /// ("use_dora") or as a short text ("2 whole weights"). An adapter with such features can be
  /// merged, but not trained. Empty: there are none. `config`: the config given to `load`.
  std::vector<std::string> beyond_plain(const ModelConfig& config) const;
  /// The adapter's tensors in float32 (float64 if stored as float64), by their names in the file.
  const std::map<std::string, at::Tensor>& tensors() const;
  /// `weight` (the network's `parameter`) with the adapter merged in. The sum is computed and
  /// returned in float32, or in float64 if `weight` is float64. If the adapter does not change
  /// `weight`, the function returns `weight` itself.
  at::Tensor merged(const Parameter& parameter, const at::Tensor& weight) const;

  struct Parts;  // defined and used only in adapter.cpp

 private:
  explicit Adapter(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

/// Writes the weights of the checkpoint in `base`, with the adapter in `adapter` merged in, to the
/// safetensors file `file`. Each weight is written in the type that it has in the checkpoint. Extra
/// heads of the adapter are not written. ModelError: an input is wrong. RunError: writing fails.
/// REQUIRES: the weights of `base` are neither quantised nor in a GGUF file.
void merge_adapter(const std::filesystem::path& base, const std::filesystem::path& adapter,
                   const std::filesystem::path& file);

}  // namespace pardec
