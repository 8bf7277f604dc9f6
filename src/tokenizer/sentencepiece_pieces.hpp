#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// The pieces of a SentencePiece model or of a GGUF file's tokenizer, by id. The texts are views
/// into the bytes of the file.
struct SentencePieces {
  /// The kinds of pieces, with the numbers that SentencePiece and ggml give them.
  enum Kind : std::int64_t { normal = 1, unknown, control, user_defined, unused, byte };

  std::vector<std::string_view> texts;
  std::vector<std::int64_t> kinds;
  std::vector<double> scores;  ///< empty, or one for each piece
};

// Parts of an equivalent tokenizer.json. `where` is the place of the pieces, for errors.

/// The vocabulary as a JSON object {token: id, ...}, without unused pieces. ModelError: two pieces
/// have the same text.
Json vocabulary_json(const SentencePieces& pieces, const std::string& where);
/// The array `added_tokens`: control pieces and the unknown piece as special tokens, and
/// user-defined pieces as tokens that are not special.
Json added_json(const SentencePieces& pieces);
/// The merges of SentencePiece's BPE. Two pieces form a merge if their concatenation is a third
/// piece, the joined piece. Only normal and user-defined pieces take part, and the joined piece has
/// at most 1,024 bytes. Merges are sorted by the score of the joined piece, the highest first.
/// Merges with the same score are in the order of the ids of the joined piece, the left piece and
/// the right piece, as in the tokenizer.json of Llama 2. ModelError: a score is NaN. REQUIRES: the
/// pieces have scores.
Json merges_json(const SentencePieces& pieces, const std::string& where);
/// The model of a tokenizer.json for SentencePiece's BPE. `unknown`: the text of the unknown piece;
/// null: there is none. `byte_fallback`: whether characters that are not in the vocabulary become
/// bytes; otherwise they become the unknown piece. Errors and REQUIRES: see vocabulary_json and
/// merges_json.
Json bpe_json(const SentencePieces& pieces, const Json& unknown, bool byte_fallback,
              const std::string& where);
/// A decoder that replaces "▁" by spaces and byte pieces by their bytes, and joins the pieces of an
/// answer. `prefix`: whether texts begin with a dummy space, which the decoder then removes.
Json decoder_json(bool prefix);
/// A JSON array of one or two normalizers. If `prefix` is true, the first normalizer puts a dummy
/// space before the text. The last normalizer replaces all spaces by "▁".
Json spaces_json(bool prefix);

}  // namespace pardec
