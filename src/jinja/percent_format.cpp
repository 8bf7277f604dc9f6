// Python's `text % values`.
#include <algorithm>
#include <cmath>

#include "src/jinja/format.hpp"
#include "src/jinja/format_number.hpp"
#include "src/jinja/python_text.hpp"
#include "src/jinja/text_methods.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

class PercentFormat {
 public:
  PercentFormat(const std::string& text, const Value& values, Budget& budget)
      : text_(text), values_(values), budget_(budget) {
    const Sequence* sequence = values.sequence();
    if (sequence && sequence->kind == Sequence::Kind::tuple) count_ = std::ssize(sequence->values);
    // A value with items never counts as a superfluous argument, even if it is not used.
    has_keys_ = values.dict() || values.undefined() ||
                (sequence && sequence->has_index() && sequence->kind != Sequence::Kind::tuple);
  }

  std::string run() {
    while (at_ < text_.size()) {
      const size_t mark = std::min(text_.find('%', at_), text_.size());
      out_ += text_.substr(at_, mark - at_);
      at_ = mark;
      if (at_ < text_.size()) field();
    }
    const bool all_taken = taken_ == (count_ < 0 ? 1 : count_);
    if (!all_taken && !has_keys_ && !by_key_)
      throw Fault{"'%' has more values than its text has places"};
    return std::move(out_);
  }

 private:
  struct Field {
    bool left = false, plus = false, space = false, zero = false, alternate = false;
    std::int64_t width = -1, precision = -1;
  };

  char take() {
    if (at_ >= text_.size()) throw Fault{"'%' is at the end of its text"};
    return text_[at_++];
  }
  bool skip(char wanted) {
    const bool found = at_ < text_.size() && text_[at_] == wanted;
    at_ += found ? 1 : 0;
    return found;
  }

  Value next() {
    if (taken_ >= (count_ < 0 ? 1 : count_))
      throw Fault{"'%' has fewer values than its text has places"};
    const std::int64_t index = taken_++;
    return count_ < 0 ? current() : values_.sequence()->values[static_cast<size_t>(index)];
  }
  const Value& current() const { return by_key_ ? keyed_ : values_; }

  /// `(key)`: from here on, only the value of the key is used.
  void key() {
    const size_t begin = at_;
    for (int open = 1; open > 0;) {
      const char c = take();
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    const std::string name = text_.substr(begin, at_ - begin - 1);
    if (!values_.dict()) throw Fault{str("'%' by the name '", name, "' needs a dict")};
    budget_.take(values_.breadth(), text_steps(name.size()));
    const Value* found = values_.dict()->find(name);
    if (!found) throw Fault{str("'%': the dict has no '", name, "'")};
    keyed_ = *found;
    by_key_ = true;
    count_ = -1;
    taken_ = 0;
  }

  std::int64_t number(bool is_precision, Field& field) {
    if (skip('*')) {
      const Value given = next();
      if (!given.integer() && !given.boolean()) throw Fault{"'%': '*' needs an integer"};
      const std::int64_t value = given.whole("a width");
      if (value >= 0) return value;
      if (is_precision) return 0;
      field.left = true;
      if (value == INT64_MIN) throw Fault{"'%': a width is too large"};
      return -value;
    }
    std::int64_t value = is_precision ? 0 : -1;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = std::max<std::int64_t>(value, 0) * 10 + (text_[at_++] - '0');
      if (value > INT32_MAX) throw Fault{"'%': a width is too large"};
    }
    return value;
  }

  void field() {
    ++at_;  // the %
    if (skip('%')) {
      out_ += '%';
      return;
    }
    Field field;
    if (skip('(')) key();
    for (bool more = true; more;) {
      more = true;
      if (skip('-'))
        field.left = true;
      else if (skip('+'))
        field.plus = true;
      else if (skip(' '))
        field.space = true;
      else if (skip('#'))
        field.alternate = true;
      else if (skip('0'))
        field.zero = true;
      else
        more = false;
    }
    field.width = number(false, field);
    if (skip('.')) field.precision = number(true, field);
    if (!skip('h') && !skip('l')) skip('L');
    const char kind = take();
    convert(kind, field, next());
  }

  void convert(char kind, const Field& field, const Value& value) {
    budget_.take(value.weight());
    switch (kind) {
      case 's':
        return text(field, first_characters(to_text(value), field.precision));
      case 'r':
        return text(field, first_characters(representation(value), field.precision));
      case 'a':
        return text(field, first_characters(ascii(value), field.precision));
      case 'c':
        if (value.text() && length(value) == 1) return text(field, *value.text());
        if (value.integer() || value.boolean())
          return text(field, character_of(value.whole("a character")));
        throw Fault{"'%c' needs an integer or a single character"};
      case 'd':
      case 'i':
      case 'u':
        return whole(field, truncated(value), 10, "", false);
      case 'o':
        return whole(field, value.whole("%o"), 8, "0o", false);
      case 'x':
        return whole(field, value.whole("%x"), 16, "0x", false);
      case 'X':
        return whole(field, value.whole("%X"), 16, "0X", true);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': {
        if (!value.is_number())
          throw Fault{str("'%", kind, "' needs a number, found ", value.type())};
        std::string digits =
            real_digits(value.as_real(), kind, field.precision < 0 ? 6 : field.precision,
                        field.alternate, budget_);
        const bool negative = digits.starts_with('-');
        return numeric(field, negative, "", digits.substr(negative ? 1 : 0));
      }
      default:
        throw Fault{str("'%", kind, "' is no format")};
    }
  }

  static std::string ascii(const Value& value) {
    if (value.text()) return python_quoted(*value.text(), true);
    const std::string shown = representation(value);
    if (std::any_of(shown.begin(), shown.end(), [](char c) { return (c & 0x80) != 0; }))
      throw Fault{"'%a' of what holds texts beyond ASCII is not supported"};
    return shown;
  }

  static std::int64_t truncated(const Value& value) {
    if (!value.is_number()) throw Fault{str("'%d' needs a number, found ", value.type())};
    if (!value.real()) return value.whole("%d");
    const double real = *value.real();
    if (!std::isfinite(real)) throw Fault{"'%d' needs a finite number"};
    if (std::abs(real) >= 9.2e18)
      throw Fault{"an integer is larger than 64 bits, which is not supported"};
    return static_cast<std::int64_t>(real);
  }

  void text(const Field& field, const std::string& shown) {
    out_ += padded(budget_, shown, field.width, " ", field.left ? Side::left : Side::right);
  }

  void whole(const Field& field, std::int64_t value, int base, std::string_view prefix,
             bool upper) {
    std::string digits = whole_digits(value, base, upper);
    digits = padded(budget_, digits, field.precision, "0", Side::right);
    numeric(field, value < 0, field.alternate ? prefix : "", digits);
  }

  void numeric(const Field& field, bool negative, std::string_view prefix, std::string digits) {
    std::string front = negative ? "-" : field.plus ? "+" : field.space ? " " : "";
    front += prefix;
    if (field.zero && !field.left)
      digits = padded(budget_, digits, field.width - std::ssize(front), "0", Side::right);
    text(field, front + digits);
  }

  const std::string& text_;
  const Value& values_;
  Budget& budget_;
  Value keyed_;
  bool by_key_ = false, has_keys_ = false;
  std::int64_t count_ = -1, taken_ = 0;  ///< -1: a single value that is not a tuple
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string percent_format(const std::string& text, const Value& values, Budget& budget) {
  budget.take(text_steps(text.size()));
  return PercentFormat(text, values, budget).run();
}

}  // namespace pardec::jinja
