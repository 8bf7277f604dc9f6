#pragma once
#include <filesystem>

#include "src/support/json.hpp"

namespace pardec {

inline constexpr const char* kSentencePieceModel = "tokenizer.model";

/// The content of a tokenizer.json that is equivalent to a model of SentencePiece (Kudo and
/// Richardson 2018, arXiv:1808.06226). The model may be BPE or unigram; it is converted as in
/// transformers. Control pieces, such as </s>, become special tokens, so they are also found in
/// texts. Texts begin with the model's bos piece, unless `add_bos_token` in tokenizer_config.json
/// beside the file is false. Texts end with the model's eos piece if `add_eos_token` there is true.
/// ModelError: the file is no such model, or the model is not supported (another kind, or
/// escape_whitespaces is false). DataError: the file or tokenizer_config.json cannot be read, or
/// tokenizer_config.json is not JSON. ConfigError: tokenizer_config.json is not an object.
Json sentencepiece_tokenizer(const std::filesystem::path& file);

}  // namespace pardec
