#pragma once
// The tensors of Model and KvCache, and the network as a function. Code that only decodes includes
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

namespace pardec {

at::ScalarType scalar_type(Dtype dtype);
at::ScalarType scalar_type(StoredType type);
/// The device of `name`: cpu, cuda or cuda:I. ModelError: another name, or no such device here.
at::Device parse_device(const std::string& name);
struct Profile;

/// Low-rank factors that are trained in addition to a frozen matrix (adapter.hpp). Used only in
/// training. For decoding they are merged into the matrix.
struct LowRank {
  at::Tensor a, b;  ///< [rank, in], [out, rank]; undefined: no adapter
  double scale = 1, dropout = 0;
  std::optional<std::uint64_t> seed = {};  ///< seed of the dropout; none: no dropout
  /// y + scale * B A x
  at::Tensor operator()(const at::Tensor& y, const at::Tensor& x) const;
};

struct Linear {
  at::Tensor weight;  ///< [out, in]
  at::Tensor bias;    ///< [out], or undefined
  LowRank low_rank = {};
  at::Tensor operator()(const at::Tensor& x) const {
    const at::Tensor y = at::linear(x, weight, bias);
    return low_rank.a.defined() ? low_rank(y, x) : y;
  }
};

/// One expert of a layer.
struct Expert {
  Linear gate, up, down;  ///< [inner, hidden], [inner, hidden], [hidden, inner]
};

struct Layer {
  at::Tensor input_norm;  ///< [hidden], or undefined
  Linear q, k, v, o;      ///< q: [heads * head_dim, hidden], k and v: [kv_heads * head_dim, hidden]
  at::Tensor q_norm, k_norm;  ///< [head_dim], or [columns] of all heads together, or undefined
  at::Tensor post_norm;       ///< before the MLP: [hidden], or undefined
  Linear gate, up, down;      ///< of the shared expert if the layer has experts, or undefined
  Linear router;              ///< [experts, hidden], or undefined
  Linear shared_router;       ///< [1, hidden], or undefined
  std::vector<Expert> experts;
  at::Tensor after_attention, after_mlp;  ///< norms after sublayers: [hidden], or undefined
  /// Stacked matrices of the file, of which q, k, v and gate, up are views; or undefined
  at::Tensor qkv, gate_up;
};

/// A head besides the network's own (ExtraHeadShape). It has the same input as the network's head.
struct ExtraHead {
  std::vector<Linear> blocks;  ///< [hidden, hidden] each
  bool shares_head = false;    ///< it uses the matrix of the network's own head
  Linear out;                  ///< [vocab, hidden]; undefined if shares_head
  /// The input of the head's matrix, from the input of the head.
  at::Tensor residual(at::Tensor z) const {
    for (const Linear& block : blocks) z = z + at::silu(block(z));
    return z;
  }
};

/// Extra heads over the given weights, named as in `extra_head_parameters`. The tensors are shared,
/// not copied. REQUIRES: all of these names.
std::vector<ExtraHead> extra_heads_over(const std::map<std::string, at::Tensor>& weights,
                                        const ExtraHeadShape& shape);

/// Rows of the embedding and of the head that are trained while the others are frozen; only in
/// training.
struct TokenRows {
  at::Tensor ids;              ///< [k] int64; undefined: no such rows
  at::Tensor places;           ///< [vocab] int64: index of the token in `ids`, or -1
  at::Tensor embedding, head;  ///< [k, hidden]; the same tensor if the head is tied
};

/// A network's weights by their roles, all of one type on one device.
struct Model::Network {
  std::string path;  ///< for errors
  ModelConfig config;
  Model::Options options;
  at::Device device{at::kCPU};
  at::ScalarType type = at::kFloat;

  at::Tensor embedding;  ///< [vocab, hidden]
  std::vector<Layer> layers;
  at::Tensor final_norm;  ///< [hidden]
  Linear head;            ///< [vocab, hidden]; the embedding itself if tied
  /// Per entry of config.ropes(): [rope.dims / 2] float32, as transformers computes them.
  std::vector<at::Tensor> inverse_frequencies;
  std::vector<ExtraHead> extra_heads;
  TokenRows token_rows;
  /// Computes the network's passes. If the backend stores the weights in another form, the tensors
  /// above are undefined.
  std::shared_ptr<Backend> backend;
  /// if set, and if the backend supports it, passes add their times to it
  Profile* profile = nullptr;

  /// A network of `config` over the given weights, which are named as in the checkpoint and of one
  /// type on one device. The tensors are shared, not copied. REQUIRES: every name of
  /// `parameters(config)`.
  static std::unique_ptr<Network> over(const ModelConfig& config,
                                       const std::map<std::string, at::Tensor>& weights);

  /// Sets the weights of `parameters(config)` by their roles; the tensors are shared.
  void assign(const std::map<std::string, at::Tensor>& weights);

  /// Each weight once, by its checkpoint name, in the order of `parameters(config)`. The tensors
  /// are views of those above. Weights that the backend took over are left out.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
};

/// Integers on the network's device.
inline at::Tensor on_device(const Model::Network& network,
                            const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong).to(network.device);
}

/// The weights of a checkpoint by their names, in `type`. They may be views of the mapped file,
/// which itself never changes. ModelError.
std::map<std::string, at::Tensor> load_weights(const std::filesystem::path& folder,
                                               at::ScalarType type);

/// Keys and values of rows. Once several caches share them, they are never modified.
struct SharedRows {
  std::vector<at::Tensor> keys, values;  ///< as in KvCache::Storage
};

struct KvCache::Storage {
  explicit Storage(const Model::Network& network);

  /// Number of slots in the cache's own memory; these follow the shared slots.
  std::int64_t own() const { return std::ssize(slots) - shared_slots; }
  /// Makes room for `more` rows after the last slot. Capacity grows geometrically.
  void reserve(int more);
  /// Adds the rows whose keys and values have been written after the last slot.
  void append(std::span<const RowLabel> labels);
  /// The slot of a row that is alive; otherwise std::logic_error.
  size_t find_alive(int row) const;
  /// After slots died: frees dead slots at the end, and compacts the rest if the dead outnumber the
  /// living.
  void reclaim();
  /// After slots at the end were freed: gives up the shared memory that they were in.
  void shorten();
  /// Turns whole panels of own slots into shared ones.
  void freeze();
  /// Allocates memory for the keys or values of `slot_count` slots.
  at::Tensor memory(std::int64_t slot_count) const;
  /// Allocates new memory for the cache's own slots, and copies their content from `from`,
  /// beginning with slot `first` there.
  void settle(SharedRows from, std::int64_t first, std::int64_t new_capacity);

  int kv_heads, head_dim;
  at::TensorOptions tensor_options;
  /// Shared memory of the first slots. Each part contributes its first `slots` slots, a whole
  /// number of panels.
  struct Part {
    std::shared_ptr<const SharedRows> rows;
    std::int64_t slots;
  };
  std::vector<Part> shared;
  std::int64_t shared_slots = 0;
  /// Memory of the cache's own slots; per layer [kv_heads, capacity, head_dim].
  std::vector<at::Tensor> keys, values;
  CacheForm form;
  std::vector<Slot> slots;  ///< in ascending order of rows
  std::int64_t capacity = 0;
  int fed = 0, alive = 0;
  std::deque<int> returning;  ///< evicted row numbers, to be reused by the next appended rows
  void move(at::Device device);
};

struct HiddenRows::Storage {
  at::Tensor rows;  ///< [n, hidden], before the final norm
};

/// ModelError: a token id or a position that the network does not have. std::logic_error: the
/// number of labels differs from the number of tokens, or a label names a segment that does not
/// exist.
void check_rows(const Model::Network& network, std::span<const Token> tokens,
                std::span<const RowLabel> labels, const Segments& segments);

/// Logits of a whole sequence in one pass, [n, vocab] in the network's type. Row i sees row j, in
/// any order of arrival, iff `visible`. Without gradients. Errors as in Model::forward.
at::Tensor logits(const Model::Network& network, std::span<const Token> tokens,
                  std::span<const RowLabel> labels, const Segments& segments);

/// One of several sequences that are computed together without seeing each other.
struct PackedSequence {
  std::span<const Token> tokens;
  std::span<const RowLabel> labels;  ///< one per token
  const Segments* segments = nullptr;
};

/// How a training pass is computed.
struct TrainingPass {
  /// Layers keep only their inputs, and are computed again for the gradients.
  bool checkpoint_activations = false;
  std::optional<std::uint64_t> dropout_seed = {};  ///< none: no dropout
  /// whether attention computes all sequences as one, under one mask; by default on GPUs
  std::optional<bool> joined = {};
};

/// For training: the inputs of the heads [rows.size(), hidden], which are the last layer's outputs
/// after the final norm. Several sequences are computed in one pass without padding. `rows` indexes
/// the rows of all sequences, one sequence after another. Gradients reach the weights that require
/// them. Matrix products run over all rows at once; attention runs per sequence, under its own
/// mask.
at::Tensor head_inputs(const Model::Network& network, std::span<const PackedSequence> sequences,
                       const std::vector<std::int64_t>& rows, const TrainingPass& pass = {});
/// Logits [rows, vocab] of the network's own head, from `head_inputs`. Trained rows of tokens
/// (TokenRows) are included.
at::Tensor training_logits(const Model::Network& network, const at::Tensor& head_inputs);

/// One forward pass as in Model::forward, without gradients. Returns the logits of all rows with an
/// output, by the heads that their outputs name, [m, vocab] in the network's type, in the order of
/// the steps and their outputs. The caches contain the new rows afterwards.
at::Tensor forward_rows(const Model::Network& network, std::span<const SequenceStep> steps);

/// cap * tanh(x / cap); x itself if `cap` is 0.
at::Tensor soft_capped(const at::Tensor& x, double cap);
/// A head's products as the network's logits: divided and capped.
at::Tensor as_logits(const at::Tensor& products, const BlockSpec& block);

/// Computes the wanted outputs of each row of `logits` [m, vocab] on its device, and copies them to
/// the host once. One request per row. Outputs that a row does not request are not computed for it.
std::vector<RowLogits> reduce_logits(const at::Tensor& logits,
                                     std::span<const OutputRequest* const> requests);

}  // namespace pardec
