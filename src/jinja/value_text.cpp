// Writing of values: Python's str(), repr() and json.dumps().
#include <algorithm>

#include "src/jinja/operators.hpp"
#include "src/jinja/python_text.hpp"
#include "src/jinja/value.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

std::string listed(const Values& values) {
  std::vector<std::string> parts;
  for (const Value& value : values) parts.push_back(representation(value));
  return join(parts, ", ");
}

std::string dict_text(const Dict& dict) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : dict.entries)
    parts.push_back(representation(key) + ": " + representation(value));
  return "{" + join(parts, ", ") + "}";
}

}  // namespace

std::string representation(const Value& value) {
  if (value.is_none()) return "None";
  if (value.undefined()) return "Undefined";
  if (value.boolean()) return *value.boolean() ? "True" : "False";
  if (value.integer()) return std::to_string(*value.integer());
  if (value.real()) return shortest(*value.real());
  if (value.text()) return python_quoted(*value.text());
  if (value.marked()) return "Markup(" + python_quoted(*value.marked()) + ")";
  if (value.dict()) return dict_text(*value.dict());
  if (const auto* sequence = value.sequence()) {
    const std::string items = listed(sequence->values);
    switch (sequence->kind) {
      case Sequence::Kind::list:
        return "[" + items + "]";
      case Sequence::Kind::tuple:
        return "(" + items + (sequence->values.size() == 1 ? ",)" : ")");
      case Sequence::Kind::keys:
      case Sequence::Kind::values:
      case Sequence::Kind::items:
        return str(value.type(), "([", items, "])");
      case Sequence::Kind::range:
        return str("range(", sequence->begin, ", ", sequence->end,
                   sequence->step == 1 ? "" : str(", ", sequence->step), ")");
      case Sequence::Kind::generator:
        break;
    }
  }
  if (const auto* loop = value.loop())
    return str("<LoopContext ", loop->index0 + 1, "/", loop->items.size(), ">");
  throw Fault{str("writing a value of type ", value.type(), " is not supported",
                  value.sequence() ? "; a list of it is ('|list')" : "")};
}

std::string to_text(const Value& value) {
  if (value.text()) return *value.text();
  if (value.marked()) return *value.marked();
  if (value.undefined()) return {};
  return representation(value);
}

namespace {

std::string json_key(const Value& key, const JsonStyle& style) {
  if (key.text() || key.marked()) return json_quoted(to_text(key), style.ensure_ascii);
  if (key.sequence()) throw Fault{"tojson: a key is no text and no number"};
  return '"' + to_json_text(key, style) + '"';
}

std::string json_text(const Value& value, const JsonStyle& style, const std::string& margin);

/// Brackets around items; in the pretty style, each item is on its own line.
std::string bracketed(char open, char close, const std::vector<std::string>& items,
                      const JsonStyle& style, const std::string& margin) {
  if (items.empty()) return {open, close};
  const std::string outer = style.pretty ? "\n" + margin : "";
  const std::string inner = style.pretty ? outer + style.indent : "";
  return open + inner + join(items, style.item_separator + inner) + outer + close;
}

std::string json_text(const Value& value, const JsonStyle& style, const std::string& margin) {
  const std::string deeper = margin + style.indent;
  if (value.is_none()) return "null";
  if (value.boolean()) return *value.boolean() ? "true" : "false";
  if (value.integer()) return std::to_string(*value.integer());
  if (value.text() || value.marked()) return json_quoted(to_text(value), style.ensure_ascii);
  if (const auto* real = value.real()) {
    const std::string text = shortest(*real);
    return text == "nan" ? "NaN" : text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : text;
  }
  if (const auto* sequence = value.sequence();
      sequence &&
      (sequence->kind == Sequence::Kind::list || sequence->kind == Sequence::Kind::tuple)) {
    std::vector<std::string> items;
    for (const Value& item : sequence->values) items.push_back(json_text(item, style, deeper));
    return bracketed('[', ']', items, style, margin);
  }
  if (const auto* dict = value.dict()) {
    auto entries = dict->entries;
    if (style.sort_keys)
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto& a, const auto& b) { return less(a.first, b.first); });
    std::vector<std::string> items;
    for (const auto& [key, item] : entries)
      items.push_back(json_key(key, style) + style.key_separator + json_text(item, style, deeper));
    return bracketed('{', '}', items, style, margin);
  }
  throw Fault{str("tojson does not take a value of type ", value.type())};
}

}  // namespace

std::string to_json_text(const Value& value, const JsonStyle& style) {
  return json_text(value, style, "");
}

}  // namespace pardec::jinja
