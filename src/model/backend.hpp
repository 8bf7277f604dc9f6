#pragma once
#include <memory>
#include <span>

#include "src/model/kv_cache.hpp"
#include "src/model/model.hpp"

namespace at {
class Tensor;
}

namespace pardec {

/// Rows that a sequence gets in one pass; the cache has room for them behind its last slot.
struct NewRows {
  KvCache::Storage* cache = nullptr;
  std::span<const Token> tokens;     ///< one at least
  std::span<const RowLabel> labels;  ///< one per token
  const Segments* segments = nullptr;
};

/// How the memory of caches is laid out.
struct CacheForm {
  bool key_panels = false;    ///< keys in panels: [kv_heads, capacity / 32, head_dim / 2, 32, 2]
  bool whole_blocks = false;  ///< whole blocks of slots are read: what nobody wrote is finite
};

/// How a network's passes are computed: by libtorch's operations (plain), on packed weights by the
/// CPU's own kernels (packed), or with attention by a GPU's own kernels and steps that are recorded
/// (CUDA). All obey the one visibility rule; they differ in time and in rounding. It is called once
/// a pass, and once for each head and each some hundred rows; never for a row.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The last layer's output for the new rows of all sequences, in their order, [n, hidden]. The
  /// rows' keys and values are written after the last slots of the caches. REQUIRES: some rows.
  virtual at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                            const SkippedSublayers& skipped) = 0;

  /// The input of the heads: `rows` [m, hidden] after the network's final norm.
  virtual at::Tensor final_norm(const Model::Network& network, const at::Tensor& rows) const = 0;
  /// The input of the matrix of one head, from the output of `final_norm`. Head 0 is the network's
  /// own: its input is `normed` itself. An extra head h > 0 has residual blocks of its own, whose
  /// output this is.
  virtual at::Tensor residual(const Model::Network& network, const at::Tensor& normed,
                              int head) const = 0;
  /// Logits [m, vocab] of a head, from the output of `residual`. REQUIRES: 0, or a head that has a
  /// matrix.
  virtual at::Tensor logits(const Model::Network& network, const at::Tensor& rows,
                            int head) const = 0;

  virtual CacheForm cache_form() const { return {}; }
  /// Whether passes tell a Network's profile where their time goes.
  virtual bool profiles() const { return false; }
};

/// The one that suits a loaded network on its device, by its options. It may take the network's
/// weights, to hold them in a form of its own.
std::shared_ptr<Backend> choose_backend(Model::Network& network);

}  // namespace pardec
