#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// SQuAD 2.0's exact match and token F1 (Rajpurkar et al. 2018), as computed by its
/// evaluate-v2.0.py without no-answer probabilities. Pure functions. Values are in 0..1; the script
/// prints percentages. One difference: in the script, no answer is "". This project's prompts ask
/// for the word `null`, so a prediction that normalises to `null` ("NULL", "Null.") counts as "".

/// The script's normalize_answer: lower case, without ASCII punctuation, then without the words a,
/// an, the; words separated by single spaces.
std::string normalise_answer(std::string_view text);

struct TokenScores {
  double exact = 0, f1 = 0;
};

/// The best exact match and the best F1 of a prediction over the accepted answers. References that
/// normalise to nothing are left out; if none is left, the right answer is "". F1 counts common
/// words with repetitions; if either side has no words, it is 1 if both have none, else 0. A
/// prediction `null` is right if there is no answer. A prediction "" is right if a reference is
/// `null` itself.
TokenScores squad_scores(std::string_view prediction, const std::vector<std::string>& references);

/// One question's scores, and whether it has an answer (including one that normalises to nothing).
struct SquadQuestion {
  TokenScores scores;
  bool has_answer = true;
};

/// Means over questions; 0 without questions.
struct SquadSummary {
  struct Part {
    double exact = 0, f1 = 0;
    long total = 0;
  };
  Part all, has_answer, no_answer;
};
SquadSummary squad_summary(const std::vector<SquadQuestion>& questions);

}  // namespace pardec
