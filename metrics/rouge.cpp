#include "metrics/rouge.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "metrics/porter_stemmer.hpp"
#include "metrics/python_text.hpp"

namespace pardec {

namespace {

bool is_token_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

RougeScore score(size_t common, size_t reference, size_t prediction) {
  const auto ratio = [&](size_t whole) {
    return static_cast<double>(common) / static_cast<double>(std::max<size_t>(whole, 1));
  };
  const double p = ratio(prediction), r = ratio(reference);
  return {p, r, p + r > 0 ? 2 * p * r / (p + r) : 0};
}

using Counts = std::map<std::vector<std::string>, size_t>;

Counts n_grams(const std::vector<std::string>& tokens, size_t n) {
  Counts counts;
  for (size_t i = 0; i + n <= tokens.size(); ++i)
    ++counts[{tokens.begin() + static_cast<std::ptrdiff_t>(i),
              tokens.begin() + static_cast<std::ptrdiff_t>(i + n)}];
  return counts;
}

size_t total(const Counts& counts) {
  size_t sum = 0;
  for (const auto& [gram, count] : counts) sum += count;
  return sum;
}

}  // namespace

std::vector<std::string> rouge_tokens(std::string_view text, bool stem) {
  std::vector<std::string> tokens;
  std::string token;
  const auto close = [&] {
    if (stem && token.size() > 3) token = porter_stem(token);
    if (!token.empty()) tokens.push_back(token);
    token.clear();
  };
  for (const char c : python_lower(text)) {
    if (is_token_character(c))
      token += c;
    else
      close();
  }
  close();
  return tokens;
}

std::vector<std::string> unicode_tokens(std::string_view text, bool stem) {
  std::vector<std::string> words = script_words(text);
  for (std::string& word : words)
    if (stem && word.size() > 3 && std::all_of(word.begin(), word.end(), is_token_character))
      word = porter_stem(word);
  return words;
}

bool is_outside_rouge(std::string_view text) {
  std::size_t all = 0, inside = 0, words = 0, whole = 0;
  for (const std::string& word : script_words(text)) {
    ++words;
    whole += std::all_of(word.begin(), word.end(), is_token_character);
    for (const char c : word) {
      all += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      inside += is_token_character(c);
    }
  }
  return 2 * inside < all || 3 * (words - whole) >= std::max<std::size_t>(words, 1);
}

RougeScore rouge_n(const std::vector<std::string>& reference,
                   const std::vector<std::string>& prediction, int n) {
  const Counts theirs = n_grams(reference, static_cast<size_t>(n));
  const Counts ours = n_grams(prediction, static_cast<size_t>(n));
  size_t common = 0;
  for (const auto& [gram, count] : theirs)
    if (const auto found = ours.find(gram); found != ours.end())
      common += std::min(count, found->second);
  return score(common, total(theirs), total(ours));
}

RougeScore rouge_l(const std::vector<std::string>& reference,
                   const std::vector<std::string>& prediction) {
  // Row by row: best[j] is the length for the references so far and the first j predicted tokens.
  std::vector<size_t> best(prediction.size() + 1, 0), before;
  for (const auto& token : reference) {
    before = best;
    for (size_t j = 0; j < prediction.size(); ++j)
      best[j + 1] = token == prediction[j] ? before[j] + 1 : std::max(before[j + 1], best[j]);
  }
  return score(best.back(), reference.size(), prediction.size());
}

RougeScores rouge(std::string_view prediction, const std::vector<std::string>& references,
                  bool stem, std::vector<std::string> (*tokens)(std::string_view, bool)) {
  RougeScores best;
  const auto ours = tokens(prediction, stem);
  const auto better = [](RougeScore& known, const RougeScore& now) {
    if (now.f1 > known.f1) known = now;
  };
  for (const auto& reference : references) {
    const auto theirs = tokens(reference, stem);
    better(best.rouge1, rouge_n(theirs, ours, 1));
    better(best.rouge2, rouge_n(theirs, ours, 2));
    better(best.rougel, rouge_l(theirs, ours));
  }
  return best;
}

}  // namespace pardec
