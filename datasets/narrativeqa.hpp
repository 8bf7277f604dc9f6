#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// NarrativeQA (Kocisky et al. 2018), questions about summaries, in its authors' files:
///   qaps.csv                    document_id,set,question,answer1,answer2,...
///   summaries.csv, or third_party/wikipedia/summaries.csv     document_id,set,summary,...
///   documents.csv (optional)                                  document_id,set,kind,...
///
/// or in Hugging Face's export, SPLIT.jsonl (also validation.jsonl), with one question per line:
///   {"document": {"id": I, "kind": K, "summary": {"text": T}}, "question": {"text": Q},
///    "answers": [{"text": A}, {"text": B}]}
///
/// An example is a summary with all its questions, q1, q2, ... in file order; references are the
/// two answers. The id is the document's, the category its kind (gutenberg, movie). Splits: train,
/// valid, test. Documents without questions are left out. Faults: those of CSV, an empty question
/// or answer, a question about a document without a summary, a document with two summaries.
/// ConfigError: the split has no questions.
Dataset load_narrativeqa(const std::filesystem::path& folder, std::string_view split,
                         Inspection* inspection);

}  // namespace pardec
