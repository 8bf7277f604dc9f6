#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/reproduction/scratch.hpp"

/// Dry runs of `reproduce`: all steps for an item are run on two examples of each dataset, with
/// small random networks of the same families. Problems appear before the real networks are run.
/// The measured numbers mean nothing.
namespace pardec {

/// A network of a scale, and the small network that replaces it.
struct RehearsedNetwork {
  /// Label and folder of the real network. The folder is taken from ReproduceOptions::models, or
  /// otherwise from the scale. Empty folder: the scale names none.
  std::string label, folder;
  bool there = false;  ///< whether the folder exists and has a completely trained network
  /// path of a config file with the network's shape; empty: the shape is unknown, or the network is
  /// used only as an adapter
  std::string shape;
  std::int64_t parameters = 0;  ///< parameters of the real network; 0: unknown
  /// size of the real network's weights in bytes, in the dtype of ReproduceOptions or, if that is
  /// empty, of the scale; 0: unknown
  std::int64_t bytes = 0;
};

/// An arm of a scale on one dataset.
struct RehearsedArm {
  std::string dataset, label, decoder;
  std::string network;  ///< label of its network (RehearsedNetwork::label)
  Json options;         ///< the arm's options, without batch_size and oracle
  std::int64_t batch_size = 1;
  std::string oracle;  ///< the arm's oracle; empty: none
  /// number of all answers, and number of failed answers
  std::int64_t answers = 0, failed = 0;
  std::string lacks;  ///< why the arm did not run; empty: it ran
};

/// The result of a dry run.
struct Rehearsal {
  std::unique_ptr<PaperItem> item;  ///< the item, with the scale as it was run
  std::string scale;
  std::int64_t limit = 0;  ///< number of examples of each dataset in the real run; 0: all
  std::vector<RehearsedNetwork> networks;
  std::vector<RehearsedArm> arms;
  Reproduction result;
};

/// Performs dry runs in a temporary folder. Each network shape is synthesised once, and work that
/// several items share is run once.
class Rehearsals {
 public:
  /// Performs the dry run of an item. The run has its own database, and asks no judge and no
  /// service. The options `db`, `judge`, `effort` and `errors_lack` are ignored. `limit` does not
  /// change the dry run; it is only copied to Rehearsal::limit. Errors of the run are thrown: see
  /// reproduce() and load_dataset.
  ///
  /// A network is synthesised from the config in the scale's `shapes`, or from the config in the
  /// network's folder (RehearsedNetwork::folder). The network has two small layers, the quickstart
  /// tokenizer and control tokens; adapters are left out. An arm without an oracle gets one, if its
  /// decoder supports it: `references`, which forces the answers (not for open prompts), otherwise
  /// `accept:0.8`, which decides which guesses are accepted.
  Rehearsal of(const PaperItem& item, const ReproduceOptions& options);

 private:
  /// The folder of the synthesised network for a config file. Creates the network if necessary.
  std::string network(const std::string& config);

  Scratch scratch_{"pardec-dry-run"};
  std::map<std::string, std::string> made_;  // config file -> folder
};

}  // namespace pardec
