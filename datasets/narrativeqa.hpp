#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// NarrativeQA (Kocisky et al. 2018) in its authors' files, questions about summaries:
///   qaps.csv                    document_id,set,question,answer1,answer2,...
///   summaries.csv, or third_party/wikipedia/summaries.csv     document_id,set,summary,...
///   documents.csv (where it is there)                         document_id,set,kind,...
///
/// or as Hugging Face exports it, in SPLIT.jsonl (also validation.jsonl), a question a line:
///   {"document": {"id": I, "kind": K, "summary": {"text": T}}, "question": {"text": Q},
///    "answers": [{"text": A}, {"text": B}]}
///
/// An example is a summary with all its questions, q1, q2, ... in the file's order; references are
/// the two answers. The id is the document's, the category its kind (gutenberg, movie). Splits:
/// train, valid, test. Documents that nobody asked about are left out. Faults: those of CSV, an
/// empty question or answer (ConfigError: no question of the split at all), a question about a
/// document without summary, a document that has two.
Dataset load_narrativeqa(const std::filesystem::path& folder, std::string_view split,
                         Inspection* inspection);

}  // namespace pardec
