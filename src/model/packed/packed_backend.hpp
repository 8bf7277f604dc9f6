#pragma once
#include <memory>
#include <span>
#include <vector>

#include "src/kernels/kernels.hpp"
#include "src/kernels/weight_memory.hpp"
#include "src/model/backend.hpp"

namespace pardec {

struct Norm;

/// The type in which PackedBackend stores the layers' matrices of a network of this dtype: int8 for
/// int8, nf4 for nf4, otherwise bf16. (With gguf, the matrices that keep the file's blocks have
/// other types, see packed_type.)
WeightType weight_type(Dtype dtype);

/// Computes a bf16 network with the CPU kernels. Every weight is stored once, packed in the order
/// in which the kernels read it. A layer without experts has four matrix products: q, k and v
/// together; o; gate and up together; down. Activations are float32. They are rounded to bf16 only
/// as inputs of products and as cached keys and values. A row's result does not depend on the other
/// rows of the pass. The layers' matrices may be int8 or NF4 in memory; embedding, heads, norms,
/// routers and biases are not quantised.
/// The matrices of a GGUF file, including embedding and head, may keep the file's blocks.
class PackedBackend final : public Backend {
 public:
  /// Whether the kernels support the network's type, its device and all of its parts.
  static bool fits(const Model::Network& network);

  /// Packs the weights one tensor after another, and removes each packed tensor from `network`.
  /// Weights are first rounded to bf16. If the network's dtype is int8 or nf4, the layers' matrices
  /// are then quantised. Matrices in blocks (stored_blocks.hpp) keep their numbers. An embedding in
  /// bf16 stays in the network, unless it is also the head. The tensors may have any floating-point
  /// type. RunError: there is not enough memory. REQUIRES: fits(network).
  static std::shared_ptr<PackedBackend> take(Model::Network& network);

  /// Returns float32.
  at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                    const SkippedSublayers& skipped) override;
  /// Returns bf16.
  at::Tensor final_norm(const Model::Network& network, const at::Tensor& rows) const override;
  /// Returns bf16.
  at::Tensor residual(const Model::Network& network, const at::Tensor& normed,
                      int head) const override;
  /// Returns float32.
  at::Tensor logits(const Model::Network& network, const at::Tensor& rows, int head) const override;

  CacheForm cache_form() const override { return {.key_panels = true}; }
  bool profiles() const override { return true; }

 private:
  /// A linear map.
  struct Map {
    PackedMatrix weights;
    std::vector<float> bias;  // padded to whole panels, or empty
  };
  /// A norm before a sublayer, after one, or of queries and keys.
  struct Norm {
    std::vector<float> factors;  // weights, plus 1 with norm_adds_one; empty: there is no norm
    std::vector<float> bias;     // or empty
  };
  struct Layer {
    Norm input_norm, post_norm;       // [hidden]
    Norm q_norm, k_norm;              // as in pardec::Layer
    std::vector<float> sinks;         // [heads], or empty
    Norm after_attention, after_mlp;  // [hidden], applied before the residual sums
    struct Expert {
      Map gate_up, down;
    };
    Map router, shared_router;  // in bf16
    std::vector<Expert> experts;
    std::vector<Map> qkv;  // q, k and v stacked; matrices of different types apart
    Map o, gate_up, down;  // gate_up and down: in a layer with experts, of the shared expert, or
                           // empty. gate_up: alternating blocks of 16 rows of gate and 16 of up;
                           // only up in an MLP without a gate
  };
  struct ExtraHead {
    std::vector<Map> blocks;
    Map out;  // empty if the head shares the matrix of the network's own head
  };
  class Packer;
  class Pass;

  /// Rows [m, inputs] bf16 -> [m, outputs] float32.
  at::Tensor multiply(const Map& map, const at::Tensor& rows) const;

  static Norm norm_of(const pardec::Norm& norm, const ModelConfig& config);
  /// One row after the norm, [hidden] bf16; without a norm, only rounded.
  void norm_row(const Norm& norm, const ModelConfig& config, const float* x,
                std::uint16_t* out) const;

  explicit PackedBackend(InstructionSet set) : kernels_(kernels(set)) {}
  /// Fills the members below except memory_. A packer without memory only counts bytes, and leaves
  /// the network as it is.
  void pack(Model::Network& network, Packer& packer);
  /// The first layer's input: the row of the token in the embedding, plus the row of the position
  /// if there are such rows.
  void embed(const Model::Network& network, Token token, int position, float* row) const;

  const Kernels& kernels_;
  WeightMemory memory_;
  std::vector<Layer> layers_;
  Norm final_norm_;
  float embedding_scale_ = 1;
  Map embedding_;  // empty: the network has the embedding, or it is the head
  Map head_;
  std::vector<ExtraHead> extra_heads_;
};

}  // namespace pardec
