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

/// What should be chosen at a row of a sample: the i-th token is the target of the i-th loss.
struct RowTargets {
  int row = 0;
  Tokens tokens;
};

/// By loss: the share of its targets that its best guess is, its second best, and so on.
using GuessRanks = std::vector<std::vector<double>>;

/// What learns in a training run: its weights and how they begin, the losses it learns by, and what
/// is written of it. It describes and holds no tensor, and is asked from several threads at once;
/// masters, the weights that compute and the optimiser are a Trainer's.
///
/// One more is one file.
class Trainable {
 public:
  explicit Trainable(ModelConfig config) : config_(std::move(config)) {}
  virtual ~Trainable() = default;
  const ModelConfig& config() const { return config_; }

  // ---- weights ----

  /// Those that learn, in the order of masters and gradients.
  virtual std::vector<Parameter> parameters() const = 0;
  /// One of them as it begins, of any floating type. `weights`: the network's, by checkpoint name;
  /// it may share their memory.
  virtual at::Tensor begin(const Parameter& parameter,
                           const std::map<std::string, at::Tensor>& weights) const = 0;
  /// The network that computes with them. `weights`: those that learn, and of the network's those
  /// that do not, by name; all of one type. Their memory is shared.
  virtual std::unique_ptr<Model::Network> network(
      const std::map<std::string, at::Tensor>& weights) const = 0;

  // ---- losses: by default the one of the network's own head ----

  struct Loss {
    std::string name;   ///< for people; empty where it is the only one
    double weight = 1;  ///< of its mean in what is minimised
  };
  virtual std::vector<Loss> losses() const { return {Loss{}}; }
  /// The rows of a sample that some loss has a target at. A row has its targets from the first loss
  /// on, without a gap. By default as the sample has them.
  virtual std::vector<RowTargets> targets(const TrainingSample& sample) const;
  /// Logits [n, vocab] of rows that loss `loss` has a target at, differentiable. `network`: one
  /// that `network` made; `head_inputs`: what its heads read there, [n, hidden].
  virtual at::Tensor logits(const Model::Network& network, size_t loss,
                            const at::Tensor& head_inputs) const;

  // ---- what is left behind ----

  /// Where a tensor of `exported` is written, in the folder of the run.
  virtual std::string file(const std::string& name) const = 0;
  /// Whether these files go with the weights of the checkpoint that the run began from, which are
  /// what they were, and are held once, in the type that computes; else they have the network's
  /// weights.
  virtual bool beside_network() const = 0;
  /// What is written, in this order. `weights`: the network's as they were given. By default
  /// the masters, by their names.
  virtual std::vector<std::pair<std::string, at::Tensor>> exported(
      const std::map<std::string, at::Tensor>& weights,
      std::vector<std::pair<std::string, at::Tensor>> masters) const;
  /// What determines it, as members of the run's record.
  virtual OrderedJson settings() const = 0;

 private:
  ModelConfig config_;
};

/// Numbers that learn.
std::int64_t parameter_count(const Trainable& what);

/// All weights of the network, from those that are given, by the choices of its own head.
std::unique_ptr<Trainable> whole_network(const ModelConfig& config);

/// float32 weights of a network that nobody trained, random as suits training: matrices and the
/// embedding normal with deviation initializer_range, what writes into the residual stream
/// (attention's output and the MLP's) smaller by sqrt(2 * layers) (GPT-2's recipe), norms 1, biases
/// 0. Each weight has a seed of its own.
std::map<std::string, at::Tensor> initial_weights(const ModelConfig& config, std::uint64_t seed);

/// The files that its weights are written to.
std::set<std::string> files_of(const Trainable& what);

/// Extra heads over the network, which stays as it is (Medusa-1), or learns as `network` says at
/// the same time (Medusa-2). They begin as Medusa's authors begin them: blocks of zeros, which
/// change nothing, and the matrix of the network's own head, if each has one. Head h's loss counts
/// 0.8^h, h from 1 (arXiv:2401.10774, section 2.2.1; heads share no weight that learns, so it only
/// decides how they share the limit of the gradients' norm), beside the network's own losses a
/// fifth of that (section 2.2.2).
std::unique_ptr<Trainable> extra_heads(const ModelConfig& config, const ExtraHeadShape& shape,
                                       std::unique_ptr<Trainable> network = nullptr);

/// A low-rank adapter over the network, which stays as it is. It begins as nothing: A is uniform
/// within 1 / sqrt(in), by seed and name, as peft begins it, B is 0, and rows of tokens are the
/// network's; what `start` has, by name, begins so instead. It is written as peft has it.
/// ConfigError: a matrix that the network has not.
std::unique_ptr<Trainable> low_rank_adapter(const ModelConfig& config, const AdapterShape& shape,
                                            std::uint64_t seed,
                                            const std::optional<Adapter>& start = {});

}  // namespace pardec
