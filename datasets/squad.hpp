#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// SQuAD 1.1 or 2.0 (Rajpurkar et al. 2016, 2018), as the authors publish it: one JSON object
///
///   {"version": "v2.0", "data": [{"title": T, "paragraphs": [{"context": C, "qas": [
///     {"id": I, "question": Q, "answers": [{"text": A, "answer_start": N}, ...],
///      "is_impossible": false}, ...]}, ...]}, ...]}
///
/// An example is a paragraph with all its questions, as in IPPD. The fields are q1, q2, ... in file
/// order, with the publisher's id. The references are the answers in file order, without
/// repetitions. An impossible question has no references. Ids are SPLIT-N, where N is the number of
/// the paragraph in the file, from 0. The category is the title of the article. Paragraphs without
/// questions are left out.
///
/// For the splits train and dev, if the authors' files are missing, reads Hugging Face's export:
/// SPLIT.jsonl, or Parquet files (find_rows), with one question per row. For dev, the files may
/// also have the name validation. Questions about the same context form one example:
///
///   {"id": I, "title": T, "context": C, "question": Q,
///    "answers": {"text": [A, ...], "answer_start": [N, ...]}}       [] if there is no answer
///
/// Splits: train and dev (version 2.0 if the folder has it, otherwise 1.1), or with a version, e.g.
/// dev-v1.1. The authors' JSON is parsed article by article, to save memory. ConfigError: there is
/// no such split, or its files are missing. DataError, which names the paragraph or question, e.g.
/// `data[0].paragraphs[3].qas[1]`: a member is missing or has the wrong type; in the authors'
/// format, a question without answers is not marked as impossible (in 1.1, every question must have
/// answers), or an impossible question has answers; or the context does not contain an answer at
/// its offset, which counts code points.
Dataset load_squad(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection);

}  // namespace pardec
