#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// RACE (Lai et al. 2017) as its authors publish it: `folder`/SPLIT/middle/*.txt and
/// `folder`/SPLIT/high/*.txt, one JSON object a file:
///
///   {"article": T, "questions": [Q, ...], "options": [[A, B, C, D], ...], "answers": ["D", ...],
///    "id": "high1.txt"}
///
/// An example is a passage with its questions: fields q1, q2, ... with choices; the one reference
/// is the letter of the right choice. Ids are middle-N and high-N after the file's name; the
/// category is middle or high. Splits: train, dev, test, each also with -middle or -high alone.
/// Files are read in the order of their numbers, middle first.
///
/// Or as Hugging Face exports it, in SPLIT.jsonl (also validation.jsonl for dev), a question a
/// line; those of one passage are one example:
///
///   {"example_id": "high1.txt", "article": T, "question": Q, "options": [A, B, C, D], "answer":
///   "D"}
///
/// A fault names the file: no JSON object, a missing member or wrong type, lists of unlike length,
/// fewer than two options, an answer that is not the letter of an option.
Dataset load_race(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

}  // namespace pardec
