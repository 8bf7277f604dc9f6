#pragma once
#include <string>
#include <variant>

#include "src/tokenizer/bpe.hpp"
#include "src/tokenizer/unigram.hpp"
#include "src/tokenizer/word_piece.hpp"

namespace pardec {

/// The model of a tokenizer.json, which divides each word into tokens.
using WordModel = std::variant<Bpe, Unigram, WordPiece>;

/// Reads the object `model` of a tokenizer.json. ConfigError, which starts with `where`: the object
/// is missing or invalid, or is a model of any other type.
inline WordModel read_word_model(const Json& json, const std::string& where) {
  if (!json.is_object())
    throw ConfigError(str(where, " is missing, expected a BPE, Unigram or WordPiece model"));
  const auto type = JsonReader(json, where).optional<std::string>("type", "BPE");
  if (type == "BPE") return Bpe(json, where);
  if (type == "Unigram") return Unigram(json, where);
  if (type == "WordPiece") return WordPiece(json, where);
  throw ConfigError(
      str(where, " '", type, "' is not supported; supported: BPE, Unigram, WordPiece"));
}

inline const Vocabulary& vocabulary_of(const WordModel& model) {
  return std::visit([](const auto& one) -> const Vocabulary& { return one.vocabulary(); }, model);
}

}  // namespace pardec
