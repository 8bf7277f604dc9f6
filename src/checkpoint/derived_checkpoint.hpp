#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pardec {

/// Writes a checkpoint to `out`: the weights of the network in `base`, with the low-rank weights in
/// `adapter` merged into them, and the extra heads in `adapter`. If `adapter` has no extra heads,
/// the extra heads in `base` are used, if there are any (extra_heads_file). The other files
/// (tokenizer, chat template, wordings) are copied from the adapter, or, if the adapter does not
/// have them, from the network. The training record is copied only from the adapter. ConfigError:
/// `out` already contains a model. ModelError: an input is invalid, or `base` is a GGUF file or has
/// quantised weights. RunError: writing fails.
void merge_checkpoint(const std::filesystem::path& base, const std::filesystem::path& adapter,
                      const std::filesystem::path& out);

/// Writes a checkpoint to `out` with the first `layers` layers, the embedding, the final norm and
/// the head of the network in `base`. The other files are copied, except the training record. The
/// new checkpoint is meant as a draft network, which the user then trains on answers of the whole
/// network. ConfigError: `layers` is below 1, `base` has no more than `layers` layers, or `out`
/// already contains a model. ModelError, RunError: see merge_checkpoint.
void first_layers(const std::filesystem::path& base, int layers, const std::filesystem::path& out);

/// Special tokens to be added to a network.
struct NewTokens {
  /// Texts of new tokens. Their ids follow the tokenizer's last id; their rows in embedding and
  /// head are random and depend on `seed`.
  std::vector<std::string> added;
  /// (unused token, its new text); ids and rows stay the same.
  std::vector<std::pair<std::string, std::string>> renamed;
  std::uint64_t seed = 1;  ///< seed of the random rows
};

/// Writes a checkpoint to `out`: the checkpoint in `base` with these tokens. The training record is
/// not copied. ConfigError: a new text is empty, is already a token, or is given twice; a token to
/// rename is not a special token, or is in use (begin or end of sequence, chat template); or `out`
/// already contains a model. ModelError: `base` has no tokenizer. Other ModelErrors and RunError:
/// see merge_checkpoint.
void add_tokens(const std::filesystem::path& base, const NewTokens& tokens,
                const std::filesystem::path& out);

/// Makes the folder of a new checkpoint, unless it exists already. ConfigError: it already contains
/// a model. RunError: it cannot be made.
void make_checkpoint_folder(const std::filesystem::path& out);

/// Copies a checkpoint's JSON files, tokenizer.model, chat templates and wordings from the folder
/// `from` to the existing folder `to`. `but`: names of files, without folders, that are not copied.
/// Existing files are overwritten. RunError: a file cannot be copied.
void copy_beside_weights(const std::filesystem::path& from, const std::filesystem::path& to,
                         const std::set<std::string>& but);

}  // namespace pardec
