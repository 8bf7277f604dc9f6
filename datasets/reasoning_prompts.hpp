#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

// Problems that are answered after reasoning, with a short answer in \boxed{}. Each example is one
// open prompt; the reference is the answer. A fault is a DataError `file:line: what`. Additional
// keys and columns are ignored.
namespace pardec {

/// MATH500 (Lightman et al. 2023): test.jsonl.
///   {"problem": P, "solution": S, "answer": A, "subject": C, "level": 2, "unique_id": I}
/// The category is the subject. Splits: test; level-1 to level-5 are its problems of one level.
Dataset load_math500(const std::filesystem::path& folder, std::string_view split,
                     Inspection* inspection);

/// AIME: SPLIT.jsonl or SPLIT.parquet, with a year as split, as on the Hugging Face Hub.
///   {"id": 60, "problem": P, "answer": "204"}     or "question" in place of "problem"
/// The answer is an integer from 0 to 999. Default ids are SPLIT-N.
Dataset load_aime(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

/// AMC 2023, the 40 problems with a numeric answer: test.jsonl or test.parquet.
///   {"id": 0, "question": Q, "answer": 27.0}      or "problem" in place of "question"
Dataset load_amc23(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection);

/// GPQA (Rein et al. 2023, arXiv:2311.12022): gpqa_SPLIT.csv, with columns `Question`, `Correct
/// Answer`, `Incorrect Answer 1` to `3`, and optionally `Record ID` and `High-level domain` (the
/// category). The choices are shown with letters, in an order that depends only on the question;
/// the reference is the letter. Splits: diamond, main, extended.
Dataset load_gpqa(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

/// RAG Bench (ASPD): questions with a context, of Neural Bridge's RAG Dataset 12000 in test.jsonl
/// or test.parquet, or train.
///   {"context": C, "question": Q, "answer": A}
/// Splits: test is the benchmark, the first 200 questions of the file; all is the whole file test.
Dataset load_rag_bench(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection);

}  // namespace pardec
