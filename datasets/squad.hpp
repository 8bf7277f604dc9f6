#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// SQuAD (Rajpurkar et al. 2016, 2018) as published by its authors, 1.1 or 2.0: one JSON object
///
///   {"version": "v2.0", "data": [{"title": T, "paragraphs": [{"context": C, "qas": [
///     {"id": I, "question": Q, "answers": [{"text": A, "answer_start": N}, ...],
///      "is_impossible": false}, ...]}, ...]}, ...]}
///
/// An example is a paragraph with all its questions (as in IPPD). Fields are q1, q2, ... in file
/// order, with the publisher's id; references are the answers without repetitions, in file order.
/// An impossible question has no references: the right answer is that there is none. Ids are
/// SPLIT-N with the 0-based paragraph of the file; the category is the article's title.
///
/// Alternatively Hugging Face's export, SPLIT.jsonl (also validation.jsonl for dev), with one
/// question per line; questions about the same context are joined to one example:
///
///   {"id": I, "title": T, "context": C, "question": Q,
///    "answers": {"text": [A, ...], "answer_start": [N, ...]}}       [] if there is no answer
///
/// Splits: train and dev (version 2.0 if the folder has it, else 1.1), or with the version:
/// dev-v1.1. Only one article at a time is in memory. A fault is a DataError that names the
/// paragraph or question, e.g. `data[0].paragraphs[3].qas[1]`: a missing member or wrong type, a
/// question without answers that is not marked impossible (never allowed in 1.1), an impossible
/// question with answers, an answer that is not in the context at its offset, counted in code
/// points.
Dataset load_squad(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection);

}  // namespace pardec
