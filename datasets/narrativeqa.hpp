#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// NarrativeQA (Kocisky et al. 2018): questions about summaries. Reads the authors' files
///   qaps.csv                    document_id,set,question,answer1,answer2,...
///   summaries.csv, or third_party/wikipedia/summaries.csv     document_id,set,summary,...
///   documents.csv (optional)                                  document_id,set,kind,...
///
/// If there is no qaps.csv, reads Hugging Face's export: SPLIT.jsonl, or Parquet files (find_rows),
/// with one question per row. For split valid, the files may also have the name validation.
///   {"document": {"id": I, "kind": K, "summary": {"text": T}}, "question": {"text": Q},
///    "answers": [{"text": A}, {"text": B}]}
///
/// An example is a summary with all its questions q1, q2, ... in file order. The references are the
/// distinct answers. The example's id is the document's id. The example's category is the
/// document's kind (gutenberg or movie), or `summaries` if the kind is not known. Splits: train,
/// valid, test. Documents without questions are left out. ConfigError: there is no such split, a
/// file is missing, or the authors' files have no questions of the split. DataError: see each_row
/// (csv.hpp) and each_record (reading.hpp); or a question or answer is empty, a question has no
/// answers, a question's document has no summary, or a document has two summaries.
Dataset load_narrativeqa(const std::filesystem::path& folder, std::string_view split,
                         Inspection* inspection);

}  // namespace pardec
