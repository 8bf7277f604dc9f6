#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/reproduction/scratch.hpp"

/// Dry runs: an item is reproduced from its first to its last step on two examples of each dataset,
/// with small networks of the same families, so that a run with the true ones meets nothing new.
namespace pardec {

/// A network of a scale, and the one that stands for it.
struct RehearsedNetwork {
  std::string label, folder;  ///< as the scale names them
  bool there = false;         ///< whether the folder exists
  std::string shape;          ///< config of its shape; empty: an adapter, or its shape is not known
  std::int64_t parameters = 0;  ///< of the true network; 0: not known
  std::int64_t bytes = 0;       ///< of its weights in the scale's type
};

/// An arm of a scale on one dataset.
struct RehearsedArm {
  std::string dataset, label, decoder, network;
  Json options;
  std::int64_t batch_size = 1;
  std::string oracle;  ///< what was forced; empty: nothing
  std::int64_t answers = 0, failed = 0;
  std::string lacks;  ///< why it did not run; empty: it ran
};

/// What a dry run did.
struct Rehearsal {
  std::unique_ptr<PaperItem> item;  ///< with the scale as it was run
  std::string scale;
  std::int64_t limit = 0;  ///< examples of each dataset in the true run; 0: all
  std::vector<RehearsedNetwork> networks;
  std::vector<RehearsedArm> arms;
  Reproduction result;
};

/// Makes dry runs in a scratch folder. Networks of one shape are made once, and what items share is
/// run once.
class Rehearsals {
 public:
  /// Of the options, those that say what to run count: scale, data, types, networks. Networks are
  /// synthesised from the config of a scale's `shapes`, otherwise of the network's folder, with two
  /// small layers, the quickstart tokenizer and control tokens; adapters are left out. Where a
  /// decoder can be forced, answers are. Errors as reproduce().
  Rehearsal of(const PaperItem& item, const ReproduceOptions& options);

 private:
  /// The folder of the network of this shape.
  std::string network(const std::string& config);

  Scratch scratch_{"pardec-dry-run"};
  std::map<std::string, std::string> made_;  // folders by config
};

}  // namespace pardec
