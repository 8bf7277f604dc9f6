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

/// The number type of a network. With int8 and nf4, the layers' weights are quantised while they
/// are loaded. With gguf, the matrices of a GGUF file stay in the file's quantised blocks (see
/// packed_type). With these three types, computation uses bf16 (src/kernels/packed_matrix.hpp; CPU
/// only). fp64 is for tests against references.
enum class Dtype { fp32, bf16, int8, nf4, gguf, fp64 };
/// The Dtype with this name, e.g. "bf16". ConfigError: there is no such Dtype.
Dtype parse_dtype(std::string_view name);
/// The name of a Dtype, as in the enumeration.
std::string_view name(Dtype dtype);
/// The type of activations and KV cache in a network of this type: bf16 for int8, nf4 and gguf,
/// otherwise `dtype` itself.
Dtype computing(Dtype dtype);

/// The outputs wanted for one new row. RowLogits has the results. The two best ids are always
/// computed. Before any output is computed, the row's logits are changed in three steps: biases,
/// repetition penalty, bans. REQUIRES: all ids are in the vocabulary.
struct OutputRequest {
  int index = 0;            ///< index of the row among the step's tokens
  Sampling sampling;        ///< temperature > 0: RowLogits::probabilities is wanted
  bool logits = false;      ///< whether RowLogits::logits is wanted
  bool confidence = false;  ///< whether RowLogits::confidence is wanted
  int head = 0;             ///< 0: the network's own head; h > 0: its h-th extra head
  int top = 0;              ///< how many ids are wanted in RowLogits::top
  /// Step 1: ids, each with the bias that is added to its logit. If an id occurs more than once,
  /// all its biases are added.
  std::vector<std::pair<Token, double>> biased = {};
  /// Step 2: positive logits of these ids are divided by the penalty, negative logits are
  /// multiplied by the penalty. An id that occurs more than once counts once.
  Tokens repeated = {};
  double repetition_penalty = 1;
  std::vector<Token> banned;   ///< step 3: ids that cannot be chosen
  std::vector<Token> allowed;  ///< step 3: if not empty, no other ids can be chosen
};

/// The outputs of one row, from the logits after the three steps of OutputRequest: the logit of an
/// id that cannot be chosen is -infinity. All outputs are computed on the device, and only the
/// outputs are copied to the host.
struct RowLogits {
  Token best = 0, second = 0;  ///< ids of the two largest logits; the lower id wins a tie
  /// their logits; second_logit is -infinity if only one id can be chosen
  float best_logit = 0, second_logit = 0;
  double confidence = 0;      ///< probability of `best` at temperature 1; only on request
  std::vector<float> logits;  ///< [vocab], only on request
  /// The n best ids, the best first, where n is OutputRequest::top; all ids if the vocabulary has
  /// fewer than n. The lower id wins a tie. Ids that cannot be chosen come last.
  Tokens top;
  std::vector<double> probabilities;  ///< [vocab], only when sampling; sums to 1

  /// Only if OutputRequest::allowed is not empty: the ids that ranked higher than `best` after
  /// steps 1 and 2, before step 3 removed them, in ascending order of ids.
  Tokens outrank;

  /// Whether an id can be chosen. False: the logit of an id that is not banned is NaN or +infinity,
  /// or all logits are -infinity. In this case, the other members have no meaning. (Some of the
  /// logits may be -infinity.)
  bool finite() const { return std::isfinite(best_logit); }
};

/// The last layer's outputs for the rows of a step, kept on the device. Model::further uses them to
/// compute logits of more rows after the pass. A default-constructed object has no rows.
class HiddenRows {
 public:
  struct Storage;  ///< the tensor; src/model/network.hpp
  HiddenRows() = default;
  explicit HiddenRows(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}
  /// The rows from row `first` on. Row `first` is row 0 of the result, which shares the memory of
  /// this object.
  HiddenRows from(int first) const {
    HiddenRows rest = *this;
    rest.first_ += first;
    return rest;
  }
  const Storage* storage() const { return storage_.get(); }  ///< null: no rows
  int first() const { return first_; }                       ///< index of row 0 in `storage`

 private:
  std::shared_ptr<const Storage> storage_;
  int first_ = 0;
};

/// Rows of a computed step, and the outputs wanted for these rows.
struct FurtherRows {
  HiddenRows hidden;
  std::span<const OutputRequest> outputs;  ///< OutputRequest::index counts from row 0 of `hidden`
};

/// Sublayers that a forward pass skips: their outputs are not added to the residual stream. A
/// network that drafts for itself uses this (self-speculative decoding, arXiv:2309.08168). In
/// layers with skipped attention, the pass writes no keys and values for its rows. Therefore only
/// passes that skip the same sublayers may attend to these rows.
struct SkippedSublayers {
  /// [layer]: whether the layer's attention or MLP is skipped; empty: none is skipped
  std::vector<bool> attention, mlp;
  bool skips_attention(size_t layer) const { return !attention.empty() && attention[layer]; }
  bool skips_mlp(size_t layer) const { return !mlp.empty() && mlp[layer]; }
  bool any() const;  ///< whether at least one sublayer is skipped
  bool operator==(const SkippedSublayers&) const = default;
};

class Ranks;
struct ExtraHeadShape;
struct Parameter;
struct Profile;

/// The new tokens of one sequence in one forward pass. `cache` and `segments` must not be null, and
/// no two steps of a pass may have the same cache.
struct SequenceStep {
  KvCache* cache = nullptr;                ///< the new rows are appended to this cache as live rows
  const Segments* segments = nullptr;      ///< the segments to which the labels refer
  std::span<const Token> tokens;           ///< may be empty
  std::span<const RowLabel> labels;        ///< one per token
  std::span<const OutputRequest> outputs;  ///< OutputRequest::index is an index in `tokens`
  HiddenRows* hidden = nullptr;  ///< if not null, receives the last layer's outputs for the step
};

/// A decoder-only transformer with its weights. Visibility between rows depends only on `visible`
/// and on the network's sliding windows; the model knows nothing about decoders. Not copyable. One
/// forward pass at a time.
class Model {
 public:
  /// How a model is loaded and computed.
  struct Options {
    Dtype dtype = Dtype::fp32;
    std::string device = "cpu";  ///< "cpu", "cuda" or "cuda:i"
    /// Instruction set of the CPU kernels for networks that compute in bf16, one of
    /// instruction_sets(); otherwise Model::load throws std::logic_error. None: the widest
    /// available (widest_instruction_set).
    std::optional<InstructionSet> instruction_set;
    bool cuda_graphs = true;  ///< on a GPU, steps of few rows are recorded and replayed
    /// A folder with a low-rank adapter, extra heads, or both; empty: no adapter. The low-rank
    /// adapter is merged into the weights while the weights are read.
    std::filesystem::path adapter;
    int layers = 0;  ///< use only the first `layers` layers; 0: all layers; never negative
    /// False: only the config is read. A forward pass then throws std::logic_error.
    bool weights = true;
    /// The processes that compute the network together (src/model/ranks/ranks.hpp); null: this
    /// process alone. They must outlive the model and its caches. Ignored if `weights` is false.
    Ranks* ranks = nullptr;
  };

  /// Loads a GGUF file, or a Hugging Face checkpoint folder: config.json with model.safetensors, or
  /// with model.safetensors.index.json and its shards. Also loads extra heads if there are any
  /// (extra_heads_file), and merges the adapter (adapter.hpp). ModelError: a folder or file is
  /// missing; a file of weights is truncated or inconsistent; a tensor is missing or does not have
  /// the shape that the config requires; an option is not supported, or the device does not exist.
  /// The files of extra heads and of the adapter are checked in the same way. RunError: there is
  /// not enough memory for packed weights; or another process (Options::ranks) has an error, does
  /// not answer, or failed in an earlier pass. c10::Error: libtorch fails, e.g. for lack of GPU
  /// memory. ConfigError: with Options::ranks, the device or dtype is not supported, or the network
  /// cannot be divided among so many processes (share_of).
  static Model load(const std::filesystem::path& folder, const Options& options);

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const ModelConfig& config() const;
  const Options& options() const;
  /// Bytes of the network's weights, including the scales of quantised weights, but without padding
  /// and without extra heads.
  std::int64_t weight_bytes() const;

  /// Computes one forward pass over the steps of several sequences, packed without padding. A new
  /// row can see only rows of its own sequence: the live rows in the cache, and the rows of the
  /// same step. Of these rows, the new row sees those that `visible` permits and that no sliding
  /// window hides. Returns one vector per step, with one RowLogits per output. The device is
  /// synchronised on return. ModelError, before anything is computed: an id is outside the
  /// vocabulary, a position is outside [0, config().positions()), or a sliding window hides a row
  /// because of gaps in positions (check_window). RunError: the GPU reports an error of this
  /// project's kernels; or another process (Options::ranks) does not answer, or failed in an
  /// earlier pass. c10::Error: libtorch fails, e.g. for lack of GPU memory. REQUIRES: the steps are
  /// as SequenceStep describes; the segments of all labels exist; the vectors in `skipped` are
  /// empty or have one entry per layer; the requested rows and heads exist. Otherwise
  /// std::logic_error.
  std::vector<std::vector<RowLogits>> forward(std::span<const SequenceStep> steps,
                                              const SkippedSublayers& skipped = {});

  /// Number of experts whose weights the passes have read so far, summed over layers and passes
  /// (Backend::experts_read).
  std::int64_t experts_read() const;

  /// Computes only the heads, for more rows of steps that were computed with SequenceStep::hidden.
  /// Returns one vector per entry of `rows`, with one RowLogits per output. std::logic_error: a
  /// requested row or head does not exist. RunError and c10::Error: see `forward`. REQUIRES:
  /// Options::weights; the rows are from this model's passes.
  std::vector<std::vector<RowLogits>> further(std::span<const FurtherRows> rows);

  /// From now on, each pass adds the times of its parts to `into`, which must outlive these passes.
  /// Null: profiling stops. ConfigError: `into` is not null, and the network does not compute in
  /// bf16 on the CPU. REQUIRES: Options::weights.
  void set_profile(Profile* into);

  struct Network;  // the tensors and the differentiable forward; src/model/network.hpp
  Network& network() { return *network_; }
  const Network& network() const { return *network_; }

 private:
  explicit Model(std::unique_ptr<Network> network);
  std::unique_ptr<Network> network_;
};

/// What Model::weight_bytes would be for a network of this config and type.
std::int64_t weight_bytes(const ModelConfig& config, Dtype dtype);
/// The bytes of one weight of such a network. `parameter`: an element of parameters(config).
std::int64_t weight_bytes(const Parameter& parameter, const ModelConfig& config, Dtype dtype);

/// Writes a random checkpoint of the given shape in bf16: config.json, model.safetensors,
/// generation_config.json. Query and key projections have larger weights than usual, so that a
/// wrong mask or position changes the outputs visibly. With ordinary random weights, attention
/// would be almost uniform. `config`: the content of a Hugging Face config.json of a supported
/// family. `folder` is created if it does not exist. The same seed gives the same bytes on every
/// machine. ModelError: the config is not supported. RunError: writing fails.
void synthesise_checkpoint(const Json& config, std::uint64_t seed,
                           const std::filesystem::path& folder);

/// Writes random extra heads in bf16 for the network in `folder` to kExtraHeadsFile in this folder.
/// The same seed gives the same bytes on every machine. ModelError: the folder has no config.json
/// of a supported family. RunError: writing fails.
void synthesise_extra_heads(const ExtraHeadShape& shape, std::uint64_t seed,
                            const std::filesystem::path& folder);

/// Writes config.json with the content of `config`, its family's `model_type` and `architectures`,
/// and dtype bf16. Also writes generation_config.json with the ids that begin and end a text (bos,
/// eos). ModelError: the config is not supported. RunError: writing fails, e.g. because `folder`
/// does not exist.
void write_model_config(const Json& config, const std::filesystem::path& folder);

}  // namespace pardec
