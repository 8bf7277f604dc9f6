#include "metrics/maths_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::size_t kLongest = 4096;  // bytes of an answer; longer ones are compared as texts
constexpr int kDeepest = 64;            // brackets inside brackets

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The end of the group that opens at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      continue;
    }
    depth += text[i] == '{';
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// Replaces \name{content} by its content.
std::string unwrapped(std::string text, std::string_view command) {
  const std::string opening = str("\\", command, "{");
  for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
    const std::size_t end = closing(text, at + opening.size() - 1);
    if (end == std::string::npos) return text;
    text.replace(at, end + 1 - at, text.substr(at + opening.size(), end - at - opening.size()));
  }
  return text;
}

/// Words in an answer that are units or do not change its value.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 62> kUnits = {
      "degree", "degrees", "cm",      "mm",      "m",       "km",         "meter",    "meters",
      "metre",  "metres",  "inch",    "inches",  "foot",    "feet",       "ft",       "yard",
      "yards",  "mile",    "miles",   "mph",     "unit",    "units",      "square",   "cubic",
      "second", "seconds", "minute",  "minutes", "hour",    "hours",      "day",      "days",
      "week",   "weeks",   "month",   "months",  "year",    "years",      "dollar",   "dollars",
      "cent",   "cents",   "percent", "gram",    "grams",   "kg",         "pound",    "pounds",
      "liter",  "liters",  "litres",  "way",     "ways",    "student",    "students", "point",
      "points", "per",     "people",  "sq",      "radians", "centimeters"};
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

/// Removes units after a number: "5 cm", "5\text{ cm}^2".
std::string without_units(const std::string& text) {
  std::string rest;
  bool after_unit = false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_letter(text[i]) && (i == 0 || text[i - 1] != '\\')) {
      std::size_t end = i;
      while (end < text.size() && is_letter(text[end])) ++end;
      const std::string word = text.substr(i, end - i);
      // a single letter directly at a number is a variable
      const bool apart = i == 0 || text[i - 1] == ' ';
      after_unit = is_unit(lower_ascii(word)) && !rest.empty() && (word.size() > 1 || apart);
      if (!after_unit) rest += word;
      i = end;
      continue;
    }
    if (text[i] == '\\') {  // a command, with its name
      rest += text[i++];
      while (i < text.size() && is_letter(text[i])) rest += text[i++];
      after_unit = false;
      continue;
    }
    if (after_unit && text[i] == '^') {  // the power of a unit
      ++i;
      if (i < text.size() && text[i] == '{') {
        const std::size_t end = closing(text, i);
        i = end == std::string::npos ? text.size() : end + 1;
      } else {
        ++i;
      }
      continue;
    }
    if (text[i] != ' ') after_unit = false;
    rest += text[i++];
  }
  return rest;
}

std::string normalised(std::string_view raw) {
  // the end of a matrix row begins no other command
  std::string text = replace_all(std::string(strip(raw)), "\\\\", ";");
  for (const char* gone :
       {"\\left", "\\right", "\\displaystyle", "\\!", "\\,", "\\;", "\\:", "\\%", "%", "\\$", "$",
        "^\\circ", "^{\\circ}", "\\circ", "\\degree", "°", "\\ "})
    text = replace_all(text, gone, gone == std::string_view("\\ ") ? " " : "");
  for (const auto& [from, to] : {std::pair{"\\dfrac", "\\frac"},
                                 {"\\tfrac", "\\frac"},
                                 {"\\cfrac", "\\frac"},
                                 {"{,}", ""},
                                 {"\\lbrace", "\\{"},
                                 {"\\rbrace", "\\}"},
                                 {"\\cdot", "*"},
                                 {"\\times", "*"},
                                 {"\\div", "/"},
                                 {"\\infty", "infinity"},
                                 {"\\leq", "\\le"},
                                 {"\\geq", "\\ge"},
                                 {"\\neq", "\\ne"},
                                 {"−", "-"},
                                 {"~", " "}})
    text = replace_all(text, from, to);
  for (const char* command : {"text", "textbf", "mathrm", "mbox", "mathbf", "mathit", "textit"})
    text = unwrapped(std::move(text), command);
  text = std::string(strip(without_units(text)));
  while (!text.empty() && (text.back() == '.' || text.back() == ',')) text.pop_back();
  // "x = 5", "f(x) = 5": the part after the sign
  if (const std::size_t equals = text.find('=');
      equals != std::string::npos && text.find('=', equals + 1) == std::string::npos &&
      equals > 0 && std::string_view("<>!").find(text[equals - 1]) == std::string_view::npos) {
    const std::string left(strip(std::string_view(text).substr(0, equals)));
    const bool name = left.size() == 1 || (left.size() == 4 && left[1] == '(' && left[3] == ')');
    if (name && is_letter(left[0])) text.erase(0, equals + 1);
  }
  return std::string(strip(text));
}

/// "1,234,567" without its commas, if the text is only a number.
std::string without_thousands(const std::string& text) {
  std::size_t digits = 0;
  bool any = false;
  for (std::size_t i = text.starts_with('-'); i < text.size() && text[i] != '.'; ++i) {
    if (text[i] == ',') {
      if (digits == 0 || digits > 3 || (any && digits != 3)) return text;
      any = true, digits = 0;
    } else if (is_digit(text[i])) {
      ++digits;
    } else {
      return text;
    }
  }
  return any && digits == 3 ? replace_all(text, ",", "") : text;
}

/// Evaluates an expression in numbers and variables of one letter. NaN: the text
/// is not such an expression.
class Evaluation {
 public:
  Evaluation(std::string_view text, double point) : text_(text), point_(point) {}

  double value() {
    const double value = sum();
    skip();
    return at_ == text_.size() && !failed_ ? value : std::nan("");
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    if (token.front() == '\\' && at_ + token.size() < text_.size() &&
        is_letter(text_[at_ + token.size()]) && is_letter(token.back()))
      return false;
    at_ += token.size();
    return true;
  }
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  /// Ends the evaluation.
  double fail() {
    at_ = text_.size();
    failed_ = true;
    return std::nan("");
  }

  double sum() {
    if (++depth_ > kDeepest) return fail();
    double value = product();
    for (;;) {
      if (take("+"))
        value += product();
      else if (take("-"))
        value -= product();
      else
        break;
    }
    --depth_;
    return value;
  }
  double product() {
    double value = signed_power();
    for (;;) {
      if (take("*"))
        value *= signed_power();
      else if (take("/"))
        value /= signed_power();
      else if (begins_factor())  // implicit multiplication
        value *= power();
      else
        return value;
    }
  }
  bool begins_factor() {
    const char c = next();
    if (c == '(' || c == '{' || is_letter(c)) return true;
    const std::string_view rest = text_.substr(at_);
    return rest.starts_with("\\sqrt") || rest.starts_with("\\frac") || rest.starts_with("\\pi");
  }
  double signed_power() {
    if (take("-")) return -signed_power();
    if (take("+")) return signed_power();
    return power();
  }
  double power() {
    const double base = factor();
    if (!take("^")) return base;
    const double exponent = next() == '{' ? group() : signed_factor();
    return std::pow(base, exponent);
  }
  double signed_factor() { return take("-") ? -factor() : factor(); }
  /// {...}, or a single digit or letter, as LaTeX reads an argument.
  double argument() {
    if (next() == '{') return group();
    if (is_digit(next())) return text_[at_++] - '0';
    return factor();
  }
  double group() {
    if (!take("{")) return fail();
    const double value = sum();
    return take("}") ? value : fail();
  }
  double factor() {
    const char c = next();
    if (is_digit(c) || c == '.') return number();
    if (c == '{') return group();
    if (take("(")) {
      const double value = sum();
      return take(")") ? value : fail();
    }
    if (take("\\frac")) {
      const double above = argument();
      return above / argument();
    }
    if (take("\\sqrt") || take("sqrt")) {
      double root = 2;
      if (take("[")) {
        root = sum();
        if (!take("]")) return fail();
      }
      const double value = next() == '(' ? factor() : argument();
      return value < 0 && root == 2 ? fail() : std::pow(value, 1 / root);
    }
    if (take("\\pi") || take("pi") || take("π")) return std::numbers::pi;
    if (is_letter(c)) {
      // A word is not a product of variables.
      if (at_ + 2 < text_.size() && is_letter(text_[at_ + 1]) && is_letter(text_[at_ + 2]))
        return fail();
      ++at_;
      return 1 + std::fmod(point_ * (c - 'A' + 1) * std::numbers::phi, 3);
    }
    return fail();
  }
  double number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string digits(text_.substr(begin, at_ - begin));
    if (std::count(digits.begin(), digits.end(), '.') > 1 || digits == ".") return fail();
    const double value = std::strtod(digits.c_str(), nullptr);
    // a mixed number: 2\frac{1}{3}
    if (digits.find('.') == std::string::npos && text_.substr(at_).starts_with("\\frac")) {
      const double fraction = factor();
      return value + fraction;
    }
    return value;
  }

  std::string_view text_;
  double point_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;  // pow(x, NaN) may be a number
};

bool same_value(const std::string& a, const std::string& b) {
  constexpr double kNear = 1e-9;
  for (const double point : {0.37, 1.71, 2.93}) {
    const double x = Evaluation(a, point).value(), y = Evaluation(b, point).value();
    if (!std::isfinite(x) || !std::isfinite(y) ||
        std::abs(x - y) > kNear * std::max({1.0, std::abs(x), std::abs(y)}))
      return false;
  }
  return true;
}

/// A list in its brackets: "(1, 2]" is {"(]", {"1", "2"}}; without brackets: "".
struct List {
  std::string brackets;
  std::vector<std::string> items;
};

List list_of(std::string text) {
  List list;
  const auto inside = [&](std::string_view opening, std::string_view closing_mark,
                          const char* brackets) {
    if (!list.brackets.empty() || !text.starts_with(opening) || !text.ends_with(closing_mark) ||
        text.size() < opening.size() + closing_mark.size())
      return;
    list.brackets = brackets;
    text = text.substr(opening.size(), text.size() - opening.size() - closing_mark.size());
  };
  const std::string whole = text;
  inside("\\{", "\\}", "{}");
  for (const char* brackets : {"()", "[]", "(]", "[)"})
    inside(std::string(1, brackets[0]), std::string(1, brackets[1]), brackets);
  int depth = 0;
  std::string item;
  bool broken = false;
  for (const char c : text) {
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    broken = broken || depth < 0;
    if (c == ',' && depth == 0) {
      list.items.emplace_back(strip(item));
      item.clear();
    } else {
      item += c;
    }
  }
  list.items.emplace_back(strip(item));
  // "(1)(2)" and "(x+1)" are expressions, not lists
  if (broken || (list.items.size() == 1 && list.brackets != "{}")) return {"", {whole}};
  return list;
}

std::string without_spaces(const std::string& text) {
  std::string rest;
  for (const char c : text)
    if (c != ' ') rest += c;
  return lower_ascii(rest);
}

bool same_normalised(const std::string& a, const std::string& b, int depth);

bool same_items(const List& a, const List& b, int depth) {
  if (a.brackets != b.brackets || a.items.size() != b.items.size()) return false;
  if (!a.brackets.empty() && a.brackets != "{}") {
    for (std::size_t i = 0; i < a.items.size(); ++i)
      if (!same_normalised(a.items[i], b.items[i], depth + 1)) return false;
    return true;
  }
  std::vector<bool> used(b.items.size());
  return std::all_of(a.items.begin(), a.items.end(), [&](const std::string& item) {
    for (std::size_t i = 0; i < b.items.size(); ++i)
      if (!used[i] && same_normalised(item, b.items[i], depth + 1)) {
        used[i] = true;
        return true;
      }
    return false;
  });
}

bool same_normalised(const std::string& a, const std::string& b, int depth) {
  if (without_spaces(a) == without_spaces(b)) return true;
  if (depth > 8) return false;
  const std::string x = without_thousands(a), y = without_thousands(b);
  if (same_value(x, y)) return true;
  // "a \pm b" is two values
  const auto both = [](const std::string& text) {
    const std::string plus = replace_all(text, "\\pm", "+"), minus = replace_all(text, "\\pm", "-");
    return plus == text ? text : str(plus, ",", minus);
  };
  const List first = list_of(both(x)), second = list_of(both(y));
  if (first.items.size() < 2 && first.brackets.empty()) return false;
  return same_items(first, second, depth);
}

}  // namespace

std::optional<std::string> boxed(std::string_view text) {
  std::size_t open = std::string_view::npos;
  for (const std::string_view command : {"\\boxed", "\\fbox"})
    if (const std::size_t at = text.rfind(command); at != std::string_view::npos) {
      const std::size_t brace = text.find_first_not_of(' ', at + command.size());
      if (brace == std::string_view::npos || text[brace] != '{') continue;
      if (open == std::string_view::npos || brace > open) open = brace;
    }
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t end = closing(text, open);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(open + 1, end - open - 1));
}

bool same_maths_answer(std::string_view a, std::string_view b) {
  if (strip(a).empty() || strip(b).empty()) return false;
  if (strip(a) == strip(b)) return true;
  if (a.size() > kLongest || b.size() > kLongest) return false;
  return same_normalised(normalised(a), normalised(b), 0);
}

}  // namespace pardec
