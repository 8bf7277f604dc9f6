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

/// A low-rank adapter (LoRA, Hu et al. 2021, arXiv:2106.09685) over a network that stays as it is:
/// matrices W [out, in] of its layers become W + alpha / rank * B A, A [rank, in], B [out, rank].
/// Beside that, some tokens may have rows of their own in the embedding and the head. (What is read
/// may be more: Adapter, below.)
struct AdapterShape {
  int rank = 0;  ///< 0: there is no adapter
  double alpha = 16;
  double dropout = 0;                ///< in training: share of A's inputs that are dropped
  std::vector<std::string> targets;  ///< the matrices: last parts of their modules' names, "q_proj"
  Tokens tokens;                     ///< those that have rows of their own; ascending

  bool there() const { return rank > 0; }
};

// Files and names as Hugging Face's peft has them.
inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr const char* kAdapterFile = "adapter_model.safetensors";
/// `matrix`: one of `parameters`; `factor`: A or B.
std::string low_rank_name(const Parameter& matrix, char factor);
/// Of the tokens' own rows; `role`: embedding or head.
std::string token_rows_name(Role role);

/// What can be adapted in a network: "q_proj", "k_proj", ...
std::vector<std::string> adapter_targets(const ModelConfig& config);
/// Those of `parameters` that `shape` names.
std::vector<Parameter> adapted_matrices(const ModelConfig& config, const AdapterShape& shape);
/// All weights of an adapter, in a fixed order.
std::vector<Parameter> adapter_parameters(const ModelConfig& config, const AdapterShape& shape);

/// Writes kAdapterConfig; `base`: the checkpoint that the adapter belongs to. RunError.
void write_adapter_config(const AdapterShape& shape, const ModelConfig& config,
                          const std::string& base, const std::filesystem::path& folder);

/// Whether an adapter's folder holds a low-rank adapter; else it holds extra heads alone.
/// ModelError: neither.
bool holds_low_rank(const std::filesystem::path& folder);

/// How many layers a network has at least that the low-rank adapter in `folder` lies over: up to
/// the last that it changes. ModelError: a file that is missing or wrong, or it changes none.
int adapted_layers(const std::filesystem::path& folder);

/// A low-rank adapter that was read from its folder, as peft means it (adapter_config.hpp): also
/// with ranks and scales by module, over embedding and head, with lengths of rows (DoRA, Liu et al.
/// 2024, arXiv:2402.09353), whole weights and biases.
class Adapter {
 public:
  /// `config` is read with the adapter (read_model_config). ModelError: a file that is missing or
  /// wrong, a kind of adapter that is not supported, a tensor that does not fit a network of
  /// `config` or is of no module that its config names, a module that it names and lacks, layers
  /// that are fewer than the network's.
  static Adapter load(const std::filesystem::path& folder, const ModelConfig& config);

  /// Its targets are those of all layers where one layer has them; its tokens are the embedding's.
  AdapterShape shape() const;
  /// What it is more than its shape says, by keys of its config or names of weights: it is merged
  /// so, but not trained. Empty: nothing.
  std::vector<std::string> beyond_plain(const ModelConfig& config) const;
  /// float32, by the names in the file.
  const std::map<std::string, at::Tensor>& tensors() const;
  /// `weight`, which is `parameter` of the network, as the adapter makes it: summed in float32
  /// (float64 where it has that), and left so. `weight` itself where nothing is added.
  at::Tensor merged(const Parameter& parameter, const at::Tensor& weight) const;

  struct Parts;

 private:
  explicit Adapter(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

/// Writes the weights of the checkpoint in `base`, changed by the adapter in `adapter`, each in the
/// type that it has there, to `file`. ModelError, RunError.
void merge_adapter(const std::filesystem::path& base, const std::filesystem::path& adapter,
                   const std::filesystem::path& file);

}  // namespace pardec
