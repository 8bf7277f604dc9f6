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
                  bool stem);

}  // namespace pardec
