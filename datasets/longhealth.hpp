#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// LongHealth (Adams et al. 2024): the authors' file, as benchmark_v5.json or
/// data/benchmark_v5.json:
///
///   {PATIENT: {"name": N, "birthday": B, "diagnosis": D, "texts": {"text_0": T, ...},
///     "questions": [{"No": 0, "question": Q, "answer_a": A, ..., "answer_e": E, "correct": A,
///                    ...}, ...]}, ...}
///
/// An example is a patient. Its text is all documents in file order, each with its number. Its
/// fields are the questions q1, q2, ... with their five choices. The key "correct" has the text of
/// the right choice; the reference is the letter of this choice. The id is the patient's key. The
/// only split is test. ConfigError: there is no such split, or the file is missing. DataError: a
/// member is invalid, or "correct" is not one of the choices.
Dataset load_longhealth(const std::filesystem::path& folder, std::string_view split,
                        Inspection* inspection);

}  // namespace pardec
