#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pardec {

/// Makes `out` a checkpoint: the network in `base` as the adapter in `adapter` changes it, with its
/// extra heads (extra_heads_file), and the files that stand beside the adapter (tokenizer, chat
/// template, wordings, record of its training), else those beside the network. ConfigError: `out`
/// holds something already; ModelError, RunError.
void merge_checkpoint(const std::filesystem::path& base, const std::filesystem::path& adapter,
                      const std::filesystem::path& out);

/// Makes `out` a checkpoint of the first `layers` layers of that in `base`, with its embedding,
/// last norm and head: a draft network, which is then trained on the answers of the whole.
/// ConfigError: it has no more layers, or `out` holds something already; ModelError, RunError.
void first_layers(const std::filesystem::path& base, int layers, const std::filesystem::path& out);

/// Special tokens that a network gets.
struct NewTokens {
  std::vector<std::string> added;  ///< get ids behind the tokenizer's, and rows drawn by `seed`
  /// Tokens that nothing uses, and what they are called from now on; ids and rows stay.
  std::vector<std::pair<std::string, std::string>> renamed;
  std::uint64_t seed = 1;
};

/// Makes `out` a checkpoint: that in `base` with these tokens. ConfigError: a text that is a token
/// already, one that is none or is used (end of sequence, chat template), or `out` holds something
/// already; ModelError, RunError.
void add_tokens(const std::filesystem::path& base, const NewTokens& tokens,
                const std::filesystem::path& out);

/// Copies a checkpoint's JSON files, chat template and wordings, but for those named, over what is
/// there. RunError.
void copy_beside_weights(const std::filesystem::path& from, const std::filesystem::path& to,
                         const std::set<std::string>& but);

}  // namespace pardec
