#pragma once
// What the actions of `pardec model` share.
#include <cstdint>
#include <string>
#include <vector>

#include "src/model/files/parameters.hpp"

namespace pardec {

struct ModelVerbFlags {
  std::string action, folder, config, tokenizer, adapter, out, format = "text";
  std::vector<std::string> tokens, rename;
  int layers = 0;
  std::uint64_t seed = 1;
  ExtraHeadShape heads;
  bool weights = false;
};

/// Prints what a checkpoint is; exit code 1 where weights are not finite.
int inspect_model(const ModelVerbFlags& flags);
/// Each makes a checkpoint of another; exit code.
int merge_model(const ModelVerbFlags& flags);
int make_draft(const ModelVerbFlags& flags);
int give_tokens(const ModelVerbFlags& flags);

}  // namespace pardec
