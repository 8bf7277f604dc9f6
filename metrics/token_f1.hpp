#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// SQuAD 2.0's exact match and token F1 (Rajpurkar et al. 2018), as its evaluate-v2.0.py counts
/// them without probabilities of no answer. Pure functions; values in 0..1, where the script prints
/// percentages.
/// Differs from the script: it has the answer "" where there is none, our prompts ask for the word
/// `null`; a prediction that normalises to `null` ("NULL", "Null.") says the same as "".

/// normalize_answer: lower case, without ASCII punctuation, then without the words a, an, the, one
/// space between what is left.
std::string normalise_answer(std::string_view text);

struct TokenScores {
  double exact = 0, f1 = 0;
};

/// The best exact match and the best F1 of a prediction over the accepted answers; references that
/// normalise to nothing are left out, and where none is left the right answer is "". The F1 counts
/// common words with their repetitions; where either side has no word, it is 1 if neither has. A
/// prediction of `null` is right where no answer is, and "" where a reference is `null` itself.
TokenScores squad_scores(std::string_view prediction, const std::vector<std::string>& references);

/// One question's scores, and whether it has an answer (any, even one that normalises to nothing).
struct SquadQuestion {
  TokenScores scores;
  bool has_answer = true;
};

/// Means over questions; 0 over none.
struct SquadSummary {
  struct Part {
    double exact = 0, f1 = 0;
    long total = 0;
  };
  Part all, has_answer, no_answer;
};
SquadSummary squad_summary(const std::vector<SquadQuestion>& questions);

}  // namespace pardec
