#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/support/gguf.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// The content of a tokenizer.json that is equivalent to the tokenizer in a GGUF file's metadata.
/// Supported models are `gpt2` (BPE over bytes, with the pre-tokenizers of a table) and `llama`
/// (SentencePiece's BPE). ModelError: the model or pre-tokenizer is not supported, or a list is
/// missing or inconsistent.
Json gguf_tokenizer(const Gguf& gguf);

/// (name, text) of `bos_token`, `eos_token`, `unk_token` and `pad_token`, as far as the metadata
/// has them. ModelError: the id of one of them is not in the vocabulary.
std::vector<std::pair<std::string, std::string>> gguf_named_tokens(const Gguf& gguf);

/// The file that a model's tokenizer is read from: the GGUF file (see gguf_file); or, in the folder
/// `model`, tokenizer.json or otherwise tokenizer.model. None: the model has none of them.
std::optional<std::filesystem::path> tokenizer_file(const std::filesystem::path& model);

}  // namespace pardec
