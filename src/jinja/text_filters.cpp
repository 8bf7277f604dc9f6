// Filters that produce texts.
#include <algorithm>
#include <array>
#include <cmath>

#include "src/jinja/filter_functions.hpp"
#include "src/jinja/format.hpp"
#include "src/jinja/format_number.hpp"
#include "src/jinja/operators.hpp"
#include "src/jinja/python_text.hpp"
#include "src/jinja/text_methods.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja::filter {

namespace {

/// Marked if the original text is marked.
Value made_of(V value, std::string text) {
  return value.marked() ? make_marked(std::move(text)) : Value(std::move(text));
}

}  // namespace

Value trim(V value, A arguments) {
  arguments.check(1, {"chars"});
  const Value characters = arguments.get(0, "chars", {});
  arguments.budget().take(value.weight(), characters.weight());
  return made_of(
      value, strip_text(to_text(value), true, true,
                        characters.is_none() ? std::nullopt : std::optional(to_text(characters))));
}

Value upper(V value, A arguments) {
  arguments.check(0, {});
  return made_of(value, upper_text(to_text(value)));
}
Value lower(V value, A arguments) {
  arguments.check(0, {});
  return made_of(value, lower_text(to_text(value)));
}
Value capitalize(V value, A arguments) {
  arguments.check(0, {});
  return made_of(value, capitalize_text(to_text(value)));
}
Value title(V value, A arguments) {
  arguments.check(0, {});
  return made_of(value, title_words(to_text(value)));
}
Value as_text(V value, A arguments) {
  arguments.check(0, {});
  return made_of(value, to_text(value));
}
Value center(V value, A arguments) {
  arguments.check(1, {"width"});
  return made_of(value,
                 padded(arguments.budget(), to_text(value),
                        arguments.get(0, "width", 80).whole("the width"), " ", Side::middle));
}

Value safe(V value, A arguments) {
  arguments.check(0, {});
  return make_marked(to_text(value));
}
Value escape(V value, A arguments) {
  arguments.check(0, {});
  return value.marked() ? value : make_marked(escape_html(to_text(value)));
}
Value force_escape(V value, A arguments) {
  arguments.check(0, {});
  return make_marked(escape_html(to_text(value)));
}

Value format(V value, A arguments) {
  if (value.marked()) throw Fault{"format of a marked text is not supported"};
  if (!arguments.positional().empty() && !arguments.named().empty())
    throw Fault{"format takes arguments with names or without, not both"};
  Dict names;
  for (const auto& [name, one] : arguments.named()) {
    arguments.budget().take(1 + std::ssize(names.entries));
    names.set(name, one);
  }
  const Value given = arguments.named().empty()
                          ? make_sequence(arguments.positional(), Sequence::Kind::tuple)
                          : make_dict(std::move(names));
  return percent_format(to_text(value), given, arguments.budget());
}

Value tojson(V value, A arguments) {
  arguments.check(4, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = arguments.get(0, "ensure_ascii", false).truth();
  style.sort_keys = arguments.get(3, "sort_keys", false).truth();
  const Value indent = arguments.get(1, "indent", {});
  if (!indent.is_none()) {
    style.pretty = true;
    style.item_separator = ",";
    style.indent = indent.text()
                       ? *indent.text()
                       : padded(arguments.budget(), "", indent.whole("indent"), " ", Side::left);
  }
  if (const Value separators = arguments.get(2, "separators", {}); !separators.is_none()) {
    const Values parts = iterate(separators, arguments.budget());
    if (parts.size() != 2 || !parts[0].text() || !parts[1].text())
      throw Fault{"tojson: 'separators' is no pair of texts"};
    style.item_separator = *parts[0].text();
    style.key_separator = *parts[1].text();
  }
  arguments.budget().take(value.weight(), text_steps(style.item_separator.size()) +
                                              text_steps(style.key_separator.size()) +
                                              value.depth() * text_steps(style.indent.size()));
  return to_json_text(value, style);
}

Value replace(V value, A arguments) {
  arguments.check(3, {"old", "new", "count"});
  const Value count = arguments.get(2, "count", {});
  return replace_within(arguments.budget(), to_text(value), to_text(arguments.get(0, "old")),
                        to_text(arguments.get(1, "new")),
                        count.is_none() ? -1 : count.whole("count"));
}

Value indent(V value, A arguments) {
  arguments.check(3, {"width", "first", "blank"});
  if (value.marked()) throw Fault{"indent of a marked text is not supported"};
  if (!value.text()) throw Fault{str("indent takes a text, found ", value.type())};
  const Value width = arguments.get(0, "width", 4);
  const std::string margin =
      width.text() ? *width.text()
                   : padded(arguments.budget(), "", width.whole("width"), " ", Side::left);
  const bool blank = arguments.get(2, "blank", false).truth();
  std::string out;
  arguments.budget().take(std::ssize(*value.text()));
  const auto lines = split_lines(*value.text() + "\n");
  arguments.budget().take(std::ssize(lines), text_steps(margin.size()));
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += "\n" + (blank || !lines[i].empty() ? margin : "");
    out += lines[i];
  }
  return arguments.get(1, "first", false).truth() ? margin + out : out;
}

Value truncate(V value, A arguments) {
  arguments.check(4, {"length", "killwords", "end", "leeway"});
  const std::int64_t most = arguments.get(0, "length", 255).whole("length");
  const Value end = arguments.get(2, "end", "..."), given = arguments.get(3, "leeway", {});
  const std::int64_t leeway = given.is_none() ? 5 : given.whole("leeway");
  if (most < length(end) || leeway < 0)
    throw Fault{str("truncate to ", most, " with an end of ", length(end),
                    ", expected no longer one, and a leeway of at least 0")};
  if (value.undefined()) return value;
  if (!value.text() || !end.text())
    throw Fault{str("truncate of a value of type ", value.type(), " is not supported")};
  if (length(value) - leeway <= most) return value;
  std::string kept = first_characters(*value.text(), most - length(end));
  if (!arguments.get(1, "killwords", false).truth()) kept = split_text(kept, " ", 1, true).front();
  return kept + *end.text();
}

Value wordcount(V value, A arguments) {
  arguments.check(0, {});
  std::int64_t words = 0;
  bool inside = false;
  for (const char32_t code : code_points(to_text(value))) {
    const bool part = is_letter(code) || is_numeric(code) || code == U'_';
    words += part && !inside ? 1 : 0;
    inside = part;
  }
  return words;
}

namespace {

/// Percent-encodes bytes other than letters, digits and `_.-~`; `/` only in a query.
std::string url_quoted(std::string_view text, bool in_query) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c & 0x80) == 0 && (std::isalnum(static_cast<unsigned char>(c)) ||
                                           std::string_view("_.-~").find(c) != std::string::npos);
    const auto byte = static_cast<unsigned char>(c);
    if (plain || (c == '/' && !in_query))
      out += c;
    else if (c == ' ' && in_query)
      out += '+';
    else
      out += str("%", "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]);
  }
  return out;
}

}  // namespace

Value urlencode(V value, A arguments) {
  arguments.check(0, {});
  if (value.text() || value.marked() || !is_iterable(value))
    return url_quoted(to_text(value), false);
  std::vector<std::string> parts;
  const auto add = [&](V key, V one) {
    parts.push_back(url_quoted(to_text(key), true) + "=" + url_quoted(to_text(one), true));
  };
  if (value.dict()) {
    for (const auto& [key, one] : value.dict()->entries) add(key, one);
  } else {
    for (const Value& pair : iterate(value, arguments.budget())) {
      const Values both = iterate(pair, arguments.budget());
      if (both.size() != 2) throw Fault{"urlencode: an item is no pair"};
      add(both[0], both[1]);
    }
  }
  return join(parts, "&");
}

Value striptags(V value, A arguments) {
  arguments.check(0, {});
  const std::string text = to_text(value);
  std::string kept;
  size_t at = 0;
  for (size_t begin = text.find('<'); begin != std::string::npos; begin = text.find('<', at)) {
    const bool comment = text.compare(begin, 4, "<!--") == 0;
    const size_t end = comment ? text.find("-->", begin + 4) : text.find('>', begin);
    if (end == std::string::npos) break;
    kept += text.substr(at, begin - at);
    at = end + (comment ? 3 : 1);
  }
  kept = join(split_text(kept + text.substr(at), std::nullopt, -1, false), " ");
  constexpr std::array<std::pair<std::string_view, char>, 6> kEntities{{{"&lt;", '<'},
                                                                        {"&gt;", '>'},
                                                                        {"&amp;", '&'},
                                                                        {"&quot;", '"'},
                                                                        {"&#39;", '\''},
                                                                        {"&#34;", '"'}}};
  std::string out;
  for (size_t i = 0; i < kept.size();) {
    const auto known = std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& one) {
      return kept.compare(i, one.first.size(), one.first) == 0;
    });
    if (known != kEntities.end()) {
      out += known->second;
      i += known->first.size();
      continue;
    }
    const char next = i + 1 < kept.size() ? kept[i + 1] : ' ';
    if (kept[i] == '&' && (next == '#' || std::isalpha(static_cast<unsigned char>(next))))
      throw Fault{
          "striptags of a text with other entities than &lt; &gt; &amp; &quot; is not "
          "supported"};
    out += kept[i++];
  }
  return out;
}

Value xmlattr(V value, A arguments) {
  arguments.check(1, {"autospace"});
  if (!value.dict()) throw Fault{str("xmlattr takes a dict, found ", value.type())};
  std::vector<std::string> parts;
  for (const auto& [key, one] : value.dict()->entries) {
    if (one.is_none() || one.undefined()) continue;
    if (!key.text() || key.text()->find_first_of(" \t\n\r\f\v/>=") != std::string::npos)
      throw Fault{str("xmlattr: ", representation(key), " is no name of an attribute")};
    parts.push_back(escape_html(*key.text()) + "=\"" +
                    (one.marked() ? *one.marked() : escape_html(to_text(one))) + "\"");
  }
  const std::string all = join(parts, " ");
  return !all.empty() && arguments.get(0, "autospace", true).truth() ? " " + all : all;
}

Value filesizeformat(V value, A arguments) {
  arguments.check(1, {"binary"});
  const bool binary = arguments.get(0, "binary", false).truth();
  std::optional<double> bytes;
  if (value.is_number()) bytes = value.as_real();
  if (value.text() || value.marked()) bytes = parse_real(to_text(value));
  if (!bytes || std::isnan(*bytes))
    throw Fault{str("filesizeformat takes a number, found ", value.type())};
  if (*bytes == 1) return "1 Byte";
  const double base = binary ? 1024 : 1000;
  if (*bytes < base) {
    if (*bytes < -9e18) throw Fault{"filesizeformat of so small a number is not supported"};
    return str(static_cast<std::int64_t>(*bytes), " Bytes");
  }
  constexpr double kDecimal[] = {1e6, 1e9, 1e12, 1e15, 1e18, 1e21, 1e24, 1e27};
  constexpr std::string_view kPrefixes = "kMGTPEZY";
  size_t at = 0;
  const auto unit = [&] {
    return binary ? std::ldexp(1.0, 20 + 10 * static_cast<int>(at)) : kDecimal[at];
  };
  while (at + 1 < kPrefixes.size() && *bytes >= unit()) ++at;
  const std::string prefix =
      binary ? str(kPrefixes[at] == 'k' ? 'K' : kPrefixes[at], "i") : std::string(1, kPrefixes[at]);
  return real_digits(base * *bytes / unit(), 'f', 1, false, arguments.budget()) + " " + prefix +
         "B";
}

namespace {

/// With the keys of dicts sorted, as in Python's pprint.
Value with_sorted_keys(V value, Budget& budget) {
  if (const auto* sequence = value.sequence();
      sequence &&
      (sequence->kind == Sequence::Kind::list || sequence->kind == Sequence::Kind::tuple)) {
    Values all;
    for (const Value& one : sequence->values) all.push_back(with_sorted_keys(one, budget));
    return make_sequence(std::move(all), sequence->kind);
  }
  if (!value.dict()) return value;
  Dict sorted;
  for (const auto& [key, one] : value.dict()->entries) {
    if (value.dict()->entries.size() > 1 && !key.text())
      throw Fault{"pprint of a dict with other keys than texts is not supported"};
    sorted.entries.emplace_back(key, with_sorted_keys(one, budget));
  }
  std::stable_sort(sorted.entries.begin(), sorted.entries.end(),
                   [](const auto& a, const auto& b) { return less(a.first, b.first); });
  return make_dict(std::move(sorted));
}

}  // namespace

Value pprint(V value, A arguments) {
  arguments.check(0, {});
  const std::string shown = representation(with_sorted_keys(value, arguments.budget()));
  if (length(Value(shown)) > 80)
    throw Fault{"pprint of what takes several lines is not supported; '|tojson(indent=2)' is"};
  return shown;
}

}  // namespace pardec::jinja::filter
