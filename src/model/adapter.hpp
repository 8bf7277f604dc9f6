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
/// addition, some tokens may have their own rows in the embedding and the head. This is the kind
/// that can be trained; adapters that are only read and merged may contain more (see Adapter).
struct AdapterShape {
  int rank = 0;  ///< 0: no adapter
  double alpha = 16;
  double dropout = 0;  ///< in training: share of A's inputs that are dropped
  /// adapted matrices by the last part of their modules' names, e.g. "q_proj"
  std::vector<std::string> targets;
  Tokens tokens;  ///< tokens with their own rows, ascending

  bool there() const { return rank > 0; }
};

// File and tensor names as in Hugging Face's peft.
inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr const char* kAdapterFile = "adapter_model.safetensors";
/// Name of one low-rank factor. `matrix`: one of `parameters`; `factor`: 'A' or 'B'.
std::string low_rank_name(const Parameter& matrix, char factor);
/// Name of the tokens' own rows. `role`: embedding or head.
std::string token_rows_name(const Family& family, Role role);

/// Matrices of a network that can be adapted: "q_proj", "k_proj", ...
std::vector<std::string> adapter_targets(const ModelConfig& config);
/// The weights of `parameters` that `shape` adapts.
std::vector<Parameter> adapted_matrices(const ModelConfig& config, const AdapterShape& shape);
/// All weights of an adapter, in a fixed order.
std::vector<Parameter> adapter_parameters(const ModelConfig& config, const AdapterShape& shape);

/// Writes kAdapterConfig. `base`: the checkpoint that the adapter belongs to. RunError.
void write_adapter_config(const AdapterShape& shape, const ModelConfig& config,
                          const std::string& base, const std::filesystem::path& folder);

/// Whether an adapter's folder contains a low-rank adapter. Otherwise it contains only extra heads.
/// ModelError: it contains neither.
bool holds_low_rank(const std::filesystem::path& folder);

/// The smallest number of layers that a network needs for the low-rank adapter in `folder`: the
/// index of the last adapted layer, plus one. ModelError: a file is missing or wrong, or no layer
/// is adapted.
int adapted_layers(const std::filesystem::path& folder);

/// A low-rank adapter, read from its folder and interpreted as peft does (adapter_config.hpp). It
/// may also have ranks and scales per module, adapt embedding and head, scale rows (DoRA, Liu et
/// al. 2024, arXiv:2402.09353), and replace whole weights and biases.
class Adapter {
 public:
  /// `config` was read together with the adapter (read_model_config). ModelError: a file is missing
  /// or wrong; the kind of adapter is not supported; a tensor does not fit a network of `config`,
  /// or belongs to no module that the adapter's config names; a named module has no tensors; the
  /// adapter's config is for more layers than the network has.
  static Adapter load(const std::filesystem::path& folder, const ModelConfig& config);

  /// Its shape. `targets` has every matrix that is adapted in at least one layer; `tokens` has the
  /// tokens with their own rows in the embedding.
  AdapterShape shape() const;
  /// Everything in the adapter that its shape does not express, as config keys or names of weights.
  /// Such an adapter is merged correctly, but cannot be trained. Empty: nothing.
  std::vector<std::string> beyond_plain(const ModelConfig& config) const;
  /// float32, by their names in the file.
  const std::map<std::string, at::Tensor>& tensors() const;
  /// `weight` (the network's `parameter`) with the adapter merged in. Summed and returned in
  /// float32, or in float64 if `weight` is float64. Returns `weight` itself if the adapter does not
  /// change it.
  at::Tensor merged(const Parameter& parameter, const at::Tensor& weight) const;

  struct Parts;

 private:
  explicit Adapter(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

/// Writes the weights of the checkpoint in `base`, with the adapter in `adapter` merged in, to
/// `file`. Each weight keeps its type in the checkpoint. ModelError, RunError.
void merge_adapter(const std::filesystem::path& base, const std::filesystem::path& adapter,
                   const std::filesystem::path& file);

}  // namespace pardec
