#pragma once
// What the actions of `pardec model` share.
#include <cstdint>
#include <string>
#include <vector>

namespace pardec {

struct ModelVerbFlags {
  std::string action, folder, config, tokenizer, adapter, out, format = "md";
  std::vector<std::string> tokens, rename;
  int layers = 0;
  std::uint64_t seed = 1;
  int heads = 0, head_blocks = 1;
  bool weights = false;
};

/// Each makes a checkpoint of another; exit code.
int merge_model(const ModelVerbFlags& flags);
int make_draft(const ModelVerbFlags& flags);
int give_tokens(const ModelVerbFlags& flags);

}  // namespace pardec
