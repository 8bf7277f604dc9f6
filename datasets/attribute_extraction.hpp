#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// Attribute value extraction from product titles, in the JSON lines of ExtractGPT (Brinkmann et
/// al. 2024). Reads `folder`/`split`.jsonl and `folder`/train.jsonl, one record a line:
///
///   {"input": TITLE, "category": C, "target_scores": {ATTRIBUTE: {VALUE: 1, ...}, ...}}
///
/// An example has one field for each attribute of its category: those seen in train.jsonl in order
/// of first appearance, then those that only the split's own file has (neither OA-Mine nor AE-110k
/// has any).
///   attribute missing from target_scores   annotated = false, no references
///   first value is "n/a"                   annotated, no references: the right answer is that
///   there is none else                                   its values in the file's order, stripped,
///   each once, without "n/a"
/// This is how ExtractGPT's evaluation reads a list that mixes "n/a" with values: its first item
/// decides. Ids are SPLIT-N with the 0-based record number. Titles stay as they are in the file;
/// `cluster` is the stripped title.
///
/// A byte order mark, CRLF, and empty lines at the end are taken; further keys of a record are
/// ignored. Errors: ConfigError when the split is neither "train" nor "test", or one of the two
/// files is missing; DataError `file:line` when a line is no JSON object, repeats a key, lacks a
/// key or has a wrong type, when a title, category, attribute or value is blank, an attribute list
/// or value list is empty, a score is not 1, or an empty line stands between records; DataError
/// without a line when a file has no record. With an inspection, DataErrors are noted there and
/// their records left out. Source: github.com/wbsg-uni-mannheim/ExtractGPT,
/// data/processed_datasets; pieutils/evaluation.py for mixed lists.
Dataset load_attribute_extraction(std::string_view name, const std::filesystem::path& folder,
                                  std::string_view split, Inspection* inspection = nullptr);

/// More records of the same format from a file of its own, e.g. further titles to train on. The
/// attributes of a category are those of the `lists` files (train.jsonl of datasets) in their
/// order, then what only `file` has. Ids are STEM-N. Errors as above.
Dataset load_attribute_extraction_file(const std::filesystem::path& file,
                                       const std::vector<std::filesystem::path>& lists);

}  // namespace pardec
