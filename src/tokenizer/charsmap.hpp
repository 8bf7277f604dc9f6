#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// SentencePiece's map from strings to normalised strings:
///   4 bytes   n, little-endian: length of the trie
///   n bytes   a double-array trie (Yata et al. 2007) of 4-byte units, as Darts-clone stores it
///   rest      the normalised strings, each with a zero byte at its end
/// Immutable.
class Charsmap {
 public:
  /// Reads a map in this format. ConfigError, which starts with `where`: the bytes do not have this
  /// format.
  Charsmap(std::string bytes, const std::string& where);

  /// Of the strings in the map with which `text` begins, takes the shortest, as in PyPI
  /// `tokenizers`, and returns its normalised form. (SentencePiece itself takes the longest.) None:
  /// there is no such string.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  std::vector<std::uint32_t> trie_;
  std::string bytes_;
  std::size_t normalised_ = 0;  ///< where the strings begin in `bytes_`
};

}  // namespace pardec
