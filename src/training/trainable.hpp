#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/model/adapter.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/model.hpp"
#include "src/support/json.hpp"
#include "src/training/training_sample.hpp"

namespace at {
class Tensor;
}

namespace pardec {

/// The targets at one row of a sample: the i-th token is the target of the i-th loss.
struct RowTargets {
  int row = 0;
  Tokens tokens;
};

/// Per loss: Per loss: the share of targets that equal the best guess of this loss's head, its
/// second-best guess, and so on, its second-best guess, and so on.
using GuessRanks = std::vector<std::vector<double>>;

/// Defines what is trained: the weights and their initial values, the losses, and the exported
/// files. It is a description without tensors, and is used by several threads at once. A Trainer
/// holds the masters, the computing weights and the optimiser.
///
/// A new kind is one more file.
class Trainable {
 public:
  explicit Trainable(ModelConfig config) : config_(std::move(config)) {}
  virtual ~Trainable() = default;
  const ModelConfig& config() const { return config_; }

  // ---- weights ----

  /// The trained weights, in the order of masters and gradients.
  virtual std::vector<Parameter> parameters() const = 0;
  /// The initial value of a trained weight, of any floating type. `weights`: the network's, by
  /// checkpoint name; the result may share their memory.
  virtual at::Tensor begin(const Parameter& parameter,
                           const std::map<std::string, at::Tensor>& weights) const = 0;
  /// The network that computes with the trained weights. `weights`: the trained ones, and those of
  /// the network that are not trained, by name, all of one type. Their memory is shared.
  virtual std::unique_ptr<Model::Network> network(
      const std::map<std::string, at::Tensor>& weights) const = 0;

  // ---- losses; by default a single one, of the network's own head ----

  struct Loss {
    std::string name;   ///< for display; empty if it is the only loss
    double weight = 1;  ///< factor of its mean in the total loss
  };
  virtual std::vector<Loss> losses() const { return {Loss{}}; }
  /// The rows of a sample that have a target for some loss. A row with a target for loss i has
  /// targets for all losses before i. By default the sample's targets.
  virtual std::vector<RowTargets> targets(const TrainingSample& sample) const;
  /// Differentiable logits [n, vocab] of the rows that have a target for loss `loss`. `network`:
  /// made by `network`; `head_inputs` [n, hidden]: the inputs of its heads for these rows.
  virtual at::Tensor logits(const Model::Network& network, size_t loss,
                            const at::Tensor& head_inputs) const;

  // ---- exported files ----

  /// The file for a tensor of `exported`, in the folder of the run.
  virtual std::string file(const std::string& name) const = 0;
  /// Whether the files are additions to the checkpoint that the run started from. If so, the
  /// checkpoint's weights are not trained, and are held once, in the computing type. Otherwise the
  /// files contain the network's weights.
  virtual bool beside_network() const = 0;
  /// The tensors to write, in this order. `weights`: the network's initial weights. By default the
  /// masters, by their names.
  virtual std::vector<std::pair<std::string, at::Tensor>> exported(
      const std::map<std::string, at::Tensor>& weights,
      std::vector<std::pair<std::string, at::Tensor>> masters) const;
  /// The settings that determine this Trainable, as members of the run's record.
  virtual OrderedJson settings() const = 0;

 private:
  ModelConfig config_;
};

/// Number of trained parameters.
std::int64_t parameter_count(const Trainable& what);

/// Trains all weights of the network, starting from the given ones, with the loss of its own head.
std::unique_ptr<Trainable> whole_network(const ModelConfig& config);

/// Random float32 weights for training a network from scratch. Matrices and the embedding: normal
/// with deviation initializer_range; matrices that write into the residual stream (outputs of
/// attention and MLP): smaller by sqrt(2 * layers) (GPT-2's recipe). Norms 1, biases 0. Each weight
/// has its own seed.
std::map<std::string, at::Tensor> initial_weights(const ModelConfig& config, std::uint64_t seed);

/// The files that the weights are written to.
std::set<std::string> files_of(const Trainable& what);

/// Extra heads over a network that is frozen (Medusa-1), or that is trained at the same time, as
/// described by `network` (Medusa-2). Initialised as by Medusa's authors: blocks are zero and
/// change nothing; a head's own matrix is a copy of the network's head. The loss of head h counts
/// 0.8^h, h from 1 (arXiv:2401.10774, section 2.2.1). If the network is frozen, the heads share no
/// trained weight, and AdamW's steps do not depend on a loss's scale; then this factor only affects
/// how the heads share the limit of the gradients' norm. If the network is trained too, these
/// losses count a fifth (section 2.2.2).
std::unique_ptr<Trainable> extra_heads(const ModelConfig& config, const ExtraHeadShape& shape,
                                       std::unique_ptr<Trainable> network = nullptr);

/// A low-rank adapter over a frozen network. Initially it changes no output, except for
/// tokens with equal rows: A is uniform within 1 / sqrt(in), by seed and name, as in peft; B is 0;
/// rows of tokens are the network's, but tokens with (almost) equal rows get random ones. Weights
/// contained in `start` begin from there instead. Written in peft's format. ConfigError: the
/// network does not have a matrix that `shape.targets` names.
std::unique_ptr<Trainable> low_rank_adapter(const ModelConfig& config, const AdapterShape& shape,
                                            std::uint64_t seed,
                                            const std::optional<Adapter>& start = {});

}  // namespace pardec
