#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace pardec {

/// Where a stretch (see Stretch) is in its text, if the text is tokenized piece by piece
/// (Tokenizer::encode_piece). Some components treat the beginning and the end of a text differently
/// from the rest.
enum class Place {
  /// the text is tokenized as a whole; the rules for a text's beginning and end apply to every
  /// stretch
  whole,
  /// the stretch begins a text or follows an added token, and a later piece may continue the
  /// stretch: the rules for the beginning apply, but not the rules for the end
  first,
  /// the stretch continues an earlier piece: no prefix is added, and white space is not stripped at
  /// either end
  later
};

/// Checks the growth of a text that a tokenizer's components changed from `before` to `after`
/// bytes. RunError: `after` exceeds 4096 + 16 * `before`, which no real tokenizer reaches.
void check_growth(std::size_t before, std::size_t after);

/// A part of the input between two added tokens, while components rewrite it.
///
/// PyPI `tokenizers` stores for each byte the input character from which the byte came. Only
/// Metaspace uses this, to check whether a part came from the first character of the input.
/// Therefore this struct stores only how many bytes came from the first character of the stretch.
/// These bytes are always at the front.
struct Stretch {
  std::string text;
  bool at_start;      ///< whether the stretch begins at the beginning of the input
  std::size_t first;  ///< number of bytes of `text` that came from the first character, see above

  /// A stretch with the unchanged bytes [begin, end) of `input`.
  static Stretch of_input(std::string_view input, std::size_t begin, std::size_t end);

  /// The part of the stretch with the bytes [begin, end) of `text`.
  Stretch part(std::size_t begin, std::size_t end) const;

  /// Inserts `added` at the front. The inserted bytes count as part of the first character. If
  /// `text` is empty, it stays empty. RunError: see check_growth.
  void prepend(std::string_view added);
};

/// Rewrites a stretch from left to right. Each call handles the next bytes of the old stretch,
/// which must outlive this object. Bytes that no call handles are dropped. RunError: see
/// check_growth.
class Rewriting {
 public:
  explicit Rewriting(const Stretch& old) : old_(old), new_{{}, old.at_start, 0} {
    new_.text.reserve(old.text.size());
  }

  /// `keep` copies the next bytes to the new stretch. `drop` leaves them out.
  void keep(std::size_t bytes);
  void drop(std::size_t bytes) { at_ += bytes; }
  /// Replaces the next bytes by `text`, which counts as coming from the first of these bytes.
  void replace(std::size_t bytes, std::string_view text);
  /// Writes `text` before the next byte. `text` counts as coming from the last byte that was
  /// handled; at the beginning, it counts as coming from the first character.
  void insert(std::string_view text) { write(text, at_ <= old_.first); }
  /// The number of bytes in the next `characters` characters of the old stretch.
  std::size_t bytes_of(int characters) const;

  /// The new stretch.
  Stretch finish() && { return std::move(new_); }

 private:
  void write(std::string_view text, bool of_first);

  const Stretch& old_;
  std::size_t at_ = 0;
  Stretch new_;
};

}  // namespace pardec
