#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

// Datasets of open prompts. Each example is one prompt with one field, or a conversation with one
// field per turn. The only split is `test` unless stated otherwise. Other keys of a record are
// ignored. ConfigError: there is no such split, or its files are missing. DataError `file:line:
// what`: a record is invalid.
namespace pardec {

/// MT-Bench (Zheng et al. 2023), as in FastChat: question.jsonl, and optionally reference answers
/// in reference_answer.jsonl or reference_answer/gpt-4.jsonl:
///   {"question_id": 81, "category": C, "turns": [T1, T2], "reference": [R1, R2]}
///   {"question_id": 101, "choices": [{"turns": [R1, R2]}]}
/// The fields are "turn 1" and "turn 2". A turn without a reference answer is not annotated. The id
/// is the question_id. DataError: a member is invalid, or a reference answer has no question or
/// another number of turns than its question.
Dataset load_mt_bench(const std::filesystem::path& folder, std::string_view split,
                      Inspection* inspection);

/// Vicuna-Bench (Chiang et al. 2023) in the format of MT-Bench, with a single turn, which is the
/// field "answer".
Dataset load_vicuna_bench(const std::filesystem::path& folder, std::string_view split,
                          Inspection* inspection);

/// HumanEval-X, Python part (Zheng et al. 2023): python.jsonl, humaneval_python.jsonl or
/// python/data/humaneval_python.jsonl:
///   {"task_id": "Python/0", "prompt": P, "canonical_solution": S, "test": T, ...}
/// The text is the prompt: a function's head and docstring. The reference is the solution. The
/// field's `test` is the code to run after prompt and answer. The id is python-0.
Dataset load_humaneval_x(const std::filesystem::path& folder, std::string_view split,
                         Inspection* inspection);

/// CIP (chatbot instruction prompts): SPLIT.jsonl, with the two columns of the published table as
/// keys. Splits: test, train.
///   {"prompt": P, "response": R}
Dataset load_cip(const std::filesystem::path& folder, std::string_view split,
                 Inspection* inspection);

/// XSum (Narayan et al. 2018) in its authors' format: XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json
/// ({"train": [ID, ...], "validation": [...], "test": [...]}) and bbc-summary-data/ID.summary,
///   [SN]URL[SN] ... [SN]TITLE[SN] ... [SN]FIRST-SENTENCE[SN] ... [SN]RESTBODY[SN] ...
/// or, without that JSON file, as JSON lines SPLIT.jsonl:
///   {"document": D, "summary": S, "id": I}
/// The text is the document, i.e. the article without its first sentence (RESTBODY). The reference
/// is the summary, i.e. the first sentence (FIRST-SENTENCE). Splits: train, validation, test.
/// DataError: a member is invalid; or a .summary file cannot be read or lacks one of the two parts.
Dataset load_xsum(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

}  // namespace pardec
