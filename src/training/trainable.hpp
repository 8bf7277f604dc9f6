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

/// The targets of one row of a sample: tokens[i] is the target of loss i.
struct RowTargets {
  int row = 0;
  Tokens tokens;
};

/// How good the guesses of each head are. Entry [i][r] is the share of the targets of loss i that
/// equal the token with rank r among the guesses of this loss's head. Rank 0 is the most probable
/// token; the highest rank is 31.
using GuessRanks = std::vector<std::vector<double>>;

/// Defines what is trained: the weights and their initial values, the losses, and the exported
/// files. A Trainable contains no tensors, and several threads use it at once. A Trainer holds the
/// master weights, the computing weights and the optimiser.
///
/// Each kind of training is a subclass in a separate file.
class Trainable {
 public:
  explicit Trainable(ModelConfig config) : config_(std::move(config)) {}
  virtual ~Trainable() = default;
  const ModelConfig& config() const { return config_; }

  // ---- weights ----

  /// The trained weights, in the order of master weights and gradients.
  virtual std::vector<Parameter> parameters() const = 0;
  /// The initial value of a trained weight, in any floating-point type. `weights`: the network's
  /// weights by checkpoint name; the result may share their memory.
  virtual at::Tensor begin(const Parameter& parameter,
                           const std::map<std::string, at::Tensor>& weights) const = 0;
  /// Creates the network that computes with the trained weights. `weights`: the trained weights,
  /// and the network's other weights, by name and in one type. The network shares their memory.
  virtual std::unique_ptr<Model::Network> network(
      const std::map<std::string, at::Tensor>& weights) const = 0;

  // ---- losses; by default only the loss of the network's language-modelling head ----

  /// One of the losses. The total loss is the weighted sum of all losses.
  struct Loss {
    std::string name;   ///< for display; empty if it is the only loss
    double weight = 1;  ///< factor of this loss in the total loss
  };
  virtual std::vector<Loss> losses() const { return {Loss{}}; }
  /// The rows of a sample with a target for at least one loss. A row with a target for loss i has
  /// targets for all losses before i. By default, these are the rows in TrainingSample::targets,
  /// with targets for loss 0 only.
  virtual std::vector<RowTargets> targets(const TrainingSample& sample) const;
  /// Differentiable logits [n, vocab] for loss `loss`. `network`: a result of network().
  /// `head_inputs` [n, hidden]: the inputs of the network's heads, for the rows with a target for
  /// this loss.
  virtual at::Tensor logits(const Model::Network& network, size_t loss,
                            const at::Tensor& head_inputs) const;

  // ---- exported files ----

  /// The name of the file, in the folder of the run, to which the tensor `name` of exported() is
  /// written.
  virtual std::string file(const std::string& name) const = 0;
  /// True: the files are additions to the checkpoint from which the run started. The checkpoint's
  /// weights are not trained, and are in memory once, in the computing type. False: the files
  /// contain the network's weights.
  virtual bool beside_network() const = 0;
  /// The tensors to write, in this order. `weights`: the network's initial weights. Default: the
  /// master weights, by name, in the form that checkpoints have (Parameter::transposed).
  virtual std::vector<std::pair<std::string, at::Tensor>> exported(
      const std::map<std::string, at::Tensor>& weights,
      std::vector<std::pair<std::string, at::Tensor>> masters) const;
  /// The settings of this Trainable, for the run's record.
  virtual OrderedJson settings() const = 0;

 private:
  ModelConfig config_;
};

/// Number of elements of all trained weights.
std::int64_t parameter_count(const Trainable& what);

/// A Trainable that trains all weights of the network. The initial values are the `weights` of the
/// Trainer's constructor. The loss is that of the network's language-modelling head.
std::unique_ptr<Trainable> whole_network(const ModelConfig& config);

/// Random float32 weights for training a network from scratch, as in GPT-2. Matrices and the
/// embedding are normal with standard deviation initializer_range, which is divided by sqrt(2 *
/// layers) for matrices that write into the residual stream (outputs of attention and MLP). Norms
/// are 1 (0 in families that add 1 to a norm's weight), biases 0. Each weight has its own seed,
/// derived from `seed` and its name. ConfigError: initializer_range is not a positive finite
/// number.
std::map<std::string, at::Tensor> initial_weights(const ModelConfig& config, std::uint64_t seed);

/// The names of all files with exported weights.
std::set<std::string> files_of(const Trainable& what);

/// A Trainable that trains extra heads. If `network` is null, the network is frozen (Medusa-1).
/// Otherwise the network is trained at the same time, as `network` describes (Medusa-2). REQUIRES:
/// `network` is null, or it has one loss and its beside_network() is true, as for a
/// low_rank_adapter(). The initial values are those of Medusa's authors. A head's residual blocks
/// are zero, and so change nothing. A head's own output matrix is a copy of the network's head. The
/// loss of head h has weight 0.8^h, h from 1 (arXiv:2401.10774, section 2.2.1). If the network is
/// trained too, these weights are multiplied by 0.2 (section 2.2.2). If the network is frozen, the
/// heads have no trained weight in common, and AdamW's steps do not depend on the scale of a loss;
/// the weights then only matter for the clipping of gradients.
std::unique_ptr<Trainable> extra_heads(const ModelConfig& config, const ExtraHeadShape& shape,
                                       std::unique_ptr<Trainable> network = nullptr);

/// A Trainable that trains a low-rank adapter of a frozen network, and exports it in peft's format.
/// Initial values, unless `start` contains the weight: A is uniform in +-1 / sqrt(in), where `in`
/// is the matrix's number of inputs, as in peft; its random numbers depend on `seed` and on the
/// weight's name. B is 0. The rows of shape.tokens in embedding and head are copies of the
/// network's rows, except that tokens with (almost) equal rows begin with random rows. Thus the
/// adapter initially changes no output except for these tokens. `start`: an adapter to continue,
/// which must have the shape `shape`; none: a new adapter. ConfigError: the network has no matrix
/// with a name in shape.targets.
std::unique_ptr<Trainable> low_rank_adapter(const ModelConfig& config, const AdapterShape& shape,
                                            std::uint64_t seed,
                                            const std::optional<Adapter>& start = {});

}  // namespace pardec
