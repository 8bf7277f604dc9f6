#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// ROUGE (Lin 2004) as computed by the package rouge-score 0.1.2 (rouge1, rouge2, rougeL; not
/// rougeLsum). Pure functions. The package `rouge`, which the SPACE paper uses for XSum, differs:
/// it splits at spaces, keeps case and punctuation, and has no stemmer.

/// The tokens of rouge-score: lower case, runs of a-z and 0-9 only. `stem`: words of more than
/// three letters are stemmed (porter_stem).
std::vector<std::string> rouge_tokens(std::string_view text, bool stem);

/// The same for words of all scripts: after NFC and lower case, runs of Unicode letters, marks and
/// numbers. In scripts without spaces between words (Han, kana, Thai, Lao, Khmer, Burmese), each
/// character with its marks is a word. Words of only a-z and 0-9 are stemmed as in rouge_tokens, so
/// that texts of these have the same words.
std::vector<std::string> unicode_tokens(std::string_view text, bool stem);

/// Whether rouge_tokens ignores much of a text: at least a third of its words (unicode_tokens)
/// contain characters outside a-z, A-Z and 0-9, or most characters of its words are such.
/// rouge_tokens treats these characters as separators.
bool is_outside_rouge(std::string_view text);

struct RougeScore {
  double precision = 0, recall = 0, f1 = 0;
};

/// Overlap of n-grams; a repeated n-gram counts as often as in the side with fewer repetitions.
/// REQUIRES: n > 0.
RougeScore rouge_n(const std::vector<std::string>& reference,
                   const std::vector<std::string>& prediction, int n);

/// Longest common subsequence. Time: product of the lengths.
RougeScore rouge_l(const std::vector<std::string>& reference,
                   const std::vector<std::string>& prediction);

/// The scores of a prediction, each for the reference with the best F1 (as HELM scores
/// NarrativeQA); zeros without references.
struct RougeScores {
  RougeScore rouge1, rouge2, rougel;
};
RougeScores rouge(std::string_view prediction, const std::vector<std::string>& references,
                  bool stem,
                  std::vector<std::string> (*tokens)(std::string_view, bool) = rouge_tokens);

}  // namespace pardec
