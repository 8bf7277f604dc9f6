#include "metrics/token_f1.hpp"

#include <algorithm>
#include <map>

#include "metrics/python_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The normalised prediction that means "no answer".
constexpr std::string_view kNull = "null";

bool is_ascii_punctuation(char c) {  // Python's string.punctuation
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

/// Number of common words; a repeated word counts as often as in the side with fewer repetitions.
long common_words(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::map<std::string_view, long> left;
  for (const auto& word : a) ++left[word];
  long common = 0;
  for (const auto& word : b)
    if (const auto found = left.find(word); found != left.end() && found->second-- > 0) ++common;
  return common;
}

double token_f1(const std::vector<std::string>& prediction, const std::vector<std::string>& gold) {
  if (prediction.empty() || gold.empty()) return prediction.empty() && gold.empty() ? 1 : 0;
  const auto common = static_cast<double>(common_words(gold, prediction));
  if (common == 0) return 0;
  const double precision = common / static_cast<double>(prediction.size());
  const double recall = common / static_cast<double>(gold.size());
  return 2 * precision * recall / (precision + recall);
}

}  // namespace

std::string normalise_answer(std::string_view text) {
  std::string lower = python_lower(text);
  std::erase_if(lower, is_ascii_punctuation);  // no byte of another character is ASCII
  std::string without_articles;
  for (const WordStretch& stretch : word_stretches(lower)) {
    const bool article =
        stretch.word && (stretch.text == "a" || stretch.text == "an" || stretch.text == "the");
    without_articles += article ? " " : stretch.text;
  }
  return join(python_split(without_articles), " ");
}

TokenScores squad_scores(std::string_view prediction, const std::vector<std::string>& references) {
  const std::string answer = normalise_answer(prediction);
  const auto words = python_split(answer);
  TokenScores best;
  bool any = false;
  const auto compare = [&](const std::string& gold) {
    any = true;
    if (answer.empty() && gold == kNull) best = {1, 1};
    best.exact = std::max(best.exact, gold == answer ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, token_f1(words, python_split(gold)));
  };
  for (const auto& reference : references)
    if (const std::string gold = normalise_answer(reference); !gold.empty()) compare(gold);
  if (any) return best;
  return answer.empty() || answer == kNull ? TokenScores{1, 1} : TokenScores{};
}

SquadSummary squad_summary(const std::vector<SquadQuestion>& questions) {
  SquadSummary summary;
  for (const auto& question : questions)
    for (SquadSummary::Part* part :
         {&summary.all, question.has_answer ? &summary.has_answer : &summary.no_answer}) {
      part->exact += question.scores.exact;
      part->f1 += question.scores.f1;
      ++part->total;
    }
  for (SquadSummary::Part* part : {&summary.all, &summary.has_answer, &summary.no_answer})
    for (double* sum : {&part->exact, &part->f1})
      if (part->total) *sum /= static_cast<double>(part->total);
  return summary;
}

}  // namespace pardec
