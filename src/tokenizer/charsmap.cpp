#include "src/tokenizer/charsmap.hpp"

#include <cstring>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

// A unit of the trie: the label of the edge to it in the lowest byte, whether it has a value in bit
// 8, and the distance to its children. A value has bit 31.
std::uint32_t label_of(std::uint32_t unit) { return unit & (1u << 31 | 0xFFu); }
bool has_value(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t offset_of(std::uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string bytes, const std::string& where) : bytes_(std::move(bytes)) {
  std::uint32_t size = 0;
  if (bytes_.size() >= sizeof size) std::memcpy(&size, bytes_.data(), sizeof size);
  if (size == 0 || size % sizeof size != 0 || size > bytes_.size() - sizeof size)
    throw ConfigError(str(where, " has ", bytes_.size(), " bytes and a trie of ", size,
                          ", expected a map of SentencePiece"));
  trie_.resize(size / sizeof size);
  std::memcpy(trie_.data(), bytes_.data() + sizeof size, size);
  normalised_ = sizeof size + size;
}

std::optional<std::string_view> Charsmap::find(std::string_view text) const {
  std::uint32_t node = offset_of(trie_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    node ^= byte;
    if (byte == 0 || node >= trie_.size() || label_of(trie_[node]) != byte) return std::nullopt;
    const std::uint32_t unit = trie_[node];
    node ^= offset_of(unit);
    if (!has_value(unit)) continue;
    if (node >= trie_.size()) return std::nullopt;
    const std::size_t begin = trie_[node] & ~(1u << 31);
    const std::string_view all = std::string_view(bytes_).substr(normalised_);
    if (begin >= all.size()) return std::nullopt;
    const std::string_view rest = all.substr(begin);
    return rest.substr(0, rest.find('\0'));
  }
  return std::nullopt;
}

}  // namespace pardec
