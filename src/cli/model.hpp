#pragma once
// Shared by the actions of `pardec model`.
#include <cstdint>
#include <string>
#include <vector>

#include "src/cli/common_flags.hpp"
#include "src/model/files/parameters.hpp"

namespace pardec {

/// The flags of all actions; src/cli/flags.md explains them.
struct ModelVerbFlags {
  std::string action, folder, config, tokenizer, adapter, out, format = "text";
  std::string revision, file, progress = "auto";
  DownloadOptions download;
  std::vector<std::string> tokens, rename;
  int layers = 0;
  std::uint64_t seed = 1;
  ExtraHeadShape heads;
  bool weights = false;
};

/// Prints a description of the checkpoint in flags.folder. With flags.weights, also reads all
/// weights, and returns exit code 1 if a weight is not finite. Otherwise returns 0. Errors: see
/// parse_table_format, read_model_config, Adapter::load and check_weights.
int inspect_model(const ModelVerbFlags& flags);
/// Prints the table of supported model families. Returns exit code 0. Errors: see
/// parse_table_format.
int list_families(const std::string& format);
// Each of the next four functions derives a checkpoint from the checkpoint in flags.folder, writes
// the new checkpoint to flags.out, and returns exit code 0. ConfigError: a flag that the action
// needs is missing or invalid.

/// `merge`: merges flags.adapter into the network. Other errors: see merge_checkpoint.
int merge_model(const ModelVerbFlags& flags);
/// `draft`: keeps the first flags.layers layers. Other errors: see first_layers.
int make_draft(const ModelVerbFlags& flags);
/// `add-tokens`: adds or renames special tokens. Other errors: see add_tokens.
int give_tokens(const ModelVerbFlags& flags);
/// `convert`: reads weights in PyTorch's pickle format, and writes these weights as safetensors.
/// Other errors: see convert_pickled_weights.
int convert_model(const ModelVerbFlags& flags);

/// Fetches a network from the Hub into the cache, prints a table of its files, and returns exit
/// code 0. Here, flags.folder is the network's name, ORG/NAME[@REVISION]. ConfigError: the name,
/// the revision or another flag is invalid. Other errors: see fetch_from_hub.
int fetch_model(const ModelVerbFlags& flags);

}  // namespace pardec
