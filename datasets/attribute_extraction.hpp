#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// Attribute value extraction from product titles, in the JSON lines of ExtractGPT (Brinkmann et
/// al. 2024). Reads `folder`/`split`.jsonl and `folder`/train.jsonl, with one record per line:
///
///   {"input": TITLE, "category": C, "target_scores": {ATTRIBUTE: {VALUE: 1, ...}, ...}}
///
/// An example has one field per attribute of its category: first the attributes in train.jsonl, in
/// order of first appearance; then attributes that occur only in the split's own file (OA-Mine and
/// AE-110k have none).
///   attribute missing from target_scores   annotated = false, no references
///   first value is "n/a"                   annotated, no references: the value is absent
///   else                                   its values in file order, stripped, without repetitions
///                                          and without "n/a"
/// ExtractGPT's evaluation treats lists that mix "n/a" with values in the same way: their first
/// item decides. Ids are SPLIT-N with the 0-based number of the record. Titles are unchanged;
/// `cluster` is the stripped title.
///
/// A byte order mark, CRLF, and empty lines at the end are accepted; additional keys of a record
/// are ignored. ConfigError: the split is neither "train" nor "test", or one of the two files is
/// missing. DataError `file:line`: a line is not a JSON object, repeats a key, lacks a key or has a
/// wrong type; a title, category, attribute or value is blank; a list of attributes or values is
/// empty; a score is not 1; an empty line is between records. DataError without a line: a file has
/// no record. With an inspection, DataErrors are noted there and their records are left out.
/// Source: github.com/wbsg-uni-mannheim/ExtractGPT, data/processed_datasets; pieutils/evaluation.py
/// for mixed lists.
Dataset load_attribute_extraction(std::string_view name, const std::filesystem::path& folder,
                                  std::string_view split, Inspection* inspection = nullptr);

/// Reads more records of the same format from a separate file, e.g. further titles to train on. The
/// attributes of a category are those of the `lists` files (train.jsonl of datasets) in their
/// order, then those that only `file` has. Ids are STEM-N. Errors as above.
Dataset load_attribute_extraction_file(const std::filesystem::path& file,
                                       const std::vector<std::filesystem::path>& lists);

}  // namespace pardec
