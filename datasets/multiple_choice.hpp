#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

// Datasets of single multiple-choice questions. Each example has one field with choices; the
// reference is the letter of the right choice. All loaders except load_agieval read rows as
// published on the Hugging Face Hub (SPLIT.jsonl or SPLIT.parquet, see find_rows). Some loaders can
// also read the publisher's own files; the comments of these loaders describe the files, which are
// read only if there are no rows. Other keys are ignored. ConfigError: there is no such split, or
// its files are missing. DataError `file:line: what`: a record is invalid.
namespace pardec {

/// MMLU (Hendrycks et al. 2020). Rows:
///   {"question": Q, "subject": S, "choices": [4 texts], "answer": 0}
/// The publisher's files: SPLIT/SUBJECT_SPLIT.csv without a header, with the question, four
/// choices, and the letter of the right choice. For split validation, folder and file names have
/// `val`. The category is the subject. Splits: test, validation, dev (five questions per subject).
Dataset load_mmlu(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

/// AGIEval (Zhong et al. 2023): the publisher's files *.jsonl. Each file is a category.
///   {"passage": P or null, "question": Q, "options": ["(A)...", ...], "label": "B"}
/// Records without options, or with several right options, are left out; an inspection notes their
/// number. The only split is test.
Dataset load_agieval(const std::filesystem::path& folder, std::string_view split,
                     Inspection* inspection);

/// CommonSenseQA (Talmor et al. 2019). Rows:
///   {"id": I, "question": Q, "choices": {"label": ["A", ...], "text": [...]}, "answerKey": "A"}
/// The publisher's files, dev_rand_split.jsonl and train_rand_split.jsonl:
///   {"id": I, "question": {"stem": Q, "choices": [{"label": "A", "text": T}, ...]}, "answerKey":
///   K}
/// Splits: validation, train.
Dataset load_commonsense_qa(const std::filesystem::path& folder, std::string_view split,
                            Inspection* inspection);

/// BoolQ (Clark et al. 2019). Rows, and records of the publisher's dev.jsonl and train.jsonl:
///   {"passage": P, "question": Q, "answer": true}
/// Instead of "answer", a row may have "label" (SuperGLUE). Its value is true or 1 for yes. A
/// question mark is added to the question if it has none. The choices are yes and no. Splits:
/// validation, train.
Dataset load_boolq(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection);

/// PIQA (Bisk et al. 2020). Rows:
///   {"goal": Q, "sol1": T, "sol2": T, "label": 0}
/// The publisher's valid.jsonl and train.jsonl have no labels. The labels are the lines of
/// valid-labels.lst and train-labels.lst. DataError: the list of labels has another length than the
/// file. Splits: validation, train.
Dataset load_piqa(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection);

/// RTE, of GLUE or SuperGLUE (Bentivogli et al. 2009). Rows:
///   {"sentence1": T, "sentence2": H, "label": 0}      0: entailment; or
///   {"premise": T, "hypothesis": H, "label": "entailment"}
/// The publishers' files: dev.tsv and train.tsv with the columns index, sentence1, sentence2, label
/// (GLUE; read instead of rows if both exist); val.jsonl and train.jsonl (SuperGLUE). The choices
/// are True and False. Splits: validation, train.
Dataset load_rte(const std::filesystem::path& folder, std::string_view split,
                 Inspection* inspection);

/// HellaSwag (Zellers et al. 2019). Rows, and records of the publisher's hellaswag_val.jsonl and
/// hellaswag_train.jsonl:
///   {"activity_label": A, "ctx": C, "endings": [4 texts], "label": 3, "source_id": "wikihow~i"}
/// The question is "A: C". In all texts, marks in brackets, such as [header] and [step], are
/// removed, and " [title]" becomes a full stop. The category is the part of source_id before "~",
/// or "hellaswag" without source_id. Splits: validation, train.
Dataset load_hellaswag(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection);

}  // namespace pardec
