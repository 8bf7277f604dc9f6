// Worked examples by hand; the oracles in this folder compare with Python's own.
#include "metrics/choice_letter.hpp"
#include "metrics/decoding_metrics.hpp"
#include "metrics/exact_match.hpp"
#include "metrics/judge_f1.hpp"
#include "metrics/pass_at_k.hpp"
#include "metrics/porter_stemmer.hpp"
#include "metrics/program_text.hpp"
#include "metrics/python_text.hpp"
#include "metrics/rouge.hpp"
#include "metrics/token_f1.hpp"
#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using Texts = std::vector<std::string>;

TEST_CASE("answers are normalised: case, punctuation, articles, white space", "[metrics]") {
  CHECK(normalise_answer("  The CROW's  nest, an (old) one. ") == "crows nest old one");
  CHECK(normalise_answer("a") == "");
  CHECK(normalise_answer("a_the the_") == "athe");  // the underscore is punctuation and goes first
  CHECK(normalise_answer("“The” crow—the end") == "“ ” crow— end");  // other punctuation stays
  CHECK(normalise_answer("na\xC3\xAFve \xC3\x84RA") == "na\xC3\xAFve \xC3\xA4ra");
  CHECK(normalise_answer("bad \xFF byte") == "bad \xEF\xBF\xBD byte");
}

TEST_CASE("token F1 of SQuAD", "[metrics]") {
  CHECK(squad_scores("Norman kings", {"the Norman king"}).f1 == Approx(0.5));
  const TokenScores best = squad_scores("the crow flies", {"a crow", "crow flies!"});
  CHECK(best.exact == 1);
  CHECK(best.f1 == 1);
  CHECK(squad_scores("crow crow", {"crow"}).f1 == Approx(2 * 0.5 * 1 / 1.5));
  CHECK(squad_scores("", {}).exact == 1);
  CHECK(squad_scores("The!", {}).f1 == 1);  // nothing is left
  CHECK(squad_scores("crow", {}).f1 == 0);
  CHECK(squad_scores("", {"crow"}).f1 == 0);
  CHECK(squad_scores("", {"the"}).exact == 1);  // the only reference normalises to nothing
  CHECK(squad_scores("", {"the", "crow"}).exact == 0);
}

TEST_CASE("SQuAD's questions without an answer: null means that there is none", "[metrics]") {
  for (const char* none : {"null", "NULL", "Null", "null.", "\"null\"", " the Null! ", ""}) {
    INFO(none);
    CHECK(squad_scores(none, {}).exact == 1);
    CHECK(squad_scores(none, {}).f1 == 1);
    CHECK(squad_scores(none, {"the"}).exact == 1);  // no reference is left
    CHECK(squad_scores(none, {"crow"}).f1 == 0);
    CHECK(squad_scores(none, {"crow", "Null"}).exact == 1);  // an answer that equals this word
  }
  for (const char* some : {"null pointer", "nullify", "none", "no null"}) {
    INFO(some);
    CHECK(squad_scores(some, {}).exact == 0);
    CHECK(squad_scores(some, {}).f1 == 0);
  }
  CHECK(squad_scores("null", {"null pointer"}).f1 ==
        Approx(2.0 / 3));  // words in common, as before
  CHECK(squad_scores("", {"null pointer"}).f1 == 0);
}

TEST_CASE("SQuAD's parts with and without an answer", "[metrics]") {
  const SquadSummary s = squad_summary({{{1, 1}, true}, {{0, 0.5}, true}, {{1, 1}, false}});
  CHECK(s.all.exact == Approx(2.0 / 3));
  CHECK(s.all.f1 == Approx(2.5 / 3));
  CHECK(s.has_answer.f1 == Approx(0.75));
  CHECK(s.has_answer.total == 2);
  CHECK(s.no_answer.exact == 1);
  CHECK(s.no_answer.total == 1);
  CHECK(squad_summary({}).all.f1 == 0);
}

TEST_CASE("ROUGE counts overlaps and the longest common subsequence", "[metrics]") {
  CHECK(rouge_tokens("Running, ran\xE2\x80\x94Runs 3.5", false) ==
        Texts{"running", "ran", "runs", "3", "5"});
  CHECK(rouge_tokens("Running, ran\xE2\x80\x94Runs 3.5", true) ==
        Texts{"run", "ran", "run", "3", "5"});
  const auto cat = rouge("the cat sat", {"the cat sat down"}, true);
  CHECK(cat.rougel.f1 == Approx(6.0 / 7));
  CHECK(cat.rouge2.precision == 1);
  CHECK(cat.rouge2.recall == Approx(2.0 / 3));
  const RougeScore order = rouge_l({"a", "b", "c", "d"}, {"d", "a", "c", "x"});
  CHECK(order.precision == 0.5);
  CHECK(order.recall == 0.5);
  CHECK(rouge("cat", {"dog", "a cat", "the cat sat"}, false).rouge1.f1 == Approx(2.0 / 3));
  CHECK(rouge("", {"cat"}, false).rougel.f1 == 0);
  CHECK(rouge("cat", {}, false).rouge1.f1 == 0);
  CHECK(rouge("cat", {"cat"}, false).rouge2.f1 == 0);  // no pair of words on either side
}

TEST_CASE("the stemmer is NLTK's, also where it differs from Porter's", "[metrics]") {
  CHECK(porter_stem("relational") == "relat");
  CHECK(porter_stem("skies") == "sky");
  CHECK(porter_stem("dies") == "die");
  CHECK(porter_stem("spied") == "spi");
  CHECK(porter_stem("enjoy") == "enjoy");
  CHECK(porter_stem("happy") == "happi");
  CHECK(porter_stem("by") == "by");
  CHECK(porter_stem("geology") == "geolog");
}

TEST_CASE("exact match ignores white space and nothing else", "[metrics]") {
  CHECK(exact_match(" Red\n", {"Blue", "Red"}));
  CHECK_FALSE(exact_match("red", {"Red"}));
  CHECK(exact_match(" ", {}));
  CHECK_FALSE(exact_match("Red", {}));
  CHECK_FALSE(exact_match("", {"Red"}));
}

TEST_CASE("the letter of a multiple-choice answer", "[metrics]") {
  const Texts four(4), five(5);  // their texts are not known
  CHECK(chosen_letter("B", four) == 'B');
  CHECK(chosen_letter(" (C) because A", four) == 'C');
  CHECK(chosen_letter("The answer is D.", four) == 'D');
  CHECK(chosen_letter("b) the second", four) == 'B');
  CHECK(chosen_letter("E", four) == std::nullopt);
  CHECK(chosen_letter("E", five) == 'E');
  CHECK(chosen_letter("ABBA", four) == std::nullopt);
  CHECK(chosen_letter("", four) == std::nullopt);
  CHECK(right_choice("(b)", four, {"B"}));
  CHECK_FALSE(right_choice("A", four, {"B"}));
  CHECK_FALSE(right_choice("none", four, {"B"}));
  CHECK(right_choice("blue", {"red", "blue"}, {"Blue"}));
  CHECK_FALSE(right_choice("blue", {"red", "blue"}, {"green"}));
}

TEST_CASE("pass@k is the unbiased estimate", "[metrics]") {
  CHECK(pass_at_k(10, 0, 1) == 0);
  CHECK(pass_at_k(10, 3, 1) == Approx(0.3));
  CHECK(pass_at_k(5, 2, 2) == Approx(1 - 3.0 / 10));  // C(3,2) / C(5,2)
  CHECK(pass_at_k(10, 1, 10) == 1);
  CHECK(pass_at_k(12, 1, 10) == Approx(1 - 11.0 / 66));         // C(11,10) / C(12,10)
  CHECK(pass_at_k(20, 3, 10) == Approx(1 - 19448.0 / 184756));  // C(17,10) / C(20,10)
  CHECK(pass_at_k(200, 1, 100) == Approx(0.5));
  CHECK(pass_at_k(1, 1, 1) == 1);
  CHECK_THROWS_AS(pass_at_k(5, 6, 1), ConfigError);
  CHECK_THROWS_AS(pass_at_k(5, 1, 6), ConfigError);
  CHECK_THROWS_AS(pass_at_k(5, 1, 0), ConfigError);
  CHECK_THROWS_AS(pass_at_k(5, -1, 1), ConfigError);
}

TEST_CASE("the program of a task: imports, prompt, answer", "[metrics]") {
  const auto after_imports = [](const std::string& program) {
    return program.substr(program.find("def f"));
  };
  CHECK(task_head("def f():\n").starts_with("import math"));
  CHECK(after_imports(task_head("def f():\n")) == "def f():\n");
  CHECK(task_program("def f():\n", "    return 1") == task_head("def f():\n") + "    return 1\n");
  CHECK(after_imports(task_program("def f():\n    'd'\n",
                                   "Sure:\n```python\ndef f():\n  return 1\n```\nDone. ```x```")) ==
        "def f():\n    'd'\ndef f():\n  return 1\n");
  CHECK(after_imports(task_program("def f():\n", "```")) == "def f():\n\n");
}

TEST_CASE("the judge's classes give LLM-P, R and F1", "[metrics]") {
  const JudgeCounts counts{
      .correct = 6, .incorrect = 1, .missing = 1, .correct_null = 2, .hallucination = 2};
  CHECK(counts.precision() == Approx(8.0 / 11));
  CHECK(counts.recall() == Approx(0.8));
  CHECK(counts.f1() == Approx(2 * (8.0 / 11) * 0.8 / (8.0 / 11 + 0.8)));
  CHECK(JudgeCounts{}.f1() == 0);
}

TEST_CASE("repetition is the number of words divided by that of different words", "[metrics]") {
  CHECK(repetition("to be or not to be") == Approx(6.0 / 4));
  CHECK(repetition("go go go go") == 4);
  CHECK(repetition("go go go go") > kDegenerate);
  CHECK(repetition("Go go") == 1);
  CHECK(repetition(" \n") == 0);
}
