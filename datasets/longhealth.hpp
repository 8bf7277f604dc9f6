#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// LongHealth (Adams et al. 2024): benchmark_v5.json of its authors, or data/benchmark_v5.json:
///
///   {PATIENT: {"name": N, "birthday": B, "diagnosis": D, "texts": {"text_0": T, ...},
///     "questions": [{"No": 0, "question": Q, "answer_a": A, ..., "answer_e": E, "correct": A,
///                    ...}, ...]}, ...}
///
/// An example is a patient: all documents in the file's order, each under its number, with the
/// questions q1, q2, ... and their five choices; the reference is the letter of the choice that
/// "correct" repeats. The id is the patient's. The one split is test. Faults: members, a correct
/// answer that is none of the choices.
Dataset load_longhealth(const std::filesystem::path& folder, std::string_view split,
                        Inspection* inspection);

}  // namespace pardec
