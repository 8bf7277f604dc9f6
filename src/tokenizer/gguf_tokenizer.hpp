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
/// Supported models (`tokenizer.ggml.model`) are `llama` (SentencePiece's BPE) and `gpt2` (BPE over
/// bytes). With `gpt2`, supported pre-tokenizers (`tokenizer.ggml.pre`) are gpt-2, smollm,
/// llama-bpe, gpt-4o and qwen2. ModelError: the model or pre-tokenizer is not supported; two tokens
/// are equal; or an entry of the metadata is missing, has another type, or does not fit the other
/// entries.
Json gguf_tokenizer(const Gguf& gguf);

/// Pairs (name, text) for `bos_token`, `eos_token`, `unk_token` and `pad_token`. A name is left out
/// if the metadata do not give its id. ModelError: the id of one of these tokens is not in the
/// vocabulary, or an entry of the metadata has another type.
std::vector<std::pair<std::string, std::string>> gguf_named_tokens(const Gguf& gguf);

/// The file from which a model's tokenizer is read: the GGUF file (see gguf_file); otherwise, in
/// the folder `model`, tokenizer.json or tokenizer.model. None: the model has none of these files.
std::optional<std::filesystem::path> tokenizer_file(const std::filesystem::path& model);

}  // namespace pardec
