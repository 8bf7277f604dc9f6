#pragma once
#include <filesystem>

#include "judges/judge.hpp"

/// The protocols, one per file. Their wordings are in judges/prompts; the headers here document
/// them.
namespace pardec {

/// Puts each value of an example into one of five classes, based only on the example's text (HPD
/// paper, Figure 11); rates by metrics/judge_f1.hpp. Labels: correct, incorrect, missing, correct
/// null, hallucination.
JudgeProtocol five_classes();

/// Grades one answer from 1 to 10 (MT-Bench's single-answer grading, Zheng et al. 2023; used by
/// APAR and ASPD). A second turn is judged with both turns visible, and has its own row.
JudgeProtocol single(ShowReferences references);

/// Selects the better of two answers, or a tie (MT-Bench's pairwise comparison; SPACE's Figure 3,
/// HPD's Figure 8).
JudgeProtocol pairwise(ShowReferences references);

/// A prompt and the schema of its verdict from a user's file:
///   {"name": "polite", "compares": false, "system": "...",
///    "prompt": "... {question} ... {answer} ...", "schema": {...}, "verdict": "polite",
///    "values": {"yes": 1, "no": 0}}
/// `verdict` names the property with the verdict: a number, a boolean, or a string with an enum.
/// `values` assigns numbers to the labels of an enum. Slots: {category} {text} {question}
/// {reference} {answer}; for pairs, {answer_a} {answer_b} replace {answer}, and the enum is "A",
/// "B", "tie". {mark} is a word that the judged texts do not contain. ConfigError, with the file.
JudgeProtocol from_template(const std::filesystem::path& file);

}  // namespace pardec
