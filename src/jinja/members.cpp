#include "src/jinja/members.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/jinja/operators.hpp"
#include "src/jinja/python_text.hpp"
#include "src/jinja/text_methods.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

/// Methods that change a dict or a list: Python has them, but templates may not use them.
constexpr std::string_view kDictChanges[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view kListChanges[] = {"append", "clear",  "extend",  "insert",
                                             "pop",    "remove", "reverse", "sort"};
constexpr std::string_view kOtherNumberMembers[] = {"as_integer_ratio", "from_bytes", "fromhex",
                                                    "hex", "to_bytes"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Value closed(const Value& value, const std::string& name) {
  return Undefined{name, str("it would change a ", value.type(), ", which no template may do")};
}

[[noreturn]] void no_member(const Value& value, const std::string& name) {
  throw Fault{str("member '", name, "' of a value of type ", value.type(), " is not supported")};
}

}  // namespace

Value dict_from_keys(const Arguments& arguments) {
  arguments.check(2, {});
  Dict dict;
  for (const Value& key : iterate(arguments.get(0, "iterable"), arguments.budget())) {
    arguments.budget().take(1 + std::ssize(dict.entries), key.weight());
    dict.set(key, arguments.get(1, "value", {}));
  }
  return make_dict(std::move(dict));
}

namespace {

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
  if (name == "copy")
    return make_callable(name, [self](const Arguments& arguments) {
      arguments.check(0, {});
      arguments.budget().take(self.weight());
      return make_dict(*self.dict());
    });
  if (name == "fromkeys") return make_callable(name, dict_from_keys);
  if (contains(kDictChanges, name)) return closed(self, name);
  return std::nullopt;
}

/// Members of a list, a tuple or a range.
std::optional<Value> sequence_member(const Value& self, const std::string& name) {
  const Sequence& sequence = *self.sequence();
  const bool is_list = sequence.kind == Sequence::Kind::list;
  if (sequence.is_group && name == "grouper") return sequence.values[0];
  if (sequence.is_group && name == "list") return sequence.values[1];
  if (sequence.kind == Sequence::Kind::range) {
    if (name == "start") return sequence.begin;
    if (name == "stop") return sequence.end;
    if (name == "step") return sequence.step;
  }
  if (name == "copy" && is_list)
    return make_callable(name, [self](const Arguments& arguments) {
      arguments.check(0, {});
      return make_sequence(self.sequence()->values);
    });
  if (name == "count" && sequence.has_index())
    return make_callable(name, [self](const Arguments& arguments) {
      arguments.check(1, {});
      const Value item = arguments.get(0, "value");
      arguments.budget().take(comparison_steps(self, item));
      const Values& own = self.sequence()->values;
      return Value(static_cast<std::int64_t>(std::count_if(
          own.begin(), own.end(), [&](const Value& one) { return equal(one, item); })));
    });
  if (name == "index" && sequence.has_index())
    return make_callable(name, [self](const Arguments& arguments) {
      arguments.check(self.sequence()->kind == Sequence::Kind::range ? 1 : 3, {});
      const Value item = arguments.get(0, "value");
      arguments.budget().take(comparison_steps(self, item));
      const Values& own = self.sequence()->values;
      const auto bound = [&](size_t at, std::int64_t fallback) {
        const std::int64_t given = arguments.get(at, "bound", fallback).whole("a bound");
        return std::clamp<std::int64_t>(given < 0 ? given + std::ssize(own) : given, 0,
                                        std::ssize(own));
      };
      const std::int64_t end = bound(2, std::ssize(own));
      for (std::int64_t i = bound(1, 0); i < end; ++i)
        if (equal(own[static_cast<size_t>(i)], item)) return Value(i);
      throw Fault{"index: the item is not there"};
    });
  if (is_list && contains(kListChanges, name)) return closed(self, name);
  if (sequence.kind == Sequence::Kind::keys || sequence.kind == Sequence::Kind::values ||
      sequence.kind == Sequence::Kind::items)
    if (name == "isdisjoint" || name == "mapping") no_member(self, name);
  return std::nullopt;
}

std::optional<Value> number_member(const Value& self, const std::string& name) {
  const auto call = [&](Value result) {
    return make_callable(name, [result = std::move(result)](const Arguments& arguments) {
      arguments.check(0, {});
      return result;
    });
  };
  const Value plain = self.real() ? self : Value(self.whole("a number"));
  if (name == "real") return plain;
  if (name == "imag") return self.real() ? Value(0.0) : Value(0);
  if (name == "conjugate") return call(plain);
  if (self.real()) {
    const double value = *self.real();
    if (name == "is_integer") return call(std::isfinite(value) && value == std::floor(value));
  } else {
    const std::int64_t value = self.whole("a number");
    const auto size =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    if (name == "numerator") return plain;
    if (name == "denominator") return 1;
    if (name == "bit_length") return call(static_cast<int>(std::bit_width(size)));
    if (name == "bit_count") return call(std::popcount(size));
  }
  if (contains(kOtherNumberMembers, name)) no_member(self, name);
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

/// The result of Python's `getattr`; empty if there is no such attribute.
std::optional<Value> member(const Value& value, const std::string& name) {
  if (name.starts_with("__")) throw Fault{str("member '", name, "' is closed to templates")};
  if (value.dict()) return dict_method(value, name);
  if (value.loop()) return loop_member(value, name);
  if (value.name_space()) {
    const Value* found = value.name_space()->members.find(name);
    return found ? std::optional(*found) : std::nullopt;
  }
  if (value.text()) return text_method(value, name);
  if (value.marked()) no_member(value, name);
  if (value.sequence()) return sequence_member(value, name);
  if (value.is_number()) return number_member(value, name);
  if (value.callable()) {
    if (value.callable()->member)
      if (auto found = value.callable()->member(name)) return found;
    if (name.starts_with("_")) no_member(value, name);
  }
  return std::nullopt;
}

/// The result of Python's `value[key]`; empty if there is no such item.
std::optional<Value> subscript(const Value& value, const Value& key) {
  if (const auto* dict = value.dict()) {
    const bool is_tuple = key.sequence() && key.sequence()->kind == Sequence::Kind::tuple;
    if ((key.sequence() && !is_tuple) || key.dict()) return std::nullopt;
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

/// begin + times * step.
std::int64_t range_bound(std::int64_t begin, std::int64_t times, std::int64_t step) {
  std::int64_t way = 0, bound = 0;
  if (__builtin_mul_overflow(times, step, &way) || __builtin_add_overflow(begin, way, &bound))
    throw Fault{"a range's bound is larger than 64 bits, which is not supported"};
  return bound;
}

void refuse_undefined(const Value& value, std::string_view what) {
  if (value.undefined())
    throw Fault{str("'", value.undefined()->name, "' is undefined, so it has no ", what)};
}

}  // namespace

Value attribute(const Value& value, const std::string& name) {
  refuse_undefined(value, str("member '", name, "'"));
  if (value.dict() && name.starts_with("__"))  // an item may have such a name
    if (const auto found = subscript(value, name)) return *found;
  if (const auto found = member(value, name)) return *found;
  if (const auto found = subscript(value, name)) return *found;
  return Undefined{name};
}

Value only_attribute(const Value& value, const std::string& name) {
  refuse_undefined(value, str("member '", name, "'"));
  const auto found = member(value, name);
  return found ? *found : Value(Undefined{name});
}

Value item(const Value& value, const Value& key) {
  refuse_undefined(value, "items");
  if (value.marked()) throw Fault{"an item of a marked text is not supported"};
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
  const Sequence& sequence = *value.sequence();
  if (sequence.kind == Sequence::Kind::range) {
    return make_range(range_bound(sequence.begin, first, sequence.step),
                      range_bound(sequence.begin, last, sequence.step),
                      range_bound(0, stride, sequence.step));
  }
  Values chosen;
  choose(sequence.values, chosen);
  return make_sequence(std::move(chosen), value.sequence()->kind);
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
