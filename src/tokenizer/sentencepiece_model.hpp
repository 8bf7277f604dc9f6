#pragma once
#include <filesystem>

#include "src/support/json.hpp"

namespace pardec {

inline constexpr const char* kSentencePieceModel = "tokenizer.model";

/// The content of a tokenizer.json that is equivalent to a model of SentencePiece (Kudo and
/// Richardson 2018, arXiv:1808.06226): BPE or unigram, made as transformers makes it. Control
/// pieces, such as </s>, are special tokens, which are found in texts, too. Texts begin with the
/// model's bos piece, unless `add_bos_token` in tokenizer_config.json beside the file is false, and
/// end with its eos piece if `add_eos_token` is true. ModelError: the file is no such model, or has
/// an unsupported kind. DataError: it cannot be read.
Json sentencepiece_tokenizer(const std::filesystem::path& file);

}  // namespace pardec
