#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// SQuAD 2.0's exact match and token F1 (Rajpurkar et al. 2018), as in the authors'
/// evaluate-v2.0.py without no-answer probabilities. Pure functions. Values are from 0 to 1; the
/// script prints percentages. One difference: in the script, the prediction for "no answer" is "".
/// This project's prompts ask for the word `null`, so a prediction that normalises to `null`
/// ("NULL", "Null.") counts as "".

/// The script's normalize_answer: lower case, without ASCII punctuation, then without the words a,
/// an and the, with single spaces between words.
std::string normalise_answer(std::string_view text);

/// Exact match and F1 of one prediction, from 0 to 1.
struct TokenScores {
  double exact = 0, f1 = 0;
};

/// The best exact match and the best F1 of a prediction over all references. References that
/// normalise to an empty text are left out; if none is left, the right answer is "". F1 counts
/// common words with repetitions. If the prediction or a reference has no words, F1 is 1 if both
/// have none, otherwise 0. A prediction `null` is right if the right answer is "". A prediction ""
/// is right if a reference normalises to `null`.
TokenScores squad_scores(std::string_view prediction, const std::vector<std::string>& references);

/// The scores of one question, and whether the question has a reference (even a reference that
/// normalises to an empty text).
struct SquadQuestion {
  TokenScores scores;
  bool has_answer = true;
};

/// Means over all questions, over questions with an answer, and over questions without an answer.
struct SquadSummary {
  struct Part {
    double exact = 0, f1 = 0;  ///< means; 0 if there are no questions
    long total = 0;            ///< number of questions
  };
  Part all, has_answer, no_answer;
};
SquadSummary squad_summary(const std::vector<SquadQuestion>& questions);

}  // namespace pardec
