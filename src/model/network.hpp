#pragma once
// The tensors behind Model and KvCache, and the network as a function. The one header of the
// project with torch types: what only decodes includes model.hpp instead.
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
struct Profile;

/// What is learned beside a matrix that stays as it is (adapter.hpp), in training alone: where a
/// network decodes it is part of the matrix.
struct LowRank {
  at::Tensor a, b;  ///< [rank, in], [out, rank]; undefined: there is none
  double scale = 1, dropout = 0;
  std::optional<std::uint64_t> seed = {};  ///< of what is dropped; none: nothing is
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

struct Layer {
  at::Tensor input_norm;  ///< [hidden], or undefined
  Linear q, k, v, o;      ///< q: [heads * head_dim, hidden], k and v: [kv_heads * head_dim, hidden]
  at::Tensor q_norm, k_norm;  ///< [head_dim], of all heads together, or undefined
  at::Tensor post_norm;       ///< [hidden], or undefined
  Linear gate, up, down;
  at::Tensor after_attention, after_mlp;  ///< OLMo-2's norms, [hidden], or undefined
  at::Tensor qkv, gate_up;  ///< Phi-3: what q, k and v, gate and up are parts of, or undefined
};

/// A head besides the network's own (ExtraHeadShape). It reads what the network's head reads.
struct ExtraHead {
  std::vector<Linear> blocks;  ///< [hidden, hidden] each
  bool shares_head = false;    ///< its matrix is the network's own head's
  Linear out;                  ///< [vocab, hidden]; undefined where it shares
  /// Of rows that a head reads, what its matrix reads.
  at::Tensor residual(at::Tensor z) const {
    for (const Linear& block : blocks) z = z + at::silu(block(z));
    return z;
  }
};

/// Extra heads over given weights, by the names of `extra_head_parameters`; the tensors are shared,
/// not copied. REQUIRES: every one of these names.
std::vector<ExtraHead> extra_heads_over(const std::map<std::string, at::Tensor>& weights,
                                        const ExtraHeadShape& shape);

/// Rows of the embedding and of the head that learn while the others stay, in training alone.
struct TokenRows {
  at::Tensor ids;              ///< [k] int64; undefined: there are none
  at::Tensor places;           ///< [vocab] int64: which of `ids` it is, or -1
  at::Tensor embedding, head;  ///< [k, hidden]; the same where the head is tied
};

/// Weights, all of one dtype on one device, under the roles they have in the forward.
struct Model::Network {
  std::string path;  ///< for errors
  ModelConfig config;
  Model::Options options;
  at::Device device{at::kCPU};
  at::ScalarType type = at::kFloat;

  at::Tensor embedding;  ///< [vocab, hidden]
  std::vector<Layer> layers;
  at::Tensor final_norm;           ///< [hidden]
  Linear head;                     ///< [vocab, hidden]; the embedding itself when tied
  at::Tensor inverse_frequencies;  ///< [rope.dims / 2] float32, as transformers computes them
  std::vector<ExtraHead> extra_heads;
  TokenRows token_rows;
  /// Computes its passes. Where it holds weights in a form of its own, those above are undefined.
  std::shared_ptr<Backend> backend;
  Profile* profile = nullptr;  ///< passes add to it where it is set and the backend can

  /// A network of `config` over given weights, by their checkpoint names, all of one dtype on one
  /// device; the tensors are shared, not copied. REQUIRES: every name of `parameters(config)`.
  static std::unique_ptr<Network> over(const ModelConfig& config,
                                       const std::map<std::string, at::Tensor>& weights);

  /// Takes the weights of `parameters(config)` under their roles; the tensors are shared.
  void assign(const std::map<std::string, at::Tensor>& weights);

  /// Each weight once, by its checkpoint name, in the order of `parameters(config)`: views of the
  /// tensors above, but for those that the backend took.
  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const;
};

/// The weights of a checkpoint by their names, in `type`. They may lie in the mapped file, whose
/// content stays what it is. ModelError.
std::map<std::string, at::Tensor> load_weights(const std::filesystem::path& folder,
                                               at::ScalarType type);

/// Keys and values of rows. Where several caches have them in common, nobody writes them again.
struct SharedRows {
  std::vector<at::Tensor> keys, values;  ///< as KvCache::Storage has them
};

struct KvCache::Storage {
  explicit Storage(const Model::Network& network);

  /// Slots in memory of its own, which lie behind the shared ones.
  std::int64_t own() const { return std::ssize(slots) - shared_slots; }
  /// Room for `more` rows behind the last slot, grown geometrically.
  void reserve(int more);
  /// The rows whose keys and values have been written behind the last slot now count.
  void append(std::span<const RowLabel> labels);
  /// The slot of an alive row; std::logic_error where it is not alive.
  size_t find_alive(int row) const;
  /// After slots died: gives back the last ones, and packs the living where the dead outweigh them.
  void reclaim();
  /// After slots at the end were given back: none of those is in shared memory any more.
  void shorten();
  /// Whole panels of own slots become shared ones.
  void freeze();
  /// Keys or values of so many slots.
  at::Tensor memory(std::int64_t slot_count) const;
  /// New memory for its own slots, which lie in `from` behind its `first` ones.
  void settle(SharedRows from, std::int64_t first, std::int64_t new_capacity);

  int kv_heads, head_dim;
  at::TensorOptions tensor_options;
  /// Of the first slots, `slots` of each, whole panels.
  struct Part {
    std::shared_ptr<const SharedRows> rows;
    std::int64_t slots;
  };
  std::vector<Part> shared;
  std::int64_t shared_slots = 0;
  /// Of its own slots; a layer: [kv_heads, capacity, head_dim]
  std::vector<at::Tensor> keys, values;
  CacheForm form;
  std::vector<Slot> slots;  ///< ascending rows
  std::int64_t capacity = 0;
  int fed = 0, alive = 0;
  std::deque<int> returning;  ///< names that the next rows get, as they are evicted ones
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

/// Logits of a whole sequence in one pass, [n, vocab] in the network's dtype; row i sees row j (of
/// any order of arrival) iff `visible`. Without gradients. Errors as Model::forward.
at::Tensor logits(const Model::Network& network, std::span<const Token> tokens,
                  std::span<const RowLabel> labels, const Segments& segments);

/// One of several sequences that are computed together and know nothing of one another.
struct PackedSequence {
  std::span<const Token> tokens;
  std::span<const RowLabel> labels;  ///< one per token
  const Segments* segments = nullptr;
};

/// How a training pass is computed.
struct TrainingPass {
  /// Layers keep their inputs alone and are computed again for their gradients.
  bool checkpoint_activations = false;
  std::optional<std::uint64_t> dropout_seed = {};  ///< none: nothing is dropped
};

/// For training: what the heads read, [rows.size(), hidden], behind the last layer and its norm, of
/// several sequences in one pass without padding. `rows` counts the rows of all sequences, one
/// sequence after another. Gradients reach the weights that require them. Matrix products run over
/// all rows at once; attention sequence by sequence under its own mask.
at::Tensor head_inputs(const Model::Network& network, std::span<const PackedSequence> sequences,
                       const std::vector<std::int64_t>& rows, const TrainingPass& pass = {});
/// The network's own head over these, [rows, vocab], with the rows of tokens that learn.
at::Tensor training_logits(const Model::Network& network, const at::Tensor& head_inputs);

/// One forward pass as Model::forward describes, without gradients: the logits of all rows with an
/// output, by the heads that they name, [m, vocab] in the network's dtype, in the order of the
/// steps and their outputs. The caches have the new rows afterwards.
at::Tensor forward_rows(const Model::Network& network, std::span<const SequenceStep> steps);

/// What is wanted of each row of `logits` [m, vocab], reduced on the device it is on, and copied to
/// the host once. A row per request; what a row does not want is not computed for it.
std::vector<RowLogits> reduce_logits(const at::Tensor& logits,
                                     std::span<const OutputRequest* const> requests);

}  // namespace pardec
