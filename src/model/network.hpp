#pragma once
// The tensors of Model and KvCache, and the functions that compute with them. Decoders include
// model.hpp instead, which has no torch types.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/GradMode.h>

#include "src/model/torch.hpp"

#include "src/model/backend.hpp"
#include "src/model/files/config.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/model/kv_cache.hpp"
#include "src/model/model.hpp"
#include "src/model/ranks/share.hpp"

namespace pardec {

class Group;
class RankCopy;
class Ranks;

/// libtorch's type for the tensors of a network of this dtype: bfloat16 for int8, nf4 and gguf.
at::ScalarType scalar_type(Dtype dtype);
/// libtorch's type for a stored tensor. REQUIRES: neither `rows` nor `other`; otherwise
/// std::logic_error.
at::ScalarType scalar_type(StoredType type);
/// The device that `name` names: cpu, cuda (the first GPU) or cuda:I, where I is the number of the
/// GPU, from 0. ModelError: any other name, or this machine does not have the device.
at::Device parse_device(const std::string& name);
struct Profile;

/// Low-rank factors that are trained next to a frozen matrix (adapter.hpp). Used only in training:
/// for decoding, the factors are merged into the matrix.
struct LowRank {
  at::Tensor a, b;                         ///< [rank, in], [out, rank]; undefined: no adapter
  double scale = 1, dropout = 0;           ///< alpha / rank; dropout probability of the input of A
  std::optional<std::uint64_t> seed = {};  ///< seed of the dropout; none: no dropout
  /// y + scale * B A x, where y is the output of the frozen matrix for x
  at::Tensor operator()(const at::Tensor& y, const at::Tensor& x) const;
};

/// A linear map: weight x + bias, plus the low-rank factors if there are any.
struct Linear {
  at::Tensor weight;  ///< [out, in]
  at::Tensor bias;    ///< [out], or undefined
  LowRank low_rank = {};
  at::Tensor operator()(const at::Tensor& x) const {
    const at::Tensor y = at::linear(x, weight, bias);
    return low_rank.a.defined() ? low_rank(y, x) : y;
  }
};

/// The weights of a norm over n numbers. If `weight` is undefined, there is no norm in this place.
struct Norm {
  at::Tensor weight;  ///< [n]
  at::Tensor bias;    ///< [n], or undefined
};

/// This process's part of a network that several processes compute together (tensor parallel).
struct NetworkSplit {
  Ranks& ranks;
  Group& group;
  ModelConfig whole;  ///< the config of the whole network
  Share share;        ///< the part of this process
};

/// One expert of a layer.
struct Expert {
  Linear gate, up, down;  ///< [inner, hidden], [inner, hidden], [hidden, inner]
};

/// The weights of one layer. A network has only some of these weights, depending on its config.
struct Layer {
  Norm input_norm;  ///< [hidden]
  /// q: [heads * head_dim, hidden], k and v: [kv_heads * head_dim, hidden],
  /// o: [hidden, heads * head_dim]. If BlockSpec::qkv is not `apart`, q, k and v are undefined, and
  /// their rows are in `qkv`.
  Linear q, k, v, o;
  at::Tensor sinks;  ///< [heads] (BlockSpec::sinks), or undefined
  Linear qkv;        ///< [q, k and v rows, hidden], in the order of BlockSpec::qkv, or undefined
  /// With QkNorm::heads, both are [head_dim]. With QkNorm::whole, q_norm is [heads * head_dim], and
  /// k_norm is [kv_heads * head_dim].
  Norm q_norm, k_norm;
  /// Norm before the MLP: [hidden]; input_norm if the sublayers share it (BlockSpec::two_norms).
  Norm post_norm;
  /// The MLP: gate and up [inner, hidden], down [hidden, inner]. `gate` is undefined if the MLP has
  /// no gate. In a layer with experts, these are the matrices of the shared expert, or undefined.
  Linear gate, up, down;
  Linear router;         ///< [experts, hidden], or undefined
  Linear shared_router;  ///< [1, hidden], or undefined
  std::vector<Expert> experts;
  Norm after_attention, after_mlp;  ///< norms after the sublayers: [hidden]
  /// Gate and up as one matrix, if the checkpoint stores one matrix (BlockSpec::fused_gate_up):
  /// [2 * inner, hidden], gate first. The weights of `gate` and `up` are then views of this matrix.
  /// Otherwise undefined.
  at::Tensor gate_up;
  /// Null: this process computes the whole layer. Otherwise it computes a part, and the outputs of
  /// o and of the MLP must be summed over the processes.
  const NetworkSplit* split = nullptr;
};

/// An extra head (ExtraHeadShape). It has the same input as the network's own head.
struct ExtraHead {
  std::vector<Linear> blocks;  ///< [hidden, hidden] each
  bool shares_head = false;    ///< whether it uses the matrix of the network's own head
  Linear out;                  ///< [vocab, hidden]; undefined if shares_head
  /// Applies the blocks to the head's input z [n, hidden]. The result is the input of the head's
  /// matrix, [n, hidden].
  at::Tensor residual(at::Tensor z) const {
    for (const Linear& block : blocks) z = z + at::silu(block(z));
    return z;
  }
};

/// Creates extra heads from the given weights. The tensors are shared, not copied. REQUIRES:
/// `weights` has every name of `extra_head_parameters(config, shape)`.
std::vector<ExtraHead> extra_heads_over(const std::map<std::string, at::Tensor>& weights,
                                        const ExtraHeadShape& shape);

/// Rows of the embedding and of the head that are trained while the other rows are frozen. Used
/// only in training.
struct TokenRows {
  at::Tensor ids;              ///< [k] int64; undefined: no such rows
  at::Tensor places;           ///< [vocab] int64: index of the token in `ids`, or -1
  at::Tensor embedding, head;  ///< [k, hidden]; the same tensor if the head is tied
};

/// A network's weights by their roles, all of one type on one device.
struct Model::Network {
  std::string path;  ///< for errors
  /// The network's shape. If this process has only a part of the network (`split`), heads and
  /// columns are counted in this part, but vocab_size is that of the whole network.
  ModelConfig config;
  Model::Options options;
  at::Device device{at::kCPU};
  at::ScalarType type = at::kFloat;

  at::Tensor embedding;      ///< [vocab, hidden]
  at::Tensor position_rows;  ///< [max_position, hidden], or undefined
  std::vector<Layer> layers;
  Norm final_norm;  ///< [hidden]
  Linear head;      ///< [vocab, hidden]; the embedding itself if tied
  /// Inverse frequencies, one tensor [rope.dims / 2] float32 per entry of config.ropes()
  /// (rope_frequencies.hpp).
  std::vector<at::Tensor> inverse_frequencies;
  std::vector<ExtraHead> extra_heads;
  TokenRows token_rows;
  /// Computes the network's passes. If the backend stores the weights in another form, the tensors
  /// above are undefined.
  std::shared_ptr<Backend> backend;
  /// if set, and if the backend supports it, passes add their times to it
  Profile* profile = nullptr;
  std::shared_ptr<const NetworkSplit> split;  ///< null: this process has the whole network
  /// The parts of the other processes; null: there are none, or this is not rank 0.
  std::shared_ptr<const RankCopy> remote;

  /// The number of ids whose logits this process computes.
  std::int64_t own_ids() const { return split ? split->share.vocab.count : config.vocab_size; }

  /// Creates a network with a PlainBackend from the given weights. The tensors are shared, not
  /// copied. REQUIRES: `weights` has every name of `parameters(config)`; all tensors have one type
  /// and are on one device.
  static std::unique_ptr<Network> over(const ModelConfig& config,
                                       const std::map<std::string, at::Tensor>& weights);

  /// Sets all weights from tensors with the names of `parameters(config)`. The tensors are shared,
  /// not copied. REQUIRES: `weights` has every name of `parameters(config)`.
  void assign(const std::map<std::string, at::Tensor>& weights);

  /// Each weight once, with its checkpoint name, in the order of `parameters(config)`. The returned
  /// tensors share the memory of the members. Weights that the backend took over are left out.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
};

/// A copy of a tensor of a checkpoint, in its type. REQUIRES: the type is neither `rows` nor
/// `other`.
at::Tensor read_tensor(const StoredTensor& stored);

/// Converts a weight from the order in which a checkpoint stores it to the network's order ([out,
/// in] for a matrix), or the reverse. Returns `stored` itself if both orders are the same.
inline at::Tensor turned(const at::Tensor& stored, const Parameter& parameter) {
  return parameter.transposed ? stored.t().contiguous() : stored;
}

/// The integers as an int64 tensor on the network's device.
inline at::Tensor on_device(const Model::Network& network,
                            const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong).to(network.device);
}

/// The weights of a checkpoint folder or GGUF file, converted to `type`, by the names of
/// `parameters(config)`. The tensors may use the memory of the mapped file. The mapping is private:
/// writing to a tensor never changes the file. ModelError: see read_model_config and
/// CheckpointFiles.
std::map<std::string, at::Tensor> load_weights(const std::filesystem::path& folder,
                                               at::ScalarType type);

/// Keys and values of some rows, which several caches share. They are never modified.
struct SharedRows {
  std::vector<at::Tensor> keys, values;  ///< as in KvCache::Storage
};

/// The tensors and slots of a KvCache.
struct KvCache::Storage {
  /// An empty cache for rows of `network`.
  explicit Storage(const Model::Network& network);

  /// Number of slots in the cache's own memory. These slots follow the shared slots.
  std::int64_t own() const { return std::ssize(slots) - shared_slots; }
  /// Makes room for `more` rows after the last slot. Capacity grows geometrically.
  void reserve(int more);
  /// Adds slots for new rows. REQUIRES: the keys and values of the new rows were written after the
  /// last slot.
  void append(std::span<const RowLabel> labels);
  /// Index in `slots` of the slot that holds `row`. std::logic_error: the row is not alive.
  size_t find_alive(int row) const;
  /// Call after dropping rows. Frees dead slots at the end, and compacts the cache's own slots if
  /// more than 64 of them are dead and these outnumber the live ones.
  void reclaim();
  /// Call after freeing slots at the end. Releases shared memory that no remaining slot uses.
  void shorten();
  /// Converts own slots to shared slots, in whole panels of 32.
  void freeze();
  /// A cache with the same rows. Both caches use the shared slots; own slots are copied. `shares`:
  /// the function that the other processes of a split network call for their part of the cache:
  /// true for KvCache::share, false for KvCache::fork. In this process, `shares` has no effect.
  /// KvCache::share calls `freeze` before this function.
  std::unique_ptr<Storage> copied(bool shares) const;
  /// Allocates memory for the keys or values of `slot_count` slots.
  at::Tensor memory(std::int64_t slot_count) const;
  /// Allocates memory for `new_capacity` own slots, and copies the content of the own slots from
  /// `from`, where they begin at slot `first`.
  void settle(SharedRows from, std::int64_t first, std::int64_t new_capacity);

  int kv_heads, head_dim;
  at::TensorOptions tensor_options;
  /// Shared memory, for the first slots of the cache. The cache uses the first `slots` slots of
  /// each part, a whole number of panels.
  struct Part {
    std::shared_ptr<const SharedRows> rows;
    std::int64_t slots;
  };
  std::vector<Part> shared;
  std::int64_t shared_slots = 0;  ///< number of slots in `shared`
  /// Memory of the cache's own slots; per layer [kv_heads, capacity, head_dim]. CacheForm describes
  /// the order of the elements of `keys`.
  std::vector<at::Tensor> keys, values;
  CacheForm form;
  std::vector<Slot> slots;    ///< in ascending order of rows
  std::int64_t capacity = 0;  ///< number of own slots for which there is memory
  int fed = 0, alive = 0;     ///< KvCache::rows_fed, KvCache::rows_alive
  std::deque<int> returning;  ///< numbers of evicted rows, for the next appended rows
  /// Moves the cache's own memory to `device`.
  void move(at::Device device);
  /// The same cache in the other processes; null: there are none, or this is not rank 0.
  std::shared_ptr<const RankCopy> remote;
};

/// The tensor of HiddenRows.
struct HiddenRows::Storage {
  at::Tensor rows;  ///< [n, hidden], before the final norm
};

/// Checks new rows. ModelError: a token id is outside the vocabulary, or a position is outside
/// [0, ModelConfig::positions()). std::logic_error: the number of labels differs from the number of
/// tokens, or a label has a segment that does not exist.
void check_rows(const Model::Network& network, std::span<const Token> tokens,
                std::span<const RowLabel> labels, const Segments& segments);

/// Logits of a whole sequence in one pass, [n, vocab] in the network's type (float32 with
/// PackedBackend). Row i sees row j iff `visible`, regardless of whether i < j. Without gradients.
/// Errors: see Model::forward; std::logic_error also if this process has only a part of the
/// network. REQUIRES: at least one token; the network has weights.
at::Tensor logits(const Model::Network& network, std::span<const Token> tokens,
                  std::span<const RowLabel> labels, const Segments& segments);

/// One of several sequences in a training pass. A row sees only rows of its own sequence.
struct PackedSequence {
  std::span<const Token> tokens;
  std::span<const RowLabel> labels;    ///< one per token
  const Segments* segments = nullptr;  ///< not null
};

/// How a training pass is computed.
struct TrainingPass {
  /// Whether only the layers' inputs are kept in memory, and the layers are computed again for the
  /// gradients (arXiv:1604.06174).
  bool checkpoint_activations = false;
  std::optional<std::uint64_t> dropout_seed = {};  ///< none: no dropout
  /// whether attention treats all sequences as one sequence with one mask; none: only on GPUs
  std::optional<bool> joined = {};
};

/// For training: the inputs of the heads, [rows.size(), hidden]. These are the last layer's outputs
/// after the final norm. All sequences are computed in one pass without padding. `rows`: the
/// indices of the rows to return, counted over all sequences, one sequence after another. The
/// result is differentiable with respect to all weights that require gradients. ModelError: a token
/// id or a position is out of range. std::logic_error: the network's backend took over its weights
/// (PackedBackend), or see check_rows.
at::Tensor head_inputs(const Model::Network& network, std::span<const PackedSequence> sequences,
                       const std::vector<std::int64_t>& rows, const TrainingPass& pass = {});
/// Logits [m, vocab] of the network's own head for training, from the result of `head_inputs`
/// [m, hidden]. For the tokens in TokenRows, the trained rows of the head are used.
at::Tensor training_logits(const Model::Network& network, const at::Tensor& head_inputs);

/// One forward pass as in Model::forward, without gradients. Returns one row of unchanged logits
/// per requested output, from the head that the output names: [m, vocab] in the network's type
/// (float32 with PackedBackend), in the order of the steps and of their outputs. The new rows are
/// appended to the caches. Errors: see Model::forward; std::logic_error also if this process has
/// only a part of the network. REQUIRES: the network has weights.
at::Tensor forward_rows(const Model::Network& network, std::span<const SequenceStep> steps);

/// Called in the ranks above 0 of a split network when rank 0 calls Model::further. Computes the
/// logits of the ids of this process for the rows that rank 0 sent, and sends to rank 0 those of
/// the results that rank 0 needs. `rows`: [m, hidden]; `heads` and `requests` have one entry per
/// row. Errors: see Model::further.
void reduce_rows(const Model::Network& network, const at::Tensor& rows,
                 const std::vector<int>& heads, std::span<const OutputRequest* const> requests);

/// cap * tanh(x / cap); x itself if `cap` is 0.
at::Tensor soft_capped(const at::Tensor& x, double cap);
/// The network's logits from the products of a head's matrix: divided by BlockSpec::logit_divisor,
/// then capped with BlockSpec::logit_cap.
at::Tensor as_logits(const at::Tensor& products, const BlockSpec& block);

/// Computes the requested outputs from `logits` [m, vocab], on the device of `logits`, with one
/// request per row. Copies all results to the host at once. Outputs that are not requested for a
/// row are not computed for that row. RunError and c10::Error: see Model::forward.
std::vector<RowLogits> reduce_logits(const at::Tensor& logits,
                                     std::span<const OutputRequest* const> requests);
/// [m, 4] float64 on the host: best id, second id, best logit, second logit of each row of `logits`
/// [m, n], after biases, penalties and bans. REQUIRES: n >= 2.
at::Tensor best_two(const at::Tensor& logits, std::span<const OutputRequest* const> requests);

}  // namespace pardec
