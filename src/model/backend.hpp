#pragma once
#include <memory>
#include <span>

#include "src/model/kv_cache.hpp"
#include "src/model/model.hpp"

namespace at {
class Tensor;
}

namespace pardec {

/// New rows of one sequence in one pass. The cache has room for them after its last slot.
struct NewRows {
  KvCache::Storage* cache = nullptr;
  std::span<const Token> tokens;     ///< at least one
  std::span<const RowLabel> labels;  ///< one per token
  const Segments* segments = nullptr;
};

/// Memory layout of caches.
struct CacheForm {
  bool key_panels = false;  ///< keys in panels: [kv_heads, capacity / 32, head_dim / 2, 32, 2]
  /// kernels read whole blocks of slots, so unwritten slots must be finite
  bool whole_blocks = false;
};

/// Computes a network's passes. There are three kinds: libtorch's operations (plain), the CPU's own
/// kernels on packed weights (packed), and the GPU's own attention kernels with recorded steps
/// (CUDA). All follow the same visibility rule; they differ in speed and in rounding. No function
/// is called once per row: `layers` is called once per pass, and the functions of the heads once
/// per head for a few hundred rows at a time.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The last layer's output for the new rows of all sequences, in their order, [n, hidden]. Writes
  /// the rows' keys and values after the last slots of the caches. REQUIRES: at least one row.
  virtual at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                            const SkippedSublayers& skipped) = 0;

  /// The input of the heads: `rows` [m, hidden] after the network's final norm.
  virtual at::Tensor final_norm(const Model::Network& network, const at::Tensor& rows) const = 0;
  /// The input of one head's matrix, from the output of `final_norm`. For head 0, the network's
  /// own, this is `normed` itself. For an extra head h > 0, this is the output of the head's
  /// residual blocks.
  virtual at::Tensor residual(const Model::Network& network, const at::Tensor& normed,
                              int head) const = 0;
  /// Logits [m, vocab] of a head, from the output of `residual`. REQUIRES: head 0, or a head with
  /// its own matrix.
  virtual at::Tensor logits(const Model::Network& network, const at::Tensor& rows,
                            int head) const = 0;

  virtual CacheForm cache_form() const { return {}; }
  /// Whether passes add their times to Network::profile.
  virtual bool profiles() const { return false; }
};

/// The backend for a loaded network, chosen by its device and options. The backend may take over
/// the network's weights and store them in another form.
std::shared_ptr<Backend> choose_backend(Model::Network& network);

}  // namespace pardec
