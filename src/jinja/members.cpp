#include "src/jinja/members.hpp"

#include <algorithm>
#include <array>

#include "src/jinja/operators.hpp"
#include "src/jinja/python_text.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

Value texts(std::vector<std::string> parts) {
  Values values;
  for (auto& part : parts) values.emplace_back(std::move(part));
  return make_sequence(std::move(values));
}

std::string text_argument(const Arguments& arguments, size_t index, std::string_view name) {
  const Value value = arguments.get(index, name);
  if (!value.text())
    throw Fault{str(arguments.callee(), ": its argument '", name, "' is of type ", value.type(),
                    ", expected str")};
  return *value.text();
}

std::optional<std::string> optional_text(const Arguments& arguments, size_t index,
                                         std::string_view name) {
  if (arguments.get(index, name, {}).is_none()) return std::nullopt;
  return text_argument(arguments, index, name);
}

Value starts_or_ends(const std::string& text, const Arguments& arguments, bool starts) {
  arguments.check(1, {});
  const auto fits = [&](const std::string& part) {
    return starts ? text.starts_with(part) : text.ends_with(part);
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

Value strip_method(const std::string& text, const Arguments& arguments, bool left, bool right) {
  arguments.check(1, {});
  const auto characters = optional_text(arguments, 0, "chars");
  arguments.budget().take(text_steps(text.size()), text_steps(characters.value_or("").size()));
  return strip_text(text, left, right, characters);
}

Value split_method(const std::string& text, const Arguments& arguments, bool from_right) {
  arguments.check(2, {"sep", "maxsplit"});
  const auto separator = optional_text(arguments, 0, "sep");
  // Each byte could be a part.
  arguments.budget().take(std::ssize(text) + search_steps(text, separator.value_or("")));
  return texts(
      split_text(text, separator, arguments.get(1, "maxsplit", -1).whole("maxsplit"), from_right));
}

Value find_method(const std::string& text, const Arguments& arguments, bool last) {
  arguments.check(1, {});
  const std::string part = text_argument(arguments, 0, "sub");
  arguments.budget().take(search_steps(text, part));
  const size_t at = last ? text.rfind(part) : text.find(part);
  return at == std::string::npos ? Value(-1) : Value(length(Value(text.substr(0, at))));
}

Value join_method(const std::string& text, const Arguments& arguments) {
  arguments.check(1, {});
  std::vector<std::string> parts;
  const Value over = arguments.get(0, "iterable");
  arguments.budget().take(over.weight());
  const Values items = iterate(over, arguments.budget());
  arguments.budget().take(std::ssize(items), text_steps(text.size()));
  for (const Value& part : items) {
    if (!part.text()) throw Fault{str("join: an item is of type ", part.type(), ", expected str")};
    parts.push_back(*part.text());
  }
  return join(parts, text);
}

Value count_method(const std::string& text, const Arguments& arguments) {
  arguments.check(1, {});
  const std::string part = text_argument(arguments, 0, "sub");
  arguments.budget().take(search_steps(text, part));
  if (part.empty()) return length(Value(text)) + 1;
  std::int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

Value affix_method(const std::string& text, const Arguments& arguments, bool prefix) {
  arguments.check(1, {});
  const std::string part = text_argument(arguments, 0, "affix");
  if (!(prefix ? text.starts_with(part) : text.ends_with(part))) return text;
  return prefix ? text.substr(part.size()) : text.substr(0, text.size() - part.size());
}

struct TextMethod {
  std::string_view name;
  Value (*call)(const std::string&, const Arguments&);
};
using T = const std::string&;
using A = const Arguments&;
constexpr std::array kTextMethods{
    TextMethod{"strip", [](T t, A a) { return strip_method(t, a, true, true); }},
    TextMethod{"lstrip", [](T t, A a) { return strip_method(t, a, true, false); }},
    TextMethod{"rstrip", [](T t, A a) { return strip_method(t, a, false, true); }},
    TextMethod{"startswith", [](T t, A a) { return starts_or_ends(t, a, true); }},
    TextMethod{"endswith", [](T t, A a) { return starts_or_ends(t, a, false); }},
    TextMethod{"split", [](T t, A a) { return split_method(t, a, false); }},
    TextMethod{"rsplit", [](T t, A a) { return split_method(t, a, true); }},
    TextMethod{"splitlines",
               [](T t, A a) {
                 a.check(0, {});
                 a.budget().take(std::ssize(t));
                 return texts(split_lines(t));
               }},
    TextMethod{"replace",
               [](T t, A a) -> Value {
                 a.check(3, {});
                 return replace_within(a.budget(), t, text_argument(a, 0, "old"),
                                       text_argument(a, 1, "new"),
                                       a.get(2, "count", -1).whole("count"));
               }},
    TextMethod{"upper",
               [](T t, A a) -> Value {
                 a.check(0, {});
                 return upper_text(t);
               }},
    TextMethod{"lower",
               [](T t, A a) -> Value {
                 a.check(0, {});
                 return lower_text(t);
               }},
    TextMethod{"capitalize",
               [](T t, A a) -> Value {
                 a.check(0, {});
                 return capitalize_text(t);
               }},
    TextMethod{"join", join_method},
    TextMethod{"find", [](T t, A a) { return find_method(t, a, false); }},
    TextMethod{"rfind", [](T t, A a) { return find_method(t, a, true); }},
    TextMethod{"count", count_method},
    TextMethod{"removeprefix", [](T t, A a) { return affix_method(t, a, true); }},
    TextMethod{"removesuffix", [](T t, A a) { return affix_method(t, a, false); }},
};

/// What Python's types have beside, so that a template that uses it is told rather than misled.
constexpr std::string_view kOtherMembers[] = {
    "casefold",     "center",   "encode",    "expandtabs",  "format",    "format_map",
    "index",        "isalnum",  "isalpha",   "isascii",     "isdecimal", "isdigit",
    "isidentifier", "islower",  "isnumeric", "isprintable", "isspace",   "istitle",
    "isupper",      "ljust",    "maketrans", "partition",   "rindex",    "rjust",
    "rpartition",   "swapcase", "title",     "translate",   "zfill"};
constexpr std::string_view kOtherDictMembers[] = {"clear",   "copy",       "fromkeys", "pop",
                                                  "popitem", "setdefault", "update"};
constexpr std::string_view kListMembers[] = {"append", "clear",   "copy",   "count",
                                             "extend", "index",   "insert", "pop",
                                             "remove", "reverse", "sort"};
constexpr std::string_view kNumberMembers[] = {
    "as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator",
    "from_bytes",       "fromhex",   "hex",        "imag",      "is_integer",
    "numerator",        "real",      "to_bytes"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void no_member(const Value& value, const std::string& name) {
  throw Fault{str("member '", name, "' of a value of type ", value.type(), " is not supported")};
}

Value dict_view(const Dict& dict, Sequence::Kind kind) {
  Values values;
  for (const auto& [key, value] : dict.entries)
    values.push_back(kind == Sequence::Kind::keys ? key
                     : kind == Sequence::Kind::values
                         ? value
                         : make_sequence({key, value}, Sequence::Kind::tuple));
  return make_sequence(std::move(values), kind);
}

std::optional<Value> dict_method(const Value& self, const std::string& name) {
  const auto view = [&](Sequence::Kind kind) {
    return make_callable(name, [self, kind](const Arguments& arguments) {
      arguments.check(0, {});
      arguments.budget().take(self.breadth());
      return dict_view(*self.dict(), kind);
    });
  };
  if (name == "keys") return view(Sequence::Kind::keys);
  if (name == "values") return view(Sequence::Kind::values);
  if (name == "items") return view(Sequence::Kind::items);
  if (name == "get")
    return make_callable(name, [self](const Arguments& arguments) {
      arguments.check(2, {});
      arguments.budget().take(self.breadth(), arguments.get(0, "key").weight());
      const Value* found = self.dict()->find(arguments.get(0, "key"));
      return found ? *found : arguments.get(1, "default", {});
    });
  if (contains(kOtherDictMembers, name)) no_member(self, name);
  return std::nullopt;
}

std::optional<Value> loop_member(const Value& self, const std::string& name) {
  Loop& loop = *self.loop();
  const std::int64_t size = std::ssize(loop.items), at = loop.index0;
  const auto neighbour = [&](std::int64_t index, const char* what) -> Value {
    if (index < 0 || index >= size) return Undefined{what};
    return loop.items[static_cast<size_t>(index)];
  };
  if (name == "index") return at + 1;
  if (name == "index0") return at;
  if (name == "revindex") return size - at;
  if (name == "revindex0") return size - at - 1;
  if (name == "first") return at == 0;
  if (name == "last") return at + 1 == size;
  if (name == "length") return size;
  if (name == "depth") return loop.depth0 + 1;
  if (name == "depth0") return loop.depth0;
  if (name == "previtem") return neighbour(at - 1, "loop.previtem");
  if (name == "nextitem") return neighbour(at + 1, "loop.nextitem");
  if (name == "cycle")
    return make_callable("loop.cycle", [at](const Arguments& arguments) {
      const Values& items = arguments.positional();
      if (items.empty()) throw Fault{"loop.cycle has no items"};
      return items[static_cast<size_t>(at) % items.size()];
    });
  if (name == "changed")
    return make_callable("loop.changed", [&loop](const Arguments& arguments) {
      const Value now = make_sequence(arguments.positional());
      arguments.budget().take(now.weight());
      const bool changed = !loop.changed_before || !equal(make_sequence(loop.last_changed), now);
      loop.changed_before = true;
      loop.last_changed = arguments.positional();
      return Value(changed);
    });
  return std::nullopt;
}

/// What `getattr` of Python finds; empty where nothing.
std::optional<Value> member(const Value& value, const std::string& name) {
  if (name.starts_with("__")) throw Fault{str("member '", name, "' is closed to templates")};
  if (value.dict()) return dict_method(value, name);
  if (value.loop()) return loop_member(value, name);
  if (value.name_space()) {
    const Value* found = value.name_space()->members.find(name);
    return found ? std::optional(*found) : std::nullopt;
  }
  if (value.text()) {
    for (const TextMethod& method : kTextMethods)
      if (method.name == name)
        return make_callable(name, [self = value, call = method.call](A arguments) {
          arguments.budget().take(self.breadth());
          return call(*self.text(), arguments);
        });
    if (contains(kOtherMembers, name)) no_member(value, name);
  }
  if (value.sequence() && contains(kListMembers, name)) no_member(value, name);
  if (value.is_number() && contains(kNumberMembers, name)) no_member(value, name);
  if (value.callable()) no_member(value, name);
  return std::nullopt;
}

/// What `value[key]` of Python finds; empty where nothing.
std::optional<Value> subscript(const Value& value, const Value& key) {
  if (const auto* dict = value.dict()) {
    if (key.sequence() || key.dict()) return std::nullopt;
    const Value* found = dict->find(key);
    return found ? std::optional(*found) : std::nullopt;
  }
  if (!key.integer() && !key.boolean()) return std::nullopt;
  if (!value.text() && !(value.sequence() && value.sequence()->has_index())) return std::nullopt;
  const std::int64_t given = key.whole("an index"), size = length(value);
  const std::int64_t at = given < 0 ? given + size : given;
  if (at < 0 || at >= size) return std::nullopt;
  const auto index = static_cast<size_t>(at);
  if (value.text()) return from_code_points(code_points(*value.text()).substr(index, 1));
  return value.sequence()->values[index];
}

void refuse_undefined(const Value& value, std::string_view what) {
  if (value.undefined())
    throw Fault{str("'", value.undefined()->name, "' is undefined, so it has no ", what)};
}

}  // namespace

Value attribute(const Value& value, const std::string& name) {
  refuse_undefined(value, str("member '", name, "'"));
  if (value.dict() && name.starts_with("__"))  // an item may be called so
    if (const auto found = subscript(value, name)) return *found;
  if (const auto found = member(value, name)) return *found;
  if (const auto found = subscript(value, name)) return *found;
  return Undefined{name};
}

Value item(const Value& value, const Value& key) {
  refuse_undefined(value, "items");
  if (const auto found = subscript(value, key)) return *found;
  if (!key.text()) return Undefined{representation(key)};
  if (const auto found = member(value, *key.text())) return *found;
  return Undefined{*key.text()};
}

Value slice(const Value& value, const Value& begin, const Value& end, const Value& step) {
  refuse_undefined(value, "items");
  if (!value.text() && !(value.sequence() && value.sequence()->has_index()))
    throw Fault{str("a slice of a value of type ", value.type(), " is not supported")};
  const std::int64_t size = length(value);
  const std::int64_t stride = step.is_none() ? 1 : step.whole("a slice's step");
  if (stride == 0) throw Fault{"a slice's step is 0"};
  const auto bound = [&](const Value& given, std::int64_t fallback) {
    if (given.is_none()) return fallback;
    const std::int64_t at = given.whole("a slice's bound");
    const std::int64_t from_begin = at < 0 ? at + size : at;
    return std::clamp<std::int64_t>(from_begin, stride > 0 ? 0 : -1, stride > 0 ? size : size - 1);
  };
  const std::int64_t first = bound(begin, stride > 0 ? 0 : size - 1);
  const std::int64_t last = bound(end, stride > 0 ? size : -1);
  const auto choose = [&](const auto& all, auto& chosen) {
    for (std::int64_t at = first; stride > 0 ? at < last : at > last;) {
      chosen.push_back(all[static_cast<size_t>(at)]);
      if (__builtin_add_overflow(at, stride, &at)) break;
    }
  };
  if (value.text()) {
    std::u32string chosen;
    choose(code_points(*value.text()), chosen);
    return from_code_points(chosen);
  }
  Values chosen;
  choose(value.sequence()->values, chosen);
  return make_sequence(std::move(chosen), value.sequence()->kind);
}

std::string replace_within(Budget& budget, const std::string& text, const std::string& from,
                           const std::string& to, std::int64_t most) {
  const std::int64_t room = 1 + std::ssize(text) / std::max<std::int64_t>(std::ssize(from), 1);
  budget.take(search_steps(text, from));
  budget.take(most < 0 ? room : std::min(room, most), text_steps(to.size()));
  return replace_text(text, from, to, most);
}

Value attribute_path(const Value& value, const Value& path, const Value& fallback) {
  if (!path.text()) return item(value, path);
  Value now = value;
  for (const std::string& part : split(*path.text(), '.')) {
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    now = item(now, number ? Value(*parse_whole(part)) : Value(part));
    if (now.undefined() && !fallback.is_none()) now = fallback;
  }
  return now;
}

}  // namespace pardec::jinja
