#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// ROUGE (Lin 2004) as in the package rouge-score 0.1.2: rouge1, rouge2 and rougeL, but not
/// rougeLsum. Pure functions. The package `rouge`, which the SPACE paper uses for XSum, gives other
/// scores: it splits at spaces, keeps case and punctuation, and has no stemmer.

/// The tokens of rouge-score: the runs of a-z and 0-9 in the text in lower case. `stem`: tokens of
/// more than three characters are stemmed (porter_stem).
std::vector<std::string> rouge_tokens(std::string_view text, bool stem);

/// The tokens of texts in all scripts (script_words). Tokens of only a-z and 0-9 are stemmed as in
/// rouge_tokens, so that a text with only such tokens has the same tokens in both functions.
std::vector<std::string> unicode_tokens(std::string_view text, bool stem);

/// Whether rouge_tokens ignores much of a text. rouge_tokens treats characters other than a-z, A-Z
/// and 0-9 as separators. The result is true if at least a third of the words (unicode_tokens)
/// contain such characters, or if more than half of the words' characters are of this kind.
bool is_outside_rouge(std::string_view text);

/// Precision, recall and their harmonic mean, from 0 to 1.
struct RougeScore {
  double precision = 0, recall = 0, f1 = 0;
};

/// The overlap of n-grams. Each n-gram counts min(occurrences in the reference, occurrences in the
/// prediction) times. REQUIRES: n > 0.
RougeScore rouge_n(const std::vector<std::string>& reference,
                   const std::vector<std::string>& prediction, int n);

/// The longest common subsequence. Takes time proportional to the product of the lengths.
RougeScore rouge_l(const std::vector<std::string>& reference,
                   const std::vector<std::string>& prediction);

/// The scores of a prediction. With several references, each of the three scores is computed for
/// the reference that gives the highest F1 of this score, as HELM does for NarrativeQA. All are 0
/// if there are no references.
struct RougeScores {
  RougeScore rouge1, rouge2, rougel;
};
/// Scores a prediction. `stem`: see rouge_tokens. `tokens`: rouge_tokens or unicode_tokens.
RougeScores rouge(std::string_view prediction, const std::vector<std::string>& references,
                  bool stem,
                  std::vector<std::string> (*tokens)(std::string_view, bool) = rouge_tokens);

}  // namespace pardec
