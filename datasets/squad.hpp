#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// SQuAD (Rajpurkar et al. 2016, 2018) as its authors publish it, 1.1 or 2.0: one JSON object
///
///   {"version": "v2.0", "data": [{"title": T, "paragraphs": [{"context": C, "qas": [
///     {"id": I, "question": Q, "answers": [{"text": A, "answer_start": N}, ...],
///      "is_impossible": false}, ...]}, ...]}, ...]}
///
/// An example is a paragraph with all its questions (the shape of IPPD). Fields are q1, q2, ... in
/// the file's order, with the publisher's id; references are the answers, each once, in the file's
/// order. A question that is impossible has none: the right answer is that there is none. Ids are
/// SPLIT-N with the 0-based paragraph of the file; the category is the article's title.
///
/// Or as Hugging Face exports it, in SPLIT.jsonl (also validation.jsonl for dev), a question a
/// line; those of one context are one example:
///
///   {"id": I, "title": T, "context": C, "question": Q,
///    "answers": {"text": [A, ...], "answer_start": [N, ...]}}       [] where there is no answer
///
/// Splits: train and dev (2.0 where the folder has it, else 1.1), or with the version: dev-v1.1.
/// One article at a time is held in memory. A fault is a DataError that names the paragraph or
/// question, e.g. `data[0].paragraphs[3].qas[1]`: a missing member or wrong type, a question with
/// no answer that is not marked impossible (1.1: none may be), an impossible one with answers, an
/// answer that does not stand in the context at its offset, counted in code points.
Dataset load_squad(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection);

}  // namespace pardec
