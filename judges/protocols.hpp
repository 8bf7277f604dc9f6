#pragma once
#include <filesystem>

#include "judges/judge.hpp"

/// The built-in protocols, each in its own source file. Their wordings are in judges/prompts.
/// Errors: see read_wording.
namespace pardec {

/// Assigns each value of an example to one of five classes, based on the example's text only (HPD
/// paper, Figure 11). metrics/judge_f1.hpp computes scores from the classes. The labels are
/// correct, incorrect, missing, correct null and hallucination.
JudgeProtocol five_classes();

/// Grades one answer from 1 to 10 (MT-Bench's single-answer grading, Zheng et al. 2023; APAR and
/// ASPD use it). In a conversation, each turn has its own verdict, and the judge also sees the
/// turns before it.
JudgeProtocol single(ShowReferences references);

/// Selects the better of two answers, or a tie (MT-Bench's pairwise comparison; used in SPACE's
/// Figure 3 and HPD's Figure 8).
JudgeProtocol pairwise(ShowReferences references);

/// Reads a protocol from a user's template, a file of this form:
///   {"name": "polite", "compares": false, "system": "...",
///    "prompt": "... {question} ... {answer} ...", "schema": {...}, "verdict": "polite",
///    "values": {"yes": 1, "no": 0}}
/// `verdict` is the name of the schema's property with the verdict: a number, a boolean, or a
/// string with an enum. `values` gives numbers to the labels of an enum; an enum without `values`
/// gives no score. `compares`: whether the judge selects the better of two answers (default:
/// false). `system`, `compares` and `values` may be missing.
///
/// The slots are {category} {text} {question} {reference} {answer} {mark}. {mark} is a word that
/// the judged texts do not contain. For pairs (`compares`), {answer_a} and {answer_b} replace
/// {answer}, and the enum is "A", "B", "tie". If all fields are judged together (without
/// Subject::turn), {question} is a list of the fields, {reference} is empty, and an answer is a
/// JSON object of values.
///
/// ConfigError, which names the file: the template is invalid. DataError: the file cannot be read,
/// or is not JSON.
JudgeProtocol from_template(const std::filesystem::path& file);

}  // namespace pardec
