#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// RACE (Lai et al. 2017), as the authors publish it: `folder`/SPLIT/middle/*.txt and
/// `folder`/SPLIT/high/*.txt, with one JSON object per file:
///
///   {"article": T, "questions": [Q, ...], "options": [[A, B, C, D], ...], "answers": ["D", ...],
///    "id": "high1.txt"}
///
/// An example is a passage. Its fields are the questions q1, q2, ... with their choices; the
/// reference is the letter of the right choice. Ids are middle-N and high-N, from the file names.
/// The category is middle or high. Splits: train, dev, test, and each of them with -middle or -high
/// for one category only. Files are read in the order of their numbers, middle first.
///
/// If there is no folder SPLIT (train, dev or test), reads Hugging Face's export: SPLIT.jsonl, or
/// Parquet files (find_rows), with one question per row. For dev, the files may also have the name
/// validation. Questions about the same passage form one example:
///
///   {"example_id": "high1.txt", "article": T, "question": Q, "options": [A, B, C, D],
///    "answer": "D"}
///
/// ConfigError: there is no such split, or a folder is missing. DataError, which names the file:
/// the content is not a JSON object, a member is missing or has the wrong type, lists have
/// different lengths, a question has fewer than two options, an answer is not the letter of an
/// option, an example_id has another form, lines of the same passage have different articles, or a
/// folder has no files.
Dataset load_race(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

}  // namespace pardec
