#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace pardec {

/// The position of a stretch in its text, for components that treat the ends of a text specially.
enum class Place {
  whole,  ///< the text is tokenized as a whole; each stretch counts as a beginning and an end
  first,  ///< begins a text or follows an added token, and continues in a later piece
  /// continues from an earlier piece: no prefix is added, and nothing is stripped from its ends
  later
};

/// RunError: a text of `before` bytes has grown to `after` bytes, far more than any tokenizer
/// produces. This can happen if several growing components follow each other.
void check_growth(std::size_t before, std::size_t after);

/// A part of the input between two added tokens, on its way to the model.
///
/// PyPI `tokenizers` aligns each byte with the input character that it came from, and Metaspace
/// checks whether a part is aligned with the first input character. This struct stores only what
/// that check needs: as alignments never decrease, the bytes in question are the first ones.
struct Stretch {
  std::string text;
  bool at_start;      ///< no input was cut off before it
  std::size_t first;  ///< number of bytes of `text` that came from the input's first character

  /// The unchanged input in [begin, end).
  static Stretch of_input(std::string_view input, std::size_t begin, std::size_t end);

  /// The part [begin, end), cut off from the rest.
  Stretch part(std::size_t begin, std::size_t end) const;

  /// Inserts `added` at the front; it counts as part of the first character. An empty text stays
  /// empty.
  void prepend(std::string_view added);
};

/// Rewrites a stretch from left to right. Text that is not reached is dropped.
class Rewriting {
 public:
  explicit Rewriting(const Stretch& old) : old_(old), new_{{}, old.at_start, 0} {
    new_.text.reserve(old.text.size());
  }

  /// Copies the next bytes, or drops them.
  void keep(std::size_t bytes);
  void drop(std::size_t bytes) { at_ += bytes; }
  /// Writes `text` instead of the next bytes; it is aligned with the first of them.
  void replace(std::size_t bytes, std::string_view text);
  /// Writes `text`, aligned with the preceding byte.
  void insert(std::string_view text) { write(text, at_ <= old_.first); }
  /// The number of bytes of the next characters.
  std::size_t bytes_of(int characters) const;

  Stretch finish() && { return std::move(new_); }

 private:
  void write(std::string_view text, bool of_first);

  const Stretch& old_;
  std::size_t at_ = 0;
  Stretch new_;
};

}  // namespace pardec
