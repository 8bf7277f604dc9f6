// The methods of Python's str.
#include "src/jinja/text_methods.hpp"

#include <algorithm>
#include <array>

#include "src/jinja/format.hpp"
#include "src/jinja/python_text.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec::jinja {

std::string replace_within(Budget& budget, const std::string& text, const std::string& from,
                           const std::string& to, std::int64_t most) {
  const std::int64_t room = 1 + std::ssize(text) / std::max<std::int64_t>(std::ssize(from), 1);
  budget.take(search_steps(text, from));
  budget.take(most < 0 ? room : std::min(room, most), text_steps(to.size()));
  return replace_text(text, from, to, most);
}

std::string padded(Budget& budget, const std::string& text, std::int64_t width,
                   const std::string& fill, Side side) {
  const std::int64_t size = length(Value(text));
  if (width <= size) return text;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(width - size, std::ssize(fill), &bytes)) bytes = INT64_MAX;
  budget.take(text_steps(static_cast<std::size_t>(bytes)));
  const std::int64_t room = width - size;
  // CPython's str.center divides an odd number of characters like this.
  const std::int64_t left = side == Side::left    ? 0
                            : side == Side::right ? room
                                                  : room / 2 + (room & width & 1);
  std::string out;
  for (std::int64_t i = 0; i < left; ++i) out += fill;
  out += text;
  for (std::int64_t i = left; i < room; ++i) out += fill;
  return out;
}

namespace {

using T = const std::string&;
using A = const Arguments&;

Value texts(std::vector<std::string> parts) {
  Values values;
  for (auto& part : parts) values.emplace_back(std::move(part));
  return make_sequence(std::move(values));
}

std::string text_argument(A arguments, size_t index, std::string_view name) {
  const Value value = arguments.get(index, name);
  if (value.marked()) throw Fault{str(arguments.callee(), " with a marked text is not supported")};
  if (!value.text())
    throw Fault{str(arguments.callee(), ": its argument '", name, "' is of type ", value.type(),
                    ", expected str")};
  return *value.text();
}

std::optional<std::string> optional_text(A arguments, size_t index, std::string_view name) {
  if (arguments.get(index, name, {}).is_none()) return std::nullopt;
  return text_argument(arguments, index, name);
}

/// `text[begin:end]`, from the second argument on, and its position in characters.
struct Window {
  std::string text;
  std::int64_t begin = 0;
  bool is_beyond = false;  ///< `begin` is after the end, where not even an empty text is found
};
Window window(T text, A arguments) {
  if (arguments.positional().size() < 2) return {text};
  arguments.budget().take(std::ssize(text));
  const std::u32string codes = code_points(text);
  const std::int64_t size = std::ssize(codes);
  const auto bound = [&](size_t index, std::int64_t fallback) {
    const Value given = arguments.get(index, "bound", {});
    const std::int64_t at = given.is_none() ? fallback : given.whole("a bound");
    return std::max<std::int64_t>(at < 0 ? at + size : at, 0);
  };
  const std::int64_t begin = bound(1, 0), end = std::min(bound(2, size), size);
  if (begin > end) return {"", begin, true};
  return {from_code_points(std::u32string_view(codes).substr(static_cast<size_t>(begin),
                                                             static_cast<size_t>(end - begin))),
          begin};
}

Value starts_or_ends(T text, A arguments, bool starts) {
  arguments.check(3, {});
  const Window in = window(text, arguments);
  const auto fits = [&](const std::string& part) {
    return !in.is_beyond && (starts ? in.text.starts_with(part) : in.text.ends_with(part));
  };
  const Value part = arguments.get(0, "prefix");
  if (part.sequence() && part.sequence()->kind == Sequence::Kind::tuple)
    return std::any_of(part.sequence()->values.begin(), part.sequence()->values.end(),
                       [&](const Value& one) {
                         if (!one.text()) throw Fault{"a prefix or suffix is no text"};
                         return fits(*one.text());
                       });
  return fits(text_argument(arguments, 0, "prefix"));
}

Value strip_method(T text, A arguments, bool left, bool right) {
  arguments.check(1, {});
  const auto characters = optional_text(arguments, 0, "chars");
  arguments.budget().take(text_steps(text.size()), text_steps(characters.value_or("").size()));
  return strip_text(text, left, right, characters);
}

Value split_method(T text, A arguments, bool from_right) {
  arguments.check(2, {"sep", "maxsplit"});
  const auto separator = optional_text(arguments, 0, "sep");
  // Each byte may be a part.
  arguments.budget().take(std::ssize(text) + search_steps(text, separator.value_or("")));
  return texts(
      split_text(text, separator, arguments.get(1, "maxsplit", -1).whole("maxsplit"), from_right));
}

Value splitlines(T text, A arguments) {
  arguments.check(1, {"keepends"});
  arguments.budget().take(std::ssize(text));
  return texts(split_lines(text, arguments.get(0, "keepends", false).truth()));
}

/// The position of `sub` in characters; -1: not found.
std::int64_t found_at(T text, A arguments, bool last) {
  arguments.check(3, {});
  const std::string part = text_argument(arguments, 0, "sub");
  arguments.budget().take(search_steps(text, part));
  const Window in = window(text, arguments);
  const size_t at = last ? in.text.rfind(part) : in.text.find(part);
  if (in.is_beyond || at == std::string::npos) return -1;
  return in.begin + length(Value(in.text.substr(0, at)));
}
Value index_method(T text, A arguments, bool last) {
  const std::int64_t at = found_at(text, arguments, last);
  if (at < 0) throw Fault{str(arguments.callee(), ": the text does not hold its argument")};
  return at;
}

Value join_method(T text, A arguments) {
  arguments.check(1, {});
  std::vector<std::string> parts;
  const Value over = arguments.get(0, "iterable");
  arguments.budget().take(over.weight());
  const Values items = iterate(over, arguments.budget());
  arguments.budget().take(std::ssize(items), text_steps(text.size()));
  for (const Value& part : items) {
    if (part.marked()) throw Fault{"join of marked texts is not supported"};
    if (!part.text()) throw Fault{str("join: an item is of type ", part.type(), ", expected str")};
    parts.push_back(*part.text());
  }
  return join(parts, text);
}

Value count_method(T text, A arguments) {
  arguments.check(3, {});
  const std::string part = text_argument(arguments, 0, "sub");
  arguments.budget().take(search_steps(text, part));
  const Window in = window(text, arguments);
  if (in.is_beyond) return 0;
  if (part.empty()) return length(Value(in.text)) + 1;
  std::int64_t count = 0;
  for (size_t at = in.text.find(part); at != std::string::npos;
       at = in.text.find(part, at + part.size()))
    ++count;
  return count;
}

Value affix_method(T text, A arguments, bool prefix) {
  arguments.check(1, {});
  const std::string part = text_argument(arguments, 0, "affix");
  if (!(prefix ? text.starts_with(part) : text.ends_with(part))) return text;
  return prefix ? text.substr(part.size()) : text.substr(0, text.size() - part.size());
}

Value replace_method(T text, A arguments) {
  arguments.check(3, {});
  return replace_within(arguments.budget(), text, text_argument(arguments, 0, "old"),
                        text_argument(arguments, 1, "new"),
                        arguments.get(2, "count", -1).whole("count"));
}

Value partition_method(T text, A arguments, bool last) {
  arguments.check(1, {});
  const std::string part = text_argument(arguments, 0, "sep");
  if (part.empty()) throw Fault{str(arguments.callee(), ": its separator is empty")};
  arguments.budget().take(search_steps(text, part));
  const size_t at = last ? text.rfind(part) : text.find(part);
  Values parts = last ? Values{"", "", text} : Values{text, "", ""};
  if (at != std::string::npos) parts = {text.substr(0, at), part, text.substr(at + part.size())};
  return make_sequence(std::move(parts), Sequence::Kind::tuple);
}

Value pad_method(T text, A arguments, Side side) {
  arguments.check(2, {});
  const Value given = arguments.get(1, "fillchar", " ");
  if (!given.text() || length(given) != 1)
    throw Fault{str(arguments.callee(), ": its filling is no single character")};
  return padded(arguments.budget(), text, arguments.get(0, "width").whole("the width"),
                *given.text(), side);
}

Value zfill_method(T text, A arguments) {
  arguments.check(1, {});
  const std::int64_t width = arguments.get(0, "width").whole("the width");
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::int64_t rest = std::max<std::int64_t>(width, 1) - static_cast<std::int64_t>(sign);
  return text.substr(0, sign) +
         padded(arguments.budget(), text.substr(sign), rest, "0", Side::right);
}

Value expandtabs_method(T text, A arguments) {
  arguments.check(1, {"tabsize"});
  const std::int64_t size = arguments.get(0, "tabsize", 8).whole("tabsize");
  std::string out;
  std::int64_t column = 0;
  for (const char c : text) {
    if (c == '\t') {
      const std::int64_t wide = size > 0 ? size - column % size : 0;
      arguments.budget().take(1 + wide / 16);
      out.append(static_cast<size_t>(wide), ' ');
      column += wide;
      continue;
    }
    out += c;
    if (c == '\n' || c == '\r')
      column = 0;
    else if ((c & 0xC0) != 0x80)
      ++column;
  }
  return out;
}

/// Uses a dict from code points to texts, code points or None.
Value translate_method(T text, A arguments) {
  arguments.check(1, {});
  const Value table = arguments.get(0, "table");
  if (!table.dict()) throw Fault{"translate by what is no dict is not supported"};
  arguments.budget().take(std::ssize(text), table.breadth());
  std::string out;
  for (const char32_t code : code_points(text)) {
    const Value* to = table.dict()->find(static_cast<std::int64_t>(code));
    if (!to) {
      append_utf8(out, code);
    } else if (to->text()) {
      arguments.budget().take(to->weight());
      out += *to->text();
    } else if (!to->is_none()) {
      const std::int64_t chosen = to->whole("a character's number");
      if (chosen < 0 || chosen > 0x10FFFF || (chosen >= 0xD800 && chosen < 0xE000))
        throw Fault{str(chosen, " is no number of a character")};
      append_utf8(out, static_cast<char32_t>(chosen));
    }
  }
  return out;
}

bool is_alphanumeric(char32_t code) { return is_letter(code) || is_numeric(code); }
bool is_ascii(char32_t code) { return code < 0x80; }
bool is_digit(char32_t code) {
  if (is_numeric(code) && !is_decimal(code))
    throw Fault{
        str("isdigit of '", from_code_points(std::u32string(1, code)), "' is not supported")};
  return is_decimal(code);
}
bool is_number_sign(char32_t code) {
  if (is_letter(code) && code >= 0x3400)  // some ideographs are numeric
    throw Fault{
        str("isnumeric of '", from_code_points(std::u32string(1, code)), "' is not supported")};
  return is_numeric(code);
}

bool is_identifier(T text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) throw Fault{"isidentifier beyond ASCII is not supported"};
    if (!(std::isalpha(c) || c == '_' || (i > 0 && std::isdigit(c)))) return false;
  }
  return !text.empty();
}

bool is_lower(T text) { return has_only(text, Case::lower); }
bool is_upper(T text) { return has_only(text, Case::upper); }

bool is_title(T text) {
  bool found = false, inside = false;
  for (const char32_t code : code_points(text)) {
    const Case own = case_of(code);
    if (own != Case::none && (own == Case::lower) != inside) return false;
    inside = own != Case::none;
    found |= inside;
  }
  return found;
}

struct TextMethod {
  std::string_view name;
  Value (*call)(T, A);
};
/// Wraps a function of the text alone as a method without arguments.
template <auto kOf>
Value plain(T text, A arguments) {
  arguments.check(0, {});
  return kOf(text);
}
/// Whether there are characters, and all of them pass.
template <bool (*kPasses)(char32_t)>
bool all(T text) {
  const std::u32string codes = code_points(text);
  return !codes.empty() && std::all_of(codes.begin(), codes.end(), kPasses);
}
template <bool (*kPasses)(char32_t)>
bool none_or_all(T text) {
  return text.empty() || all<kPasses>(text);
}
std::string lower(T text) { return lower_text(text); }
constexpr std::array kTextMethods{
    TextMethod{"capitalize", plain<capitalize_text>},
    TextMethod{"casefold", plain<fold_case>},
    TextMethod{"center", [](T t, A a) { return pad_method(t, a, Side::middle); }},
    TextMethod{"count", count_method},
    TextMethod{"endswith", [](T t, A a) { return starts_or_ends(t, a, false); }},
    TextMethod{"expandtabs", expandtabs_method},
    TextMethod{"find", [](T t, A a) -> Value { return found_at(t, a, false); }},
    TextMethod{"format", [](T t, A a) -> Value { return brace_format(t, a); }},
    TextMethod{"format_map", [](T t, A a) -> Value { return brace_format_map(t, a); }},
    TextMethod{"index", [](T t, A a) { return index_method(t, a, false); }},
    TextMethod{"isalnum", plain<all<is_alphanumeric>>},
    TextMethod{"isalpha", plain<all<is_letter>>},
    TextMethod{"isascii", plain<none_or_all<is_ascii>>},
    TextMethod{"isdecimal", plain<all<is_decimal>>},
    TextMethod{"isdigit", plain<all<is_digit>>},
    TextMethod{"isidentifier", plain<is_identifier>},
    TextMethod{"islower", plain<is_lower>},
    TextMethod{"isnumeric", plain<all<is_number_sign>>},
    TextMethod{"isprintable", plain<none_or_all<is_printable>>},
    TextMethod{"isspace", plain<all<is_python_space>>},
    TextMethod{"istitle", plain<is_title>},
    TextMethod{"isupper", plain<is_upper>},
    TextMethod{"join", join_method},
    TextMethod{"ljust", [](T t, A a) { return pad_method(t, a, Side::left); }},
    TextMethod{"lower", plain<lower>},
    TextMethod{"lstrip", [](T t, A a) { return strip_method(t, a, true, false); }},
    TextMethod{"partition", [](T t, A a) { return partition_method(t, a, false); }},
    TextMethod{"removeprefix", [](T t, A a) { return affix_method(t, a, true); }},
    TextMethod{"removesuffix", [](T t, A a) { return affix_method(t, a, false); }},
    TextMethod{"replace", replace_method},
    TextMethod{"rfind", [](T t, A a) -> Value { return found_at(t, a, true); }},
    TextMethod{"rindex", [](T t, A a) { return index_method(t, a, true); }},
    TextMethod{"rjust", [](T t, A a) { return pad_method(t, a, Side::right); }},
    TextMethod{"rpartition", [](T t, A a) { return partition_method(t, a, true); }},
    TextMethod{"rsplit", [](T t, A a) { return split_method(t, a, true); }},
    TextMethod{"rstrip", [](T t, A a) { return strip_method(t, a, false, true); }},
    TextMethod{"split", [](T t, A a) { return split_method(t, a, false); }},
    TextMethod{"splitlines", splitlines},
    TextMethod{"startswith", [](T t, A a) { return starts_or_ends(t, a, true); }},
    TextMethod{"strip", [](T t, A a) { return strip_method(t, a, true, true); }},
    TextMethod{"swapcase", plain<swap_case>},
    TextMethod{"title", plain<title_text>},
    TextMethod{"translate", translate_method},
    TextMethod{"upper", plain<upper_text>},
    TextMethod{"zfill", zfill_method},
};

}  // namespace

std::optional<Value> text_method(const Value& text, std::string_view name) {
  for (const TextMethod& method : kTextMethods)
    if (method.name == name)
      return make_callable(std::string(name), [text, call = method.call](A arguments) {
        arguments.budget().take(text.breadth());
        return call(*text.text(), arguments);
      });
  // Other members of Python's str: a template that uses them gets an error instead of a wrong
  // result.
  if (name == "encode" || name == "maketrans")
    throw Fault{str("member '", name, "' of a value of type str is not supported")};
  return std::nullopt;
}

}  // namespace pardec::jinja
