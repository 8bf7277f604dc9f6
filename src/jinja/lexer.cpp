#include "src/jinja/lexer.hpp"

#include <algorithm>
#include <array>

#include "src/jinja/python_text.hpp"
#include "src/jinja/value.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec::jinja {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Line breaks become \n; one at the end is removed.
std::string normalized(std::string_view source) {
  std::string text = replace_all(replace_all(std::string(source), "\r\n", "\n"), "\r", "\n");
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : text_(normalized(source)) {}

  std::vector<Token> tokens() {
    while (at_ < text_.size()) {
      const size_t tag = next_tag();
      if (tag == std::string::npos) {
        add_data(text_.substr(at_));
        advance(text_.size());
        break;
      }
      const char kind = text_[tag + 1];
      const size_t behind = tag + 2;
      const char sign = behind < text_.size() && (text_[behind] == '-' || text_[behind] == '+')
                            ? text_[behind]
                            : ' ';
      add_data(before_tag(text_.substr(at_, tag - at_), sign, kind));
      advance(tag);
      const int line = line_;
      advance(behind + (sign == ' ' ? 0 : 1));
      line_starts_ = false;
      if (kind == '#') {
        comment(line);
      } else if (kind == '%' && raw_begins()) {
        raw(line);
      } else {
        inside(kind, line);
      }
    }
    add(Token::Kind::end, "");
    return std::move(tokens_);
  }

 private:
  void add(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), line_});
  }
  void add_data(std::string text) {
    if (!text.empty()) add(Token::Kind::data, std::move(text));
  }
  void advance(size_t to) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  /// The position of the next `{{`, `{%` or `{#`.
  size_t next_tag() const {
    for (size_t at = text_.find('{', at_); at != std::string::npos; at = text_.find('{', at + 1))
      if (at + 1 < text_.size() &&
          (text_[at + 1] == '{' || text_[at + 1] == '%' || text_[at + 1] == '#'))
        return at;
    return std::string::npos;
  }

  /// Text before a tag, stripped according to the tag's sign and kind.
  std::string before_tag(std::string text, char sign, char kind) const {
    if (sign == '-') return strip_text(text, false, true);
    if (sign == '+' || kind == '{') return text;
    const size_t line_begin = text.rfind('\n') + 1;  // npos + 1 == 0
    if (line_begin == 0 && !line_starts_) return text;
    return strip_text(text.substr(line_begin), true, false).empty() ? text.substr(0, line_begin)
                                                                    : text;
  }

  size_t skip_spaces(size_t at) const {
    while (at < text_.size()) {
      size_t next = at;
      if (!is_python_space(next_code_point(text_, next))) break;
      at = next;
    }
    return at;
  }

  /// Moves past the end of a tag and what it strips: all white space after `-`; otherwise a line
  /// break, except after `+` or an output.
  void leave(size_t end, char sign, bool trims) {
    size_t to = end;
    if (sign == '-')
      to = skip_spaces(end);
    else if (sign != '+' && trims && end < text_.size() && text_[end] == '\n')
      to = end + 1;
    advance(to);
    line_starts_ = to > 0 && text_[to - 1] == '\n';
  }

  void comment(int line) {
    const size_t end = text_.find("#}", at_);
    if (end == std::string::npos) throw Fault{"a comment has no end, expected #}", line};
    leave(end + 2, end > at_ ? text_[end - 1] : ' ', true);
  }

  /// Whether the block is `raw`; if so, moves past its opening tag.
  bool raw_begins() {
    size_t at = skip_spaces(at_);
    if (text_.compare(at, 3, "raw") != 0) return false;
    at = skip_spaces(at + 3);
    const bool strips = text_.compare(at, 3, "-%}") == 0;
    if (!strips && text_.compare(at, 2, "%}") != 0) return false;
    leave(at + (strips ? 3 : 2), strips ? '-' : ' ', false);
    return true;
  }

  void raw(int line) {
    for (size_t tag = text_.find("{%", at_); tag != std::string::npos;
         tag = text_.find("{%", tag + 1)) {
      size_t at = tag + 2;
      const char sign =
          at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at++] : ' ';
      at = skip_spaces(at);
      if (text_.compare(at, 6, "endraw") != 0) continue;
      at = skip_spaces(at + 6);
      const char closing =
          at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at++] : ' ';
      if (text_.compare(at, 2, "%}") != 0) continue;
      add_data(before_tag(text_.substr(at_, tag - at_), sign, '%'));
      leave(at + 2, closing, true);
      return;
    }
    throw Fault{"a raw block has no end, expected {% endraw %}", line};
  }

  /// Reads the tokens inside {{ }} or {% %}.
  void inside(char kind, int line) {
    const bool block = kind == '%';
    const std::string end = block ? "%}" : "}}";
    tokens_.push_back({block ? Token::Kind::block_begin : Token::Kind::output_begin, "", line});
    std::vector<char> open;
    int count = 0;
    while (true) {
      const size_t next = skip_spaces(at_);
      advance(next);
      if (at_ >= text_.size())
        throw Fault{str(block ? "a block" : "an output", " has no end, expected ", end), line};
      if (open.empty()) {
        const char sign = text_[at_];
        const size_t tag = at_ + (sign == '-' || (block && sign == '+') ? 1 : 0);
        if (text_.compare(tag, 2, end) == 0) {
          add(block ? Token::Kind::block_end : Token::Kind::output_end, "");
          leave(tag + 2, tag == at_ ? ' ' : sign, block);
          return;
        }
      }
      if (++count > 2000)
        throw Fault{"a tag is longer than supported", line};  // this bounds the depth of the tree
      expression_token(open);
    }
  }

  void expression_token(std::vector<char>& open) {
    const char first = text_[at_];
    if (is_digit(first)) return number();
    if (const size_t end = name_end(at_); end > at_) {
      add(Token::Kind::name, text_.substr(at_, end - at_));
      return advance(end);
    }
    if (first == '\'' || first == '"') return quoted_text();
    constexpr std::array<std::string_view, 25> kSymbols{
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ","};
    for (const std::string_view symbol : kSymbols) {
      if (text_.compare(at_, symbol.size(), symbol) != 0) continue;
      if (first == '(' || first == '[' || first == '{') open.push_back(first);
      if (first == ')' || first == ']' || first == '}') {
        const char expected = first == ')' ? '(' : first == ']' ? '[' : '{';
        if (open.empty() || open.back() != expected)
          throw Fault{str("'", symbol, "' closes nothing"), line_};
        open.pop_back();
      }
      add(Token::Kind::symbol, std::string(symbol));
      return advance(at_ + symbol.size());
    }
    size_t end = at_;
    next_code_point(text_, end);
    throw Fault{str("'", text_.substr(at_, end - at_), "' is not supported in an expression"),
                line_};
  }

  /// The end of the name that starts here: letters, digits and `_`.
  size_t name_end(size_t at) const {
    while (at < text_.size()) {
      size_t next = at;
      const char32_t code = next_code_point(text_, next);
      if (code < 0x80 ? !is_name_part(text_[at]) : !is_letter(code) && !is_decimal(code)) break;
      at = next;
    }
    return at;
  }

  /// The end of a run of digits, with single `_` between them.
  size_t digits(size_t at) const {
    while (at < text_.size() &&
           (is_digit(text_[at]) ||
            (text_[at] == '_' && at + 1 < text_.size() && is_digit(text_[at + 1]))))
      ++at;
    return at;
  }

  /// Reads a number with a prefix: 0x1F, 0o17, 0b101.
  bool marked_number() {
    const char mark = at_ + 1 < text_.size() && text_[at_] == '0' ? text_[at_ + 1] | 0x20 : ' ';
    if (mark != 'x' && mark != 'o' && mark != 'b') return false;
    size_t end = at_ + 2;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    const std::string number = text_.substr(at_, end - at_);
    // One `_` is allowed before each digit.
    if (!parse_whole(replace_all(number, "_", ""), 0) || number.find("__") != std::string::npos ||
        number.ends_with('_'))
      throw Fault{str("'", number, "' is no number that is supported"), line_};
    add(Token::Kind::integer, replace_all(number, "_", ""));
    advance(end);
    return true;
  }

  void number() {
    if (marked_number()) return;
    size_t end = digits(at_);
    bool real = false;
    const auto digit_at = [&](size_t at) { return at < text_.size() && is_digit(text_[at]); };
    const bool after_dot = at_ > 0 && text_[at_ - 1] == '.';  // items.0.1
    if (!after_dot && text_.compare(end, 1, ".") == 0 && digit_at(end + 1)) {
      real = true;
      end = digits(end + 1);
    }
    if (!after_dot && end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      const size_t sign =
          end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-') ? 1 : 0;
      if (digit_at(end + 1 + sign)) {
        real = true;
        end = digits(end + 1 + sign);
      }
    }
    const std::string number = replace_all(text_.substr(at_, end - at_), "_", "");
    const bool odd = end < text_.size() && is_name_part(text_[end]);
    if (odd || (!real && number[0] == '0' && number.find_first_not_of('0') != std::string::npos))
      throw Fault{str("'", number, odd ? std::string(1, text_[end]) : "",
                      "' is no number that is supported"),
                  line_};
    add(real ? Token::Kind::real : Token::Kind::integer, number);
    advance(end);
  }

  void quoted_text() {
    const char quote = text_[at_];
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) throw Fault{"a text has no closing quote", line_};
    add(Token::Kind::string, unescaped(text_.substr(at_ + 1, end - at_ - 1)));
    advance(end + 1);
  }

  /// Resolves escapes as Python's `unicode-escape`.
  std::string unescaped(const std::string& text) const {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '\\') {
        out += text[at];
        continue;
      }
      const char escape = text[++at];
      constexpr std::string_view kEscapes = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
      if (const size_t known = kEscapes.find(escape); known != std::string_view::npos) {
        out += kMeanings[known];
      } else if (escape == 'x' || escape == 'u' || escape == 'U') {
        const size_t size = escape == 'x' ? 2 : escape == 'u' ? 4 : 8;
        const std::string code = text.substr(at + 1, size);
        if (code.size() != size ||
            code.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
          throw Fault{str("'\\", escape, code, "' has too few hexadecimal digits"), line_};
        const unsigned long value = std::stoul(code, nullptr, 16);
        if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
          throw Fault{str("'\\", escape, code, "' is no character"), line_};
        append_utf8(out, static_cast<char32_t>(value));
        at += size;
      } else if (escape >= '0' && escape <= '7') {
        size_t size = 1;
        while (size < 3 && at + size < text.size() && text[at + size] >= '0' &&
               text[at + size] <= '7')
          ++size;
        append_utf8(out, static_cast<char32_t>(std::stoul(text.substr(at, size), nullptr, 8)));
        at += size - 1;
      } else if (escape == 'N') {
        throw Fault{str("the escape '\\", escape, "' is not supported"), line_};
        // a line break after the backslash is left out; other characters keep their backslash
      } else if (escape != '\n') {
        out += '\\';
        out += escape;
      }
    }
    return out;
  }

  const std::string text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).tokens(); }

}  // namespace pardec::jinja
