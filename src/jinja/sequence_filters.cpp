// Filters for iterables.
#include <algorithm>

#include "src/jinja/filter_functions.hpp"
#include "src/jinja/members.hpp"
#include "src/jinja/operators.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja::filter {

Value member_of(V value, V path, A arguments, const Value& fallback) {
  if (path.is_none()) return value;
  arguments.budget().take(value.breadth(), path.weight());
  return attribute_path(value, path, fallback);
}

Value join_items(V value, A arguments) {
  arguments.check(2, {"d", "attribute"});
  const Value path = arguments.get(1, "attribute", {});
  const std::string between = to_text(arguments.get(0, "d", ""));
  const Values items = iterate(value, arguments.budget());
  arguments.budget().take(std::ssize(items), text_steps(between.size()));
  std::vector<std::string> parts;
  for (const Value& one : items) {
    const Value part = member_of(one, path, arguments);
    arguments.budget().take(part.weight());
    parts.push_back(to_text(part));
  }
  return join(parts, between);
}

Value as_list(V value, A arguments) {
  arguments.check(0, {});
  return make_sequence(iterate(value, arguments.budget()));
}

Value first(V value, A arguments) {
  arguments.check(0, {});
  if (auto* sequence = value.sequence(); sequence && !sequence->has_length()) {
    arguments.budget().take(value.breadth());
    if (sequence->values.empty()) return Undefined{"the first item of nothing"};
    const Value front = sequence->values.front();
    sequence->values.erase(sequence->values.begin());
    return front;
  }
  const Values items = iterate(value, arguments.budget());
  return items.empty() ? Value(Undefined{"the first item of nothing"}) : items.front();
}

Value last(V value, A arguments) {
  arguments.check(0, {});
  if (value.sequence() && !value.sequence()->has_length())
    throw Fault{"a generator cannot be gone through from its end; '|list' makes a list of it"};
  const Values items = iterate(value, arguments.budget());
  return items.empty() ? Value(Undefined{"the last item of nothing"}) : items.back();
}

Value reverse(V value, A arguments) {
  arguments.check(0, {});
  Values items = iterate(value, arguments.budget());
  std::reverse(items.begin(), items.end());
  if (value.text()) {
    std::string text;
    for (const Value& character : items) text += *character.text();
    return text;
  }
  const bool was_generator = value.sequence() && !value.sequence()->has_length();
  return make_sequence(std::move(items),
                       was_generator ? Sequence::Kind::list : Sequence::Kind::generator);
}

Value items(V value, A arguments) {
  arguments.check(0, {});
  Values pairs;
  if (!value.undefined()) {
    if (!value.dict()) throw Fault{str("items takes a dict, found ", value.type())};
    for (const auto& [key, one] : value.dict()->entries)
      pairs.push_back(make_sequence({key, one}, Sequence::Kind::tuple));
  }
  return make_sequence(std::move(pairs), Sequence::Kind::generator);
}

Value batch(V value, A arguments) {
  arguments.check(2, {"linecount", "fill_with"});
  const std::int64_t size = arguments.get(0, "linecount").whole("linecount");
  const Value fill = arguments.get(1, "fill_with", {});
  Values lines, line;
  for (const Value& one : iterate(value, arguments.budget())) {
    if (std::ssize(line) == size) lines.push_back(make_sequence(std::exchange(line, {})));
    line.push_back(one);
  }
  if (!fill.is_none() && !line.empty() && std::ssize(line) < size) {
    arguments.budget().take(size);
    line.resize(static_cast<size_t>(size), fill);
  }
  if (!line.empty()) lines.push_back(make_sequence(std::move(line)));
  return make_sequence(std::move(lines), Sequence::Kind::generator);
}

Value slices(V value, A arguments) {
  arguments.check(2, {"slices", "fill_with"});
  const std::int64_t count = arguments.get(0, "slices").whole("slices");
  const Value fill = arguments.get(1, "fill_with", {});
  const Values all = iterate(value, arguments.budget());
  if (count == 0) throw Fault{"slice into no slices"};
  Values made;
  auto at = all.begin();
  for (std::int64_t i = 0; i < count; ++i) {
    const bool longer = i < std::ssize(all) % count;
    const auto size = static_cast<std::ptrdiff_t>(std::ssize(all) / count + (longer ? 1 : 0));
    arguments.budget().take(1 + size);
    Values one(at, at + size);
    at += size;
    if (!fill.is_none() && !longer) one.push_back(fill);
    made.push_back(make_sequence(std::move(one)));
  }
  return make_sequence(std::move(made), Sequence::Kind::generator);
}

Value sum(V value, A arguments) {
  arguments.check(2, {"attribute", "start"});
  const Value path = arguments.get(0, "attribute", {});
  Value all = arguments.get(1, "start", 0);
  if (all.text() || all.marked()) throw Fault{"sum of texts; 'join' makes one of them"};
  for (const Value& one : iterate(value, arguments.budget())) {
    const Value part = member_of(one, path, arguments);
    arguments.budget().take(arithmetic_steps("+", all, part));
    all = arithmetic("+", all, part);
  }
  return all;
}

}  // namespace pardec::jinja::filter
