#pragma once
#include <memory>
#include <span>

#include "src/model/kv_cache.hpp"
#include "src/model/model.hpp"

namespace at {
class Tensor;
}

namespace pardec {

/// The new rows of one sequence in one forward pass. The cache has room for these rows after its
/// last slot.
struct NewRows {
  KvCache::Storage* cache = nullptr;   ///< not null
  std::span<const Token> tokens;       ///< at least one
  std::span<const RowLabel> labels;    ///< one per token
  const Segments* segments = nullptr;  ///< not null
};

/// Memory layout of caches.
struct CacheForm {
  /// true: keys are stored in panels, [kv_heads, capacity / 32, head_dim / 2, 32, 2]; false: keys
  /// are stored like values, [kv_heads, capacity, head_dim]
  bool key_panels = false;
  /// true: kernels read whole blocks of slots, so even unwritten slots must contain finite numbers
  bool whole_blocks = false;
};

/// Computes a network's forward passes. There are three backends. PlainBackend uses libtorch's
/// operations. PackedBackend uses this project's CPU kernels on packed weights. CudaBackend uses
/// this project's GPU kernels for attention, and replays recorded passes. All backends follow the
/// same visibility rule; they differ in speed and in rounding. The virtual calls cost little:
/// `layers` is called once per pass, and the other functions compute many rows per call.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The last layer's output [n, hidden] for the new rows of all sequences, one sequence after
  /// another. Writes the rows' keys and values after the last slots of the caches. RunError and
  /// c10::Error: see Model::forward. REQUIRES: at least one row.
  virtual at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                            const SkippedSublayers& skipped) = 0;

  /// The input of the heads: `rows` [m, hidden] after the network's final norm.
  virtual at::Tensor final_norm(const Model::Network& network, const at::Tensor& rows) const = 0;
  /// The input of one head's matrix, [m, hidden]. `normed`: the output of `final_norm`. For head 0,
  /// the network's own head, the result is `normed` itself. For an extra head h > 0, the result is
  /// the output of the head's residual blocks.
  virtual at::Tensor residual(const Model::Network& network, const at::Tensor& normed,
                              int head) const = 0;
  /// The products [m, vocab] of a head's matrix with `rows`, the output of `residual`, before
  /// division and cap (as_logits). REQUIRES: `head` is 0, or an extra head with its own matrix.
  virtual at::Tensor logits(const Model::Network& network, const at::Tensor& rows,
                            int head) const = 0;

  /// Number of experts whose weights the passes have read so far, summed over layers and passes. An
  /// expert that several rows of a pass use counts once. Shared experts, which every pass reads, do
  /// not count.
  std::int64_t experts_read() const { return experts_read_; }

  /// The memory layout that this backend needs of caches.
  virtual CacheForm cache_form() const { return {}; }
  /// Whether passes add their times to Network::profile.
  virtual bool profiles() const { return false; }

 protected:
  std::int64_t experts_read_ = 0;
};

/// Chooses the backend for a loaded network by the network's device and options. The backend may
/// take over the network's weights and store them in another form. RunError: there is not enough
/// memory for this form. std::logic_error: the CPU does not have Options::instruction_set.
std::shared_ptr<Backend> choose_backend(Model::Network& network);

}  // namespace pardec
