#include "src/jinja/value.hpp"

#include <algorithm>
#include <cmath>

#include "src/jinja/operators.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec::jinja {

std::int64_t Value::whole(std::string_view what_for) const {
  if (const auto* value = boolean()) return *value ? 1 : 0;
  if (const auto* value = integer()) return *value;
  throw Fault{str(what_for, " is of type ", type(), ", expected int")};
}

double Value::as_real() const {
  if (const auto* value = real()) return *value;
  return static_cast<double>(whole("a number"));
}

bool Value::truth() const {
  if (is_none() || undefined()) return false;
  if (const auto* value = boolean()) return *value;
  if (const auto* value = integer()) return *value != 0;
  if (const auto* value = real()) return *value != 0;
  if (const auto* value = text()) return !value->empty();
  if (const auto* value = marked()) return !value->empty();
  if (const auto* value = sequence()) return !value->has_length() || !value->values.empty();
  if (const auto* value = dict()) return !value->entries.empty();
  return true;
}

std::string_view Value::type() const {
  if (is_none()) return "NoneType";
  if (undefined()) return "Undefined";
  if (boolean()) return "bool";
  if (integer()) return "int";
  if (real()) return "float";
  if (text()) return "str";
  if (marked()) return "Markup";
  if (dict()) return "dict";
  if (name_space()) return "Namespace";
  if (loop()) return "LoopContext";
  if (callable()) return "function";
  switch (sequence()->kind) {
    case Sequence::Kind::list:
      return "list";
    case Sequence::Kind::tuple:
      return "tuple";
    case Sequence::Kind::range:
      return "range";
    case Sequence::Kind::keys:
      return "dict_keys";
    case Sequence::Kind::values:
      return "dict_values";
    case Sequence::Kind::items:
      return "dict_items";
    case Sequence::Kind::generator:
      break;
  }
  return "generator";
}

int Value::depth() const {
  if (const auto* value = sequence()) return value->depth;
  if (const auto* value = dict()) return value->depth;
  return 0;
}

std::int64_t Value::weight() const {
  if (const auto* value = sequence()) return value->weight;
  if (const auto* value = dict()) return value->weight;
  return breadth();
}

std::int64_t Value::breadth() const {
  if (const auto* value = text()) return text_steps(value->size());
  if (const auto* value = marked()) return text_steps(value->size());
  if (const auto* value = sequence()) return 1 + std::ssize(value->values);
  if (const auto* value = dict()) return 1 + std::ssize(value->entries);
  return 1;
}

void Budget::used_up() const {
  throw Fault{str("the template takes more than ", most_,
                  " steps, which are items and bytes gone over; no conversation needs so many")};
}

namespace {

/// Limit of weights, so that sums of them do not overflow.
constexpr std::int64_t kHeaviest = std::int64_t{1} << 56;

/// One more than `inner`. Fault: too deep.
int depth_over(int inner) {
  if (inner >= 100) throw Fault{"values are nested deeper than supported"};
  return inner + 1;
}

}  // namespace

Value make_sequence(Values values, Sequence::Kind kind) {
  int inner = 0;
  std::int64_t weight = 1;
  for (const Value& value : values) {
    inner = std::max(inner, value.depth());
    weight = std::min(weight + value.weight(), kHeaviest);
  }
  return std::make_shared<Sequence>(Sequence{kind, std::move(values), depth_over(inner), weight});
}
Value make_dict(Dict dict) {
  int inner = 0;
  std::int64_t weight = 1;
  for (const auto& [key, value] : dict.entries) {
    inner = std::max({inner, key.depth(), value.depth()});
    weight = std::min(weight + key.weight() + value.weight(), kHeaviest);
  }
  dict.depth = depth_over(inner);
  // An entry of another dict is searched among all of these.
  const auto entries = static_cast<std::int64_t>(dict.entries.size());
  if (__builtin_mul_overflow(weight, std::max<std::int64_t>(entries, 1), &dict.weight))
    dict.weight = kHeaviest;
  dict.weight = std::min(dict.weight, kHeaviest);
  return std::shared_ptr<const Dict>(std::make_shared<Dict>(std::move(dict)));
}
Value make_range(std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (step == 0) throw Fault{"a range's step is 0"};
  Values values;
  for (std::int64_t at = begin; step > 0 ? at < end : at > end;) {
    values.emplace_back(at);
    if (values.size() > 100000) throw Fault{"a range has more than 100000 items"};
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  Value made = make_sequence(std::move(values), Sequence::Kind::range);
  made.sequence()->begin = begin;
  made.sequence()->end = end;
  made.sequence()->step = step;
  return made;
}
Value make_marked(std::string text) {
  return Marked{std::make_shared<const std::string>(std::move(text))};
}
Value make_callable(std::string name, std::function<Value(const Arguments&)> call,
                    std::function<std::optional<Value>(std::string_view name)> member) {
  return std::shared_ptr<const Callable>(
      std::make_shared<Callable>(Callable{std::move(name), std::move(call), std::move(member)}));
}

void check_hashable(const Value& key) {
  const auto* sequence = key.sequence();
  const bool is_tuple = sequence && sequence->kind == Sequence::Kind::tuple;
  const bool has_none = sequence && (sequence->kind == Sequence::Kind::list ||
                                     sequence->kind == Sequence::Kind::keys ||
                                     sequence->kind == Sequence::Kind::items);
  if (has_none || key.dict())
    throw Fault{str("a key is of type ", key.type(), ", which cannot be one")};
  if (is_tuple)
    for (const Value& item : sequence->values) check_hashable(item);
}

const Value* Dict::find(const Value& key) const {
  check_hashable(key);
  for (const auto& [own, value] : entries)
    if (equal(own, key)) return &value;
  return nullptr;
}

void Dict::set(Value key, Value value) {
  check_hashable(key);
  for (auto& [own, old] : entries)
    if (equal(own, key)) {
      old = std::move(value);
      return;
    }
  entries.emplace_back(std::move(key), std::move(value));
}

bool Arguments::has(size_t index, std::string_view name) const {
  return index < positional_.size() ||
         std::any_of(named_.begin(), named_.end(), [&](const auto& a) { return a.first == name; });
}

Value Arguments::get(size_t index, std::string_view name, Value fallback) const {
  if (index < positional_.size()) return positional_[index];
  for (const auto& [own, value] : named_)
    if (own == name) return value;
  return fallback;
}

Value Arguments::get(size_t index, std::string_view name) const {
  if (!has(index, name)) throw Fault{str(callee_, " lacks its argument '", name, "'")};
  return get(index, name, {});
}

void Arguments::check(size_t most, std::initializer_list<std::string_view> names) const {
  if (positional_.size() > most)
    throw Fault{str(callee_, " has ", positional_.size(), " arguments, expected at most ", most)};
  for (const auto& [own, value] : named_) {
    const auto at = std::find(names.begin(), names.end(), own);
    if (at == names.end()) throw Fault{str(callee_, " has no argument '", own, "'")};
    if (static_cast<size_t>(at - names.begin()) < positional_.size())
      throw Fault{str(callee_, " has its argument '", own, "' twice")};
  }
}

Value from_json(const OrderedJson& json, int inside) {
  switch (json.type()) {
    case OrderedJson::value_t::boolean:
      return json.get<bool>();
    case OrderedJson::value_t::number_unsigned:
      if (json.get<std::uint64_t>() > INT64_MAX)
        throw Fault{str("the number ", json.dump(), " is larger than supported")};
      [[fallthrough]];
    case OrderedJson::value_t::number_integer:
      return json.get<std::int64_t>();
    case OrderedJson::value_t::number_float:
      return json.get<double>();
    case OrderedJson::value_t::string:
      return repair_utf8(json.get_ref<const std::string&>());
    case OrderedJson::value_t::array: {
      const int deeper = depth_over(inside);
      Values values;
      for (const auto& item : json) values.push_back(from_json(item, deeper));
      return make_sequence(std::move(values));
    }
    case OrderedJson::value_t::object: {
      const int deeper = depth_over(inside);
      Dict dict;
      for (const auto& [key, value] : json.items())
        dict.entries.emplace_back(repair_utf8(key), from_json(value, deeper));
      return make_dict(std::move(dict));
    }
    default:
      return {};
  }
}

bool is_iterable(const Value& value) {
  return value.undefined() || value.text() || value.marked() || value.sequence() || value.dict();
}

Values iterate(const Value& value) {
  if (value.undefined()) return {};
  if (const auto* text = value.text()) {
    Values characters;
    for (size_t at = 0; at < text->size();) {
      const size_t begin = at;
      next_code_point(*text, at);
      characters.emplace_back(text->substr(begin, at - begin));
    }
    return characters;
  }
  if (auto* sequence = value.sequence())
    return sequence->has_length() ? sequence->values : std::exchange(sequence->values, {});
  if (const auto* dict = value.dict()) {
    Values keys;
    for (const auto& [key, item] : dict->entries) keys.push_back(key);
    return keys;
  }
  if (value.marked()) throw Fault{"going through a marked text is not supported"};
  throw Fault{str("a value of type ", value.type(), " cannot be iterated over")};
}

Values iterate(const Value& value, Budget& budget) {
  budget.take(value.text() ? std::ssize(*value.text()) : value.breadth());
  return iterate(value);
}

std::int64_t length(const Value& value) {
  if (value.undefined()) return 0;
  if (const auto* sequence = value.sequence(); sequence && sequence->has_length())
    return std::ssize(sequence->values);
  const std::string* text = value.marked() ? value.marked() : value.text();
  if (text) return code_points(*text);
  if (const auto* dict = value.dict()) return std::ssize(dict->entries);
  if (const auto* loop = value.loop()) return std::ssize(loop->items);
  throw Fault{str("a value of type ", value.type(), " has no length")};
}

}  // namespace pardec::jinja
