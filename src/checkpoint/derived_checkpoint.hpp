#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pardec {

/// Writes a checkpoint to `out`: the network in `base` with the adapter in `adapter` merged into
/// its weights, and the extra heads (extra_heads_file). The other files (tokenizer, chat template,
/// wordings, training record) are the adapter's; those that the adapter lacks are the network's.
/// ConfigError: `out` already contains a model. ModelError, RunError.
void merge_checkpoint(const std::filesystem::path& base, const std::filesystem::path& adapter,
                      const std::filesystem::path& out);

/// Writes a checkpoint to `out` with the first `layers` layers of the one in `base`, and its
/// embedding, last norm and head: a draft network, to be trained on answers of the whole network.
/// ConfigError: `base` does not have more layers, or `out` already contains a model. ModelError,
/// RunError.
void first_layers(const std::filesystem::path& base, int layers, const std::filesystem::path& out);

/// Special tokens to be added to a network.
struct NewTokens {
  /// texts of new tokens; they get ids after the tokenizer's last id, and random rows that depend
  /// on `seed`
  std::vector<std::string> added;
  /// Unused tokens and their new texts; ids and rows are kept.
  std::vector<std::pair<std::string, std::string>> renamed;
  std::uint64_t seed = 1;
};

/// Writes a checkpoint to `out`: the one in `base` with these tokens. ConfigError: a text to add is
/// already a token, a token to rename does not exist or is used (end of sequence, chat template),
/// or `out` already contains a model. ModelError, RunError.
void add_tokens(const std::filesystem::path& base, const NewTokens& tokens,
                const std::filesystem::path& out);

/// Copies a checkpoint's JSON files, chat template and wordings, except those in `but`, overwriting
/// existing files. RunError.
void copy_beside_weights(const std::filesystem::path& from, const std::filesystem::path& to,
                         const std::set<std::string>& but);

}  // namespace pardec
