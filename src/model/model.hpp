#pragma once
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/kernels/instruction_set.hpp"
#include "src/model/files/config.hpp"
#include "src/model/kv_cache.hpp"
#include "src/model/visibility.hpp"
#include "src/support/sampling.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// What a network computes in. int8, nf4: in bf16, with the weights of its layers quantised when
/// they are loaded (src/kernels/packed_matrix.hpp; on the CPU alone). fp64: for tests against
/// references.
enum class Dtype { fp32, bf16, int8, nf4, fp64 };
/// Anything but these names is a ConfigError.
Dtype parse_dtype(std::string_view name);
std::string_view name(Dtype dtype);
/// The type of activations and of the cache.
Dtype computing(Dtype dtype);

/// What is wanted of one fed row's logits. Top-2 comes always.
struct OutputRequest {
  int index = 0;            ///< which of the step's tokens
  Sampling sampling;        ///< temperature > 0: `probabilities` is filled
  bool logits = false;      ///< the whole row is wanted
  bool confidence = false;  ///< the probability of the best one is wanted
  int head = 0;             ///< 0: the network's own head; h: its h-th extra head
  int top = 0;              ///< how many of the best ids are wanted
  /// Added to the logits of these ids before anything else.
  std::vector<std::pair<Token, double>> biased = {};
  /// Then the logits of these ids are divided by the penalty where they are positive, else
  /// multiplied by it.
  Tokens repeated = {};
  double repetition_penalty = 1;
  std::vector<Token> banned;   ///< ids struck out then
  std::vector<Token> allowed;  ///< where not empty: all other ids are struck out, too
};

/// Reduced on the device; only this comes to the host.
struct RowLogits {
  Token best = 0, second = 0;  ///< largest and second largest logit; the lower id wins a tie
  float best_logit = 0, second_logit = 0;
  double confidence = 0;      ///< softmax at the best id, unwarped; only on request
  std::vector<float> logits;  ///< [vocab], only on request
  Tokens top;  ///< the best ids, best first; the lower id wins a tie; only on request
  std::vector<double> probabilities;  ///< [vocab], only when sampling; sums to 1

  Tokens outrank;  ///< of ids that are not among those allowed: which come before `best`

  /// False where a logit that is not struck out is NaN or +infinity, or all are -infinity: there is
  /// nothing to choose, and the rest of this means nothing. (Single ids may be at -infinity.)
  bool finite() const { return std::isfinite(best_logit); }
};

/// What the last layer made of the rows of a step, kept on the device so that logits of further
/// rows can be had when the first have been seen.
class HiddenRows {
 public:
  struct Storage;  ///< the tensor; src/model/network.hpp
  HiddenRows() = default;
  explicit HiddenRows(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}
  /// The same from row `first` on.
  HiddenRows from(int first) const {
    HiddenRows rest = *this;
    rest.first_ += first;
    return rest;
  }
  const Storage* storage() const { return storage_.get(); }
  int first() const { return first_; }

 private:
  std::shared_ptr<const Storage> storage_;
  int first_ = 0;
};

/// Rows of a step that has been computed, and what is wanted of them.
struct FurtherRows {
  HiddenRows hidden;
  std::span<const OutputRequest> outputs;  ///< their indices count from the first of `hidden`
};

/// Sublayers that a forward pass leaves out: what comes in goes on unchanged. (A network that
/// drafts for itself; arXiv:2309.08168.) Rows computed so are good for such passes alone: where
/// attention is left out they have no keys and values.
struct SkippedSublayers {
  std::vector<bool> attention, mlp;  ///< per layer; empty: none
  bool skips_attention(size_t layer) const { return !attention.empty() && attention[layer]; }
  bool skips_mlp(size_t layer) const { return !mlp.empty() && mlp[layer]; }
  bool any() const;
  bool operator==(const SkippedSublayers&) const = default;
};

struct ExtraHeadShape;
struct Profile;

/// The tokens that one sequence feeds in one forward pass.
struct SequenceStep {
  KvCache* cache = nullptr;  ///< gets the new rows appended, alive
  const Segments* segments = nullptr;
  std::span<const Token> tokens;
  std::span<const RowLabel> labels;  ///< one per token
  std::span<const OutputRequest> outputs;
  HiddenRows* hidden = nullptr;  ///< gets the step's rows, where given
};

/// A decoder-only transformer with its weights. Which row sees which is decided by `visible` alone;
/// nothing in here knows of decoders. Not copyable; one forward at a time.
class Model {
 public:
  struct Options {
    Dtype dtype = Dtype::fp32;
    std::string device = "cpu";  ///< "cpu", "cuda" or "cuda:i"
    /// Of the CPU's kernels, which networks that compute in bf16 run on; by default the widest.
    std::optional<InstructionSet> instruction_set;
    bool cuda_graphs = true;  ///< a GPU's steps of few rows are recorded and replayed
    /// A folder with a low-rank adapter, which is merged into the weights as they are read, with
    /// extra heads, or both; empty: none.
    std::filesystem::path adapter;
    int layers = 0;  ///< the first so many of its layers alone; 0: all
  };

  /// Loads a Hugging Face checkpoint folder: config.json with model.safetensors, or
  /// model.safetensors.index.json and its shards. ModelError: missing folder or file, truncated or
  /// lying safetensors, a tensor that is missing or has another shape than the config says,
  /// unsupported options. Extra heads are loaded where there are some (extra_heads_file), and
  /// checked as strictly, and so is an adapter (adapter.hpp).
  static Model load(const std::filesystem::path& folder, const Options& options);

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const ModelConfig& config() const;
  const Options& options() const;
  /// Bytes of the network itself as it is in memory, scales of quantised weights included, without
  /// extra heads.
  std::int64_t weight_bytes() const;

  /// One forward pass over the steps of several sequences, packed: no padding is computed. A new
  /// row sees, of its own sequence, the rows that are alive in the cache and the rows of the same
  /// step, as `visible` says. Returns one vector per step, one RowLogits per output. The device is
  /// synchronised when it returns. An id outside the vocabulary or a position outside [0,
  /// max_position) is a ModelError, before anything is computed. `skipped`: none, or of this
  /// network's number of layers.
  std::vector<std::vector<RowLogits>> forward(std::span<const SequenceStep> steps,
                                              const SkippedSublayers& skipped = {});

  /// The head alone, over further rows of steps that were computed with `hidden`. Returns one
  /// vector per entry, one RowLogits per output. A row that the step has not is a std::logic_error.
  std::vector<std::vector<RowLogits>> further(std::span<const FurtherRows> rows);

  /// From the next pass on, until null is set: passes add to it where their time goes. REQUIRES: a
  /// network that computes in bf16 on the CPU; otherwise ConfigError.
  void set_profile(Profile* into);

  struct Network;  // the tensors and the differentiable forward; src/model/network.hpp
  Network& network() { return *network_; }
  const Network& network() const { return *network_; }

 private:
  explicit Model(std::unique_ptr<Network> network);
  std::unique_ptr<Network> network_;
};

/// Bytes of a network's weights in memory, as Model::weight_bytes counts them.
std::int64_t weight_bytes(const ModelConfig& config, Dtype dtype);

/// Writes a random checkpoint of a shape (config.json, model.safetensors, generation_config.json),
/// bf16, the query and key projections sharpened so that a wrong mask or position shows (as random
/// initial weights attend almost evenly). `config` is a Hugging Face config.json of a supported
/// family. Same seed, same bytes, on every machine.
void synthesise_checkpoint(const Json& config, std::uint64_t seed,
                           const std::filesystem::path& folder);

/// Writes random extra heads for the network in `folder` into its kExtraHeadsFile, bf16. Same seed,
/// same bytes, on every machine. ModelError where the folder has no config.json of a supported
/// family.
void synthesise_extra_heads(const ExtraHeadShape& shape, std::uint64_t seed,
                            const std::filesystem::path& folder);

/// Writes config.json, saying that weights are stored in bf16, and generation_config.json with the
/// ends of sequence. RunError.
void write_model_config(const Json& config, const std::filesystem::path& folder);

}  // namespace pardec
