#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// RACE (Lai et al. 2017) as published by its authors: `folder`/SPLIT/middle/*.txt and
/// `folder`/SPLIT/high/*.txt, with one JSON object per file:
///
///   {"article": T, "questions": [Q, ...], "options": [[A, B, C, D], ...], "answers": ["D", ...],
///    "id": "high1.txt"}
///
/// An example is a passage with its questions: fields q1, q2, ... with choices; the only reference
/// is the letter of the right choice. Ids are middle-N and high-N, from the file names; the
/// category is middle or high. Splits: train, dev, test, each also as -middle or -high only. Files
/// are read in the order of their numbers, middle first.
///
/// Alternatively Hugging Face's export, SPLIT.jsonl (also validation.jsonl for dev), with one
/// question per line; questions about the same passage are joined to one example:
///
///   {"example_id": "high1.txt", "article": T, "question": Q, "options": [A, B, C, D],
///    "answer": "D"}
///
/// A fault names the file: not a JSON object, a missing member or wrong type, lists of different
/// lengths, fewer than two options, an answer that is not the letter of an option.
Dataset load_race(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

}  // namespace pardec
