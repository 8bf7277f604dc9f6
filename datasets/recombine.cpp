#include "datasets/recombine.hpp"

#include <algorithm>
#include <string_view>

#include "src/support/text.hpp"

namespace pardec {

namespace {

// Probabilities of the changes to a value.
constexpr double kTakenOut = 0.1, kLeftAlone = 0.35;
constexpr double kInvented = 0.5;  // of replacements, if the attribute is open
// of replacements, with a value of the same attribute in another category
constexpr double kOtherCategory = 0.1;
constexpr double kNewDigits = 0.3;  // of replacements

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool letter(char c) { return lower(c) || upper(c); }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool in_word(char c) { return letter(c) || digit(c) || static_cast<unsigned char>(c) >= 0x80; }

char pick(std::string_view from, Rng& rng) { return from[rng.below(from.size())]; }

/// Random syllables in the case of `word`.
std::string invented_word(std::string_view word, Rng& rng) {
  static constexpr std::string_view onsets = "bcdfghjklmnprstvwz", vowels = "aaeeiioou",
                                    codas = "lmnrstx";
  const auto length = static_cast<size_t>(
      std::max<std::int64_t>(3, std::ssize(word) + static_cast<std::int64_t>(rng.below(3)) - 1));
  std::string made;
  while (made.size() < length) {
    made += pick(onsets, rng);
    made += pick(vowels, rng);
    if (rng.below(3) == 0) made += pick(codas, rng);
  }
  const bool all_upper = std::all_of(word.begin(), word.end(), upper);
  for (size_t i = 0; i < made.size(); ++i)
    if (all_upper || (i == 0 && upper(word[0]))) made[i] = static_cast<char>(made[i] - 'a' + 'A');
  return made;
}

std::string new_digits(std::string value, Rng& rng) {
  for (size_t i = 0; i < value.size(); ++i)
    if (digit(value[i])) {
      const bool leading = i == 0 || !digit(value[i - 1]);
      value[i] = pick(leading ? "123456789" : "0123456789", rng);
    }
  return value;
}

struct Span {
  size_t begin, end;
  size_t field;
  bool overlaps = false;
};

/// The position of `value` in `text` as whole words; npos if there is none.
size_t find_words(const std::string& text, const std::string& value) {
  for (size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + 1)) {
    const size_t end = at + value.size();
    if ((at == 0 || !in_word(text[at - 1]) || !in_word(value.front())) &&
        (end == text.size() || !in_word(text[end]) || !in_word(value.back())))
      return at;
  }
  return std::string::npos;
}

/// The first values of fields, in the order in which they occur in the title.
std::vector<Span> find_spans(const Example& example) {
  std::vector<Span> spans;
  for (size_t f = 0; f < example.fields.size(); ++f) {
    const auto& references = example.fields[f].references;
    if (references.empty()) continue;
    const size_t at = find_words(example.text, references.front());
    if (at != std::string::npos) spans.push_back({at, at + references.front().size(), f});
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  for (Span& a : spans)
    a.overlaps = std::any_of(spans.begin(), spans.end(), [&](const Span& b) {
      return &a != &b && a.begin < b.end && b.begin < a.end;
    });
  return spans;
}

}  // namespace

std::string invent(const std::string& value, Rng& rng) {
  std::string out;
  for (size_t i = 0; i < value.size();) {
    size_t end = i;
    while (end < value.size() && letter(value[end])) ++end;
    const std::string_view word(value.data() + i, end - i);
    if (word.empty())
      out += value[end++];
    else
      out += word.size() > 3 ? invented_word(word, rng) : std::string(word);
    i = end;
  }
  return new_digits(std::move(out), rng);
}

Recombiner::Recombiner(const std::vector<Example>& examples) {
  for (const Example& example : examples)
    for (const ExampleField& field : example.fields)
      for (const std::string& value : field.references) {
        Values& values = by_category_[example.category][field.name];
        values.all.push_back(value);
        values.distinct.insert(value);
        by_attribute_[field.name].push_back(value);
      }
}

std::string Recombiner::replacement(const std::string& category, const std::string& attribute,
                                    const std::string& value, Rng& rng) const {
  const Values& values = by_category_.at(category).at(attribute);
  if (values.open() && rng.uniform() < kInvented) return invent(value, rng);
  const auto& pool = rng.uniform() < kOtherCategory ? by_attribute_.at(attribute) : values.all;
  const std::string& other = pool[rng.below(pool.size())];
  return rng.uniform() < kNewDigits ? new_digits(other, rng) : other;
}

Example Recombiner::recombine(const Example& example, Rng& rng) const {
  Example made = example;
  made.text.clear();
  size_t at = 0;  // the part of the old title that has been copied
  for (const Span& span : find_spans(example)) {
    if (span.overlaps) continue;
    ExampleField& field = made.fields[span.field];
    const double what = rng.uniform();
    if (what >= kTakenOut && what < kTakenOut + kLeftAlone) continue;
    made.text += example.text.substr(at, span.begin - at);
    at = span.end;
    if (what < kTakenOut) {
      field.references.clear();
      // One of the two spaces around the value is removed with it.
      if (at < example.text.size() && example.text[at] == ' ' &&
          (made.text.empty() || made.text.back() == ' '))
        ++at;
      continue;
    }
    field.references = {replacement(example.category, field.name, field.references.front(), rng)};
    made.text += field.references.front();
  }
  made.text += example.text.substr(at);
  return made;
}

}  // namespace pardec
