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

/// Prints a description of a checkpoint. Returns exit code 1 if the weights were read
/// (flags.weights) and some are not finite, otherwise 0.
int inspect_model(const ModelVerbFlags& flags);
/// Prints the table of supported families.
int list_families(const std::string& format);
/// Each function writes a new checkpoint derived from another one, and returns the exit code.
int merge_model(const ModelVerbFlags& flags);
int make_draft(const ModelVerbFlags& flags);
int give_tokens(const ModelVerbFlags& flags);
/// Makes safetensors of a checkpoint with pickled weights.
int convert_model(const ModelVerbFlags& flags);
/// Fetches a network from the Hub into the cache.
int fetch_model(const ModelVerbFlags& flags);

}  // namespace pardec
