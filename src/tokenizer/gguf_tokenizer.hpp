#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/support/gguf.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// The tokenizer.json that a GGUF file's metadata stand for. Models: `gpt2` (BPE over bytes, with
/// the pre-tokenizers of a table) and `llama` (SentencePiece's BPE). ModelError: another model or
/// pre-tokenizer, by name, or a missing or inconsistent list.
Json gguf_tokenizer(const Gguf& gguf);

/// `bos_token`, `eos_token`, ... and their texts.
std::vector<std::pair<std::string, std::string>> gguf_named_tokens(const Gguf& gguf);

/// The file that a model's tokenizer is read from: its GGUF file, or tokenizer.json in its folder.
/// Nothing: the model has no tokenizer.
std::optional<std::filesystem::path> tokenizer_file(const std::filesystem::path& model);

}  // namespace pardec
