#pragma once
#include <filesystem>

#include "judges/judge.hpp"

/// The protocols, one a file. Their wording is in judges/prompts, their pages are the headers here.
namespace pardec {

/// Each value of an example is put into one of five classes by the example's text alone (HPD paper,
/// Figure 11); rates by metrics/judge_f1.hpp. Labels: correct, incorrect, missing, correct null,
/// hallucination.
JudgeProtocol five_classes();

/// One answer is graded from 1 to 10 (MT-Bench's single-answer grading, Zheng et al. 2023; APAR and
/// ASPD). A second turn is judged with both turns in sight, and is a row of its own.
JudgeProtocol single(ShowReferences references);

/// Of two answers the better one, or a tie (MT-Bench's pairwise comparison; SPACE's Figure 3, HPD's
/// Figure 8).
JudgeProtocol pairwise(ShowReferences references);

/// A prompt and the schema of its verdict from a file of the user's:
///   {"name": "polite", "compares": false, "system": "...",
///    "prompt": "... {question} ... {answer} ...", "schema": {...}, "verdict": "polite",
///    "values": {"yes": 1, "no": 0}}
/// `verdict` names the property that is the verdict: a number, a boolean, or a string with an enum;
/// `values` gives the labels of an enum numbers. Slots: {category} {text} {question} {reference}
/// {answer}, and {answer_a} {answer_b} in place of it where two answers are compared, whose enum is
/// "A", "B", "tie"; {mark} is a word that the judged texts do not hold. ConfigError with the file.
JudgeProtocol from_template(const std::filesystem::path& file);

}  // namespace pardec
