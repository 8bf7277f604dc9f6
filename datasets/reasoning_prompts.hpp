#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

// Datasets of problems that need reasoning, with a short answer in \boxed{} (except RAG Bench).
// Each example is one open prompt; the reference is the answer. Other keys and columns are ignored.
// ConfigError: there is no such split, or its files are missing. DataError `file:line: what`: a
// record is invalid.
namespace pardec {

/// MATH500 (Lightman et al. 2023): test.jsonl.
///   {"problem": P, "solution": S, "answer": A, "subject": C, "level": 2, "unique_id": I}
/// The category is the subject. Splits: test, and level-1 to level-5 with the test problems of that
/// level.
Dataset load_math500(const std::filesystem::path& folder, std::string_view split,
                     Inspection* inspection);

/// AIME: SPLIT.jsonl or SPLIT.parquet, as on the Hugging Face Hub. Splits: 2024, 2025 (the year).
///   {"id": 60, "problem": P, "answer": "204"}     or "question" instead of "problem"
/// Answers are integers from 0 to 999 (not checked). Default ids are SPLIT-N.
Dataset load_aime(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

/// AMC 2023: the 40 problems with a numeric answer, in test.jsonl or test.parquet.
///   {"id": 0, "question": Q, "answer": 27.0}      or "problem" instead of "question"
/// The reference is written without ".0". The only split is test. Default ids are SPLIT-N.
Dataset load_amc23(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection);

/// GPQA (Rein et al. 2023, arXiv:2311.12022): gpqa_SPLIT.csv, with columns `Question`, `Correct
/// Answer`, `Incorrect Answer 1` to `Incorrect Answer 3`, and optionally `Record ID` and
/// `High-level domain` (the category). The prompt shows the choices with letters, in an order that
/// depends only on the question. The reference is the letter. Splits: diamond, main, extended.
Dataset load_gpqa(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

/// RAG Bench (of the ASPD paper): questions with a context, from Neural Bridge's RAG Dataset 12000.
/// Files: test.jsonl or test.parquet, and for split train, train.jsonl or train.parquet.
///   {"context": C, "question": Q, "answer": A}
/// Splits: test (the benchmark: the first 200 questions of file test), all (the whole file test),
/// train.
Dataset load_rag_bench(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection);

}  // namespace pardec
