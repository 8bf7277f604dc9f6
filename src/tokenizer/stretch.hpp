#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace pardec {

/// Where a stretch stands, for components that treat a text's ends in their own way.
enum class Place {
  whole,  ///< in a whole text: each stretch is treated as if it were a text of its own
  first,  ///< begins a text, or follows an added token, and more follows in a later piece
  later   ///< goes on from an earlier piece: nothing is put in front of it or taken off its ends
};

/// RunError where a text of `before` bytes has become one of `after` bytes, far beyond what any
/// tokenizer makes of it: components that grow it could stand one behind the other.
void check_growth(std::size_t before, std::size_t after);

/// A part of the input between two added tokens, on its way to the model.
///
/// PyPI `tokenizers` aligns each byte with the character of the input that it came from, and
/// Metaspace asks whether a part is aligned with the input's first one. All that it takes to answer
/// is kept here: as alignments never decrease, the bytes in question are the first ones.
struct Stretch {
  std::string text;
  bool at_start;      ///< nothing of the input was cut off before it
  std::size_t first;  ///< how many bytes of `text` came from the input's first character

  /// What stands at [begin, end) of the input, which nothing has rewritten yet.
  static Stretch of_input(std::string_view input, std::size_t begin, std::size_t end);

  /// The part [begin, end), cut off from the rest.
  Stretch part(std::size_t begin, std::size_t end) const;

  /// Puts `added` in front; it counts as part of the first character. An empty text stays empty.
  void prepend(std::string_view added);
};

/// Rewrites a stretch from left to right. What it does not reach is dropped.
class Rewriting {
 public:
  explicit Rewriting(const Stretch& old) : old_(old), new_{{}, old.at_start, 0} {
    new_.text.reserve(old.text.size());
  }

  /// Copies the next bytes, or drops them.
  void keep(std::size_t bytes);
  void drop(std::size_t bytes) { at_ += bytes; }
  /// Writes `text` in place of the next bytes: it came from where they begin.
  void replace(std::size_t bytes, std::string_view text);
  /// Writes `text`, which came from where the byte before does.
  void insert(std::string_view text) { write(text, at_ <= old_.first); }
  /// How many bytes the next characters have.
  std::size_t bytes_of(int characters) const;

  Stretch finish() && { return std::move(new_); }

 private:
  void write(std::string_view text, bool of_first);

  const Stretch& old_;
  std::size_t at_ = 0;
  Stretch new_;
};

}  // namespace pardec
