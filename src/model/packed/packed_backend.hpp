#pragma once
#include <memory>
#include <span>
#include <vector>

#include "src/kernels/kernels.hpp"
#include "src/kernels/weight_memory.hpp"
#include "src/model/backend.hpp"

namespace pardec {

/// The type in memory of the layers' matrices of a network of this type.
WeightType weight_type(Dtype dtype);

/// A network in bf16 on the CPU, in the form that the CPU's kernels stream. Every weight is stored
/// once, packed. A layer has two large products (q, k, v and gate, up) and two small ones.
/// Activations between layers are float32; they are rounded to bf16 only as inputs of products and
/// as cached keys and values. A row's result does not depend on the other rows of the pass. The
/// layers' weights may be int8 or NF4 in memory; embedding, heads, norms and biases keep their
/// type.
class PackedBackend final : public Backend {
 public:
  /// Whether there are kernels for everything that the network contains.
  static bool fits(const Model::Network& network);

  /// Packs the weights tensor by tensor and removes each from `network` when it is done. Weights
  /// are first rounded to bf16; those of layers are then quantised as the network's options say.
  /// The embedding stays in the network, in bf16, unless it is also the head. REQUIRES:
  /// fits(network); tensors of any floating type.
  static std::shared_ptr<PackedBackend> take(Model::Network& network);

  /// float32.
  at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                    const SkippedSublayers& skipped) override;
  /// bf16.
  at::Tensor final_norm(const Model::Network& network, const at::Tensor& rows) const override;
  /// bf16.
  at::Tensor residual(const Model::Network& network, const at::Tensor& normed,
                      int head) const override;
  /// float32.
  at::Tensor logits(const Model::Network& network, const at::Tensor& rows, int head) const override;

  CacheForm cache_form() const override { return {.key_panels = true}; }
  bool profiles() const override { return true; }

 private:
  /// A linear map.
  struct Map {
    PackedMatrix weights;
    std::vector<float> bias;  // padded to whole panels, or empty
  };
  /// Norms are factors (with 1 added, where the network does so), and empty if it has none there.
  struct Layer {
    std::vector<float> input_norm, post_norm;       // [hidden]
    std::vector<float> q_norm, k_norm;              // [head_dim], or of all heads together
    std::vector<float> after_attention, after_mlp;  // [hidden], before the sums
    struct Expert {
      Map gate_up, down;
    };
    Map router, shared_router;  // in bf16
    std::vector<Expert> experts;
    Map qkv, o, gate_up, down;  // gate_up and down: of the shared expert if there are experts.
                                // gate_up: alternating blocks of 16 rows of gate and 16 of up
  };
  struct ExtraHead {
    std::vector<Map> blocks;
    Map out;  // empty if it shares the network's matrix
  };
  class Packer;
  class Pass;

  /// Rows [m, inputs] bf16 -> [m, outputs] float32.
  at::Tensor multiply(const Map& map, const at::Tensor& rows) const;

  explicit PackedBackend(InstructionSet set) : kernels_(kernels(set)) {}
  /// Row `token` of the embedding as float32.
  void embed(const Model::Network& network, Token token, float* row) const;

  const Kernels& kernels_;
  WeightMemory memory_;
  std::vector<Layer> layers_;
  std::vector<float> final_norm_;
  float embedding_scale_ = 1;
  Map head_;
  std::vector<ExtraHead> extra_heads_;
};

}  // namespace pardec
