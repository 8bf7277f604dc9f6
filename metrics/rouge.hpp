#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// ROUGE (Lin 2004) as the package rouge-score 0.1.2 computes it (rouge1, rouge2, rougeL; its
/// rougeLsum is not here). Pure functions. The package `rouge`, which the SPACE paper uses for
/// XSum, differs: it splits at spaces, keeps case and punctuation, and has no stemmer.

/// Lower case, runs of a-z and 0-9 alone; `stem`: words of more than three letters stemmed
/// (porter_stem).
std::vector<std::string> rouge_tokens(std::string_view text, bool stem);

/// The same of words of all scripts: after NFC and lower case, runs of letters, marks and numbers
/// of Unicode; each character of a script without spaces between words (Han, kana, Thai, Lao,
/// Khmer, Burmese) with its marks is a word of its own. Words of a-z and 0-9 alone are stemmed as
/// there, so that a text of these has the same words.
std::vector<std::string> unicode_tokens(std::string_view text, bool stem);

/// Whether most letters and numbers of a text are none of a-z, A-Z and 0-9, which are all that
/// rouge_tokens sees of it.
bool is_outside_rouge(std::string_view text);

struct RougeScore {
  double precision = 0, recall = 0, f1 = 0;
};

/// Overlap of n-grams, each counted as often as in the side that has it less often. REQUIRES: n >
/// 0.
RougeScore rouge_n(const std::vector<std::string>& reference,
                   const std::vector<std::string>& prediction, int n);

/// Longest common subsequence. Cost: product of the lengths.
RougeScore rouge_l(const std::vector<std::string>& reference,
                   const std::vector<std::string>& prediction);

/// The scores of a prediction, each that of the reference with the best F1 (as HELM scores
/// NarrativeQA); zeros without references.
struct RougeScores {
  RougeScore rouge1, rouge2, rougel;
};
RougeScores rouge(std::string_view prediction, const std::vector<std::string>& references,
                  bool stem,
                  std::vector<std::string> (*tokens)(std::string_view, bool) = rouge_tokens);

}  // namespace pardec
