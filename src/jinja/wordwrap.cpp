// The filter `wordwrap`, which is Python's textwrap.
#include <algorithm>

#include "src/jinja/filter_functions.hpp"
#include "src/jinja/python_text.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja::filter {

namespace {

using Codes = std::u32string_view;

bool is_blank(char32_t code) { return Codes(U"\t\n\v\f\r ").find(code) != Codes::npos; }
bool is_word_part(char32_t code) { return is_letter(code) || is_numeric(code) || code == U'_'; }
bool is_word_letter(char32_t code) { return is_word_part(code) && !is_decimal(code); }
bool is_word_or_mark(char32_t code) {
  return is_word_part(code) || Codes(U"!\"'&.,?").find(code) != Codes::npos;
}

/// Splits a line where textwrap may break it: around white space, after hyphens of words, around
/// dashes (its `wordsep_re`).
class Chunks {
 public:
  Chunks(Codes text, bool at_hyphens) : text_(text), at_hyphens_(at_hyphens) {
    dashes_.resize(text.size() + 1);
    for (size_t i = text.size(); i > 0; --i)
      dashes_[i - 1] = text[i - 1] == U'-' ? dashes_[i] + 1 : 0;
  }

  std::vector<Codes> all() const {
    std::vector<Codes> chunks;
    for (size_t at = 0; at < text_.size();) {
      const size_t end = chunk_end(at);
      chunks.push_back(text_.substr(at, end - at));
      at = end;
    }
    return chunks;
  }

 private:
  bool is(size_t at, bool (*kind)(char32_t)) const { return at < text_.size() && kind(text_[at]); }
  /// Two hyphens or more, followed by a word; `at` is after a word or a mark.
  bool is_dash(size_t at) const {
    return at > 0 && is(at - 1, is_word_or_mark) && dashes_[at] >= 2 &&
           is(at + dashes_[at], is_word_part);
  }
  bool is_word_hyphen(size_t at) const {
    if (dashes_[at] == 0) return false;
    const bool after_two = at >= 2 && is(at - 1, is_word_letter) && is(at - 2, is_word_letter);
    const bool after_one = at >= 3 && is(at - 1, is_word_or_mark) && text_[at - 2] == U'-' &&
                           is(at - 3, is_word_letter);
    const size_t next = at + 2 + (at + 2 < text_.size() && text_[at + 2] == U'-' ? 1 : 0);
    return (after_two || after_one) && is(at + 1, is_word_letter) && is(next, is_word_letter);
  }
  size_t chunk_end(size_t at) const {
    size_t end = at + 1;
    if (is_blank(text_[at])) {
      while (is(end, is_blank)) ++end;
      return end;
    }
    if (at_hyphens_ && is_dash(at)) return at + dashes_[at];
    for (; end < text_.size() && !is_blank(text_[end]); ++end) {
      if (at_hyphens_ && is_word_hyphen(end)) return end + 1;
      if (at_hyphens_ && is_dash(end)) return end;
    }
    return end;
  }

  Codes text_;
  bool at_hyphens_;
  std::vector<size_t> dashes_;  ///< number of consecutive hyphens from here on
};

bool is_white(Codes chunk) { return std::all_of(chunk.begin(), chunk.end(), is_python_space); }

std::vector<std::string> wrapped(Codes text, size_t width, bool break_words, bool at_hyphens) {
  std::vector<Codes> chunks = Chunks(text, at_hyphens).all();
  std::vector<std::string> lines;
  for (size_t next = 0; next < chunks.size();) {
    std::vector<Codes> line;
    size_t size = 0;
    if (!lines.empty() && is_white(chunks[next])) ++next;
    while (next < chunks.size() && size + chunks[next].size() <= width) {
      size += chunks[next].size();
      line.push_back(chunks[next++]);
    }
    if (next < chunks.size() && chunks[next].size() > width) {  // longer than any line
      Codes& word = chunks[next];
      if (break_words) {
        size_t end = width - size;
        const size_t hyphen = end == 0 ? Codes::npos : word.substr(0, end).rfind(U'-');
        if (at_hyphens && hyphen != Codes::npos &&
            word.substr(0, hyphen).find_first_not_of(U'-') != Codes::npos)
          end = hyphen + 1;
        line.push_back(word.substr(0, end));
        word.remove_prefix(end);
      } else if (line.empty()) {
        line.push_back(word);
        ++next;
      }
    }
    if (!line.empty() && is_white(line.back())) line.pop_back();
    if (line.empty()) continue;
    std::string& shown = lines.emplace_back();
    for (const Codes chunk : line) shown += from_code_points(chunk);
  }
  return lines;
}

}  // namespace

Value wordwrap(V value, A arguments) {
  arguments.check(4, {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  const std::int64_t width = arguments.get(0, "width", 79).whole("width");
  const bool break_words = arguments.get(1, "break_long_words", true).truth();
  const bool at_hyphens = arguments.get(3, "break_on_hyphens", true).truth();
  const Value between = arguments.get(2, "wrapstring", "\n");
  if (!value.text() || !(between.text() || between.is_none()))
    throw Fault{str("wordwrap of a value of type ", value.type(), " is not supported")};
  arguments.budget().take(std::ssize(*value.text()));
  std::vector<std::string> lines;
  for (const std::string& line : split_lines(*value.text())) {
    if (width <= 0 && !line.empty()) throw Fault{str("wordwrap to a width of ", width)};
    const std::u32string codes = code_points(line);
    lines.push_back(join(wrapped(codes, static_cast<size_t>(width), break_words, at_hyphens),
                         between.text() ? *between.text() : "\n"));
  }
  const std::string separator = between.text() ? *between.text() : "\n";
  arguments.budget().take(std::ssize(*value.text()), text_steps(separator.size()));
  return join(lines, separator);
}

}  // namespace pardec::jinja::filter
