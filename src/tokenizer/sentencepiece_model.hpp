#pragma once
#include <filesystem>

#include "src/support/json.hpp"

namespace pardec {

inline constexpr const char* kSentencePieceModel = "tokenizer.model";

/// The content of a tokenizer.json that is equivalent to a model of SentencePiece (Kudo and
/// Richardson 2018, arXiv:1808.06226). The model may be BPE or unigram; it is converted as in
/// transformers. Control pieces, such as </s>, become special tokens, so they are also found in
/// texts. If special tokens are requested, texts begin with the model's bos piece, unless
/// `add_bos_token` is false in the tokenizer_config.json next to the file; and texts end with the
/// model's eos piece if `add_eos_token` is true there. ModelError: the file is not a SentencePiece
/// model, or the model is not supported (it is neither BPE nor unigram, or escape_whitespaces is
/// false). DataError: the file or tokenizer_config.json cannot be read, or tokenizer_config.json is
/// not JSON. ConfigError: tokenizer_config.json is not an object.
Json sentencepiece_tokenizer(const std::filesystem::path& file);

}  // namespace pardec
