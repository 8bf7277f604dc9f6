// Python's `text.format(...)`, and the formatting of one value.
#include <algorithm>
#include <cmath>

#include "src/jinja/format.hpp"
#include "src/jinja/format_number.hpp"
#include "src/jinja/members.hpp"
#include "src/jinja/python_text.hpp"
#include "src/jinja/text_methods.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

/// [[fill]align][sign][#][0][width][grouping][.precision][type]
struct Spec {
  std::string fill = " ";
  char align = ' ', grouping = ' ', type = ' ';  ///< ' ': not given
  std::string sign;                              ///< + - or a space; empty: not given
  bool alternate = false;
  std::int64_t width = -1, precision = -1;
};

std::int64_t spec_number(std::u32string_view codes, size_t& at) {
  if (at >= codes.size() || codes[at] < U'0' || codes[at] > U'9') return -1;
  std::int64_t value = 0;
  for (; at < codes.size() && codes[at] >= U'0' && codes[at] <= U'9'; ++at) {
    value = value * 10 + static_cast<std::int64_t>(codes[at] - U'0');
    if (value > INT32_MAX) throw Fault{"format: a width is too large"};
  }
  return value;
}

Spec parse_spec(const std::string& text, char default_align) {
  const std::u32string codes = code_points(text);
  const auto is = [&](size_t at, std::u32string_view chars) {
    return at < codes.size() && chars.find(codes[at]) != std::u32string_view::npos;
  };
  Spec spec;
  size_t at = 0;
  bool has_fill = false;
  if (is(1, U"<>=^")) {
    spec.fill = from_code_points(std::u32string(1, codes[0]));
    spec.align = static_cast<char>(codes[1]);
    has_fill = true;
    at = 2;
  } else if (is(0, U"<>=^")) {
    spec.align = static_cast<char>(codes[at++]);
  }
  if (is(at, U"+- ")) spec.sign = static_cast<char>(codes[at++]);
  if (is(at, U"z")) throw Fault{str("format '", text, "' is not supported")};
  if (is(at, U"#")) spec.alternate = true, ++at;
  if (!has_fill && is(at, U"0")) {
    spec.fill = "0";
    if (spec.align == ' ' && default_align == '>') spec.align = '=';
    ++at;
  }
  if (spec.align == ' ') spec.align = default_align;
  spec.width = spec_number(codes, at);
  if (is(at, U",_")) spec.grouping = static_cast<char>(codes[at++]);
  if (is(at, U".")) {
    spec.precision = spec_number(codes, ++at);
    if (spec.precision < 0) throw Fault{str("format '", text, "' lacks its precision")};
  }
  if (at + 1 < codes.size() || (at < codes.size() && codes[at] >= 0x80))
    throw Fault{str("'", text, "' is no format")};
  if (at < codes.size()) spec.type = static_cast<char>(codes[at]);
  return spec;
}

std::string aligned(const Spec& spec, const std::string& front, const std::string& digits,
                    Budget& budget) {
  if (spec.align == '=')
    return front + padded(budget, digits, spec.width - std::ssize(front), spec.fill, Side::right);
  const std::string all = front + digits;
  if (spec.align != '^')
    return padded(budget, all, spec.width, spec.fill, spec.align == '<' ? Side::left : Side::right);
  const std::int64_t room = std::max<std::int64_t>(spec.width - length(Value(all)), 0);
  return padded(budget, padded(budget, all, spec.width - room + room / 2, spec.fill, Side::right),
                spec.width, spec.fill, Side::left);
}

/// Digits with separators, padded with zeros up to `width`, as CPython's
/// _PyUnicode_InsertThousandsGrouping.
std::string grouped(const std::string& digits, char separator, std::int64_t group,
                    std::int64_t width, Budget& budget) {
  budget.take(text_steps(static_cast<size_t>(std::max<std::int64_t>(width, 0))));
  std::string backwards;
  std::int64_t left = std::ssize(digits);
  while (true) {
    const std::int64_t size = std::min(group, std::max<std::int64_t>({left, width, 1}));
    for (std::int64_t i = 0; i < size; ++i)
      backwards += left > 0 ? digits[static_cast<size_t>(--left)] : '0';
    width -= size;
    if (left <= 0 && width <= 0) break;
    backwards += separator;
    --width;
  }
  return {backwards.rbegin(), backwards.rend()};
}

/// The text of a number: `digits` before `rest`, which is the point and everything after it.
std::string number_text(const Spec& spec, bool negative, std::string_view prefix,
                        std::string digits, const std::string& rest, Budget& budget) {
  std::string front = negative ? "-" : spec.sign == "-" ? "" : spec.sign;
  front += prefix;
  if (spec.grouping != ' ') {
    const bool zeros = spec.fill == "0" && spec.align == '=';
    const std::int64_t width = zeros ? spec.width - std::ssize(front) - std::ssize(rest) : 0;
    const bool decimal = std::string_view("boxX").find(spec.type) == std::string_view::npos;
    digits = grouped(digits, spec.grouping, decimal ? 3 : 4, width, budget);
  }
  return aligned(spec, front, digits + rest, budget);
}

[[noreturn]] void no_format(const Value& value, const std::string& text) {
  throw Fault{str("format '", text, "' is not for a value of type ", value.type())};
}

std::string format_text(const Value& value, const std::string& text, Budget& budget) {
  const Spec spec = parse_spec(text, '<');
  if ((spec.type != ' ' && spec.type != 's') || !spec.sign.empty() || spec.alternate ||
      spec.align == '=' || spec.grouping != ' ')
    no_format(value, text);
  return aligned(spec, "", first_characters(to_text(value), spec.precision), budget);
}

/// As `g`, but with at least one digit after the point.
std::string general(double value, std::int64_t precision, Budget& budget) {
  const std::int64_t digits = std::max<std::int64_t>(precision, 1);
  std::string shown = real_digits(value, 'e', digits - 1, false, budget);
  const size_t e = shown.find('e');
  const int exponent = std::atoi(shown.substr(e + 1).c_str());
  const auto without_zeros = [](std::string number, bool keep_one) {
    if (number.find('.') == std::string::npos) return number;
    number.resize(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number += keep_one ? "0" : "";
    if (number.ends_with('.')) number.pop_back();
    return number;
  };
  if (exponent < -4 || exponent >= digits - 1)
    return without_zeros(shown.substr(0, e), false) + shown.substr(e);
  return without_zeros(real_digits(value, 'f', digits - 1 - exponent, false, budget), true);
}

std::string format_real(const Value& value, const std::string& text, Budget& budget) {
  const Spec spec = parse_spec(text, '>');
  const char type = spec.type == 'n' ? 'g' : spec.type;
  if (std::string_view(" eEfFgG%").find(type) == std::string_view::npos) no_format(value, text);
  if (spec.grouping != ' ' && spec.type == 'n') no_format(value, text);
  const double real = value.as_real();
  std::string shown;
  if (!std::isfinite(real) && spec.grouping != ' ')
    throw Fault{str("format '", text, "' of what is not finite is not supported")};
  if (type == ' ') {
    if (spec.alternate) throw Fault{str("format '", text, "' is not supported")};
    shown = spec.precision < 0 || !std::isfinite(real) ? shortest(real)
                                                       : general(real, spec.precision, budget);
  } else {
    const double shown_value = type == '%' ? real * 100 : real;
    shown = real_digits(shown_value, type == '%' ? 'f' : type,
                        spec.precision < 0 ? 6 : spec.precision, spec.alternate, budget);
    if (type == '%') shown += '%';
  }
  const bool negative = shown.starts_with('-');
  shown.erase(0, negative ? 1 : 0);
  const size_t whole = std::min(shown.find_first_not_of("0123456789"), shown.size());
  return number_text(spec, negative, "", shown.substr(0, whole), shown.substr(whole), budget);
}

std::string format_whole(const Value& value, const std::string& text, Budget& budget) {
  const Spec spec = parse_spec(text, '>');
  if (std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos)
    return format_real(value.as_real(), text, budget);
  const bool decimal = std::string_view(" dn").find(spec.type) != std::string_view::npos;
  const int base = spec.type == 'b' ? 2 : spec.type == 'o' ? 8 : decimal ? 10 : 16;
  if (std::string_view(" dnboxXc").find(spec.type) == std::string_view::npos ||
      spec.precision >= 0 || (spec.grouping != ' ' && (spec.type == 'n' || spec.type == 'c')) ||
      (spec.grouping == ',' && base != 10))
    no_format(value, text);
  const std::int64_t whole = value.whole("format");
  if (spec.type == 'c') {
    if (!spec.sign.empty() || spec.alternate) no_format(value, text);
    return aligned(spec, "", character_of(whole), budget);
  }
  const std::string prefix = spec.alternate && !decimal ? str("0", spec.type) : "";
  return number_text(spec, whole < 0, prefix, whole_digits(whole, base, spec.type == 'X'), "",
                     budget);
}

/// `format(value, spec)`.
std::string formatted(const Value& value, const std::string& spec, Budget& budget) {
  budget.take(value.weight());
  if (spec.empty()) return to_text(value);
  if (value.text() || value.marked()) return format_text(value, spec, budget);
  if (value.real()) return format_real(value, spec, budget);
  if (value.is_number()) return format_whole(value, spec, budget);
  no_format(value, spec);
}

class BraceFormat {
 public:
  using Named = std::function<const Value*(const std::string&)>;
  BraceFormat(const Values& positional, Named named, Budget& budget)
      : positional_(positional), named_(std::move(named)), budget_(budget) {}

  std::string run(const std::string& text, int depth = 2) {
    if (depth < 0) throw Fault{"format: braces in braces are too deep"};
    budget_.take(text_steps(text.size()));
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const char c = text[at++];
      if (c != '{' && c != '}') {
        out += c;
      } else if (at < text.size() && text[at] == c) {
        out += text[at++];
      } else if (c == '}') {
        throw Fault{"format: a single '}' in its text; '}}' writes one"};
      } else {
        out += field(text, at, depth);
      }
    }
    return out;
  }

 private:
  std::string field(const std::string& text, size_t& at, int depth) {
    const size_t begin = at;
    for (int open = 1; open > 0; ++at) {
      if (at >= text.size()) throw Fault{"format: a '{' has no '}'; '{{' writes one"};
      open += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    }
    const std::string inside = text.substr(begin, at - begin - 1);
    size_t end = 0;
    for (bool bracket = false; end < inside.size(); ++end) {
      const char c = inside[end];
      if (c == '{') throw Fault{"format: a '{' is in a name"};
      if (c == '[') bracket = true;
      if (c == ']') bracket = false;
      if (!bracket && (c == ':' || c == '!')) break;
    }
    Value value = look_up(inside.substr(0, end));
    if (end < inside.size() && inside[end] == '!') {
      const char how = end + 1 < inside.size() ? inside[end + 1] : ' ';
      end += 2;
      if (end < inside.size() && inside[end] != ':') throw Fault{"format: '!' lacks its ':'"};
      budget_.take(value.weight());
      if (how == 's')
        value = to_text(value);
      else if (how == 'r')
        value = representation(value);
      else if (how == 'a' && value.text())
        value = python_quoted(*value.text(), true);
      else
        throw Fault{str("format: '!", how, "' is not supported")};
    }
    const std::string spec = end < inside.size() ? inside.substr(end + 1) : "";
    return formatted(value, run(spec, depth - 1), budget_);
  }

  Value look_up(std::string name) {
    const auto is_number = [](const std::string& part) {
      return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    };
    if (name.empty()) {
      if (by_number_) throw Fault{"format: '{}' is used together with '{0}'"};
      name = std::to_string(next_++);
    } else if (is_number(name)) {
      if (next_ > 0) throw Fault{"format: '{0}' is used together with '{}'"};
      by_number_ = true;
    }
    size_t at = std::min(name.find_first_of(".["), name.size());
    Value value = argument(name.substr(0, at), is_number(name.substr(0, at)));
    while (at < name.size()) {
      const bool is_member = name[at] == '.';
      if (!is_member && name[at] != '[') throw Fault{"format: only '.' or '[' may follow ']'"};
      const size_t end =
          is_member ? std::min(name.find_first_of(".[", at + 1), name.size()) : name.find(']', at);
      if (end == std::string::npos) throw Fault{"format: a '[' has no ']'"};
      const std::string part = name.substr(at + 1, end - at - 1);
      if (part.empty()) throw Fault{"format: a name is empty"};
      budget_.take(value.sequence() ? 1 : value.breadth(), text_steps(part.size()));
      value = is_member         ? attribute(value, part)
              : is_number(part) ? item(value, *parse_whole(part))
                                : item(value, part);
      at = end + (is_member ? 0 : 1);
    }
    return value;
  }

  Value argument(const std::string& name, bool is_number) {
    if (is_number) {
      const std::int64_t index = *parse_whole(name);
      if (index < std::ssize(positional_)) return positional_[static_cast<size_t>(index)];
    } else if (const Value* found = named_(name)) {
      return *found;
    }
    throw Fault{str("format: it has no argument '", name, "'")};
  }

  const Values& positional_;
  Named named_;
  Budget& budget_;
  int next_ = 0;
  bool by_number_ = false;
};

}  // namespace

std::string brace_format(const std::string& text, const Arguments& arguments) {
  const auto named = [&](const std::string& name) -> const Value* {
    for (const auto& [own, value] : arguments.named())
      if (own == name) return &value;
    return nullptr;
  };
  return BraceFormat(arguments.positional(), named, arguments.budget()).run(text);
}

std::string brace_format_map(const std::string& text, const Arguments& arguments) {
  arguments.check(1, {});
  const Value names = arguments.get(0, "mapping");
  if (!names.dict()) throw Fault{"format_map of what is no dict is not supported"};
  const auto named = [&](const std::string& name) {
    arguments.budget().take(names.breadth(), text_steps(name.size()));
    return names.dict()->find(name);
  };
  const Values none;
  return BraceFormat(none, named, arguments.budget()).run(text);
}

}  // namespace pardec::jinja
