#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// Attribute value extraction from product titles, in the format of ExtractGPT (Brinkmann et al.
/// 2024). Reads `folder`/`split`.jsonl and `folder`/train.jsonl, with one record per line:
///
///   {"input": TITLE, "category": C, "target_scores": {ATTRIBUTE: {VALUE: 1, ...}, ...}}
///
/// An example has one field per attribute of its category: first the attributes in train.jsonl, in
/// the order of their first appearance, then attributes that are only in the split's file (OA-Mine
/// and AE-110k have no such attributes).
///   attribute missing from target_scores   annotated = false, no references
///   first value is "n/a"                   annotated, no references: the value is absent
///   else                                   references: its values in file order, stripped, without
///                                          repetitions and without "n/a"
/// If a list mixes "n/a" with values, the first item decides, as in ExtractGPT's evaluation. Ids
/// are SPLIT-N, where N is the number of the record, from 0. Titles are unchanged; `cluster` is the
/// stripped title.
///
/// A byte order mark, CRLF and empty lines are accepted. Other keys of a record are ignored.
/// `name`: the name of the dataset, for the result and for messages. ConfigError: the split is
/// neither "train" nor "test", or one of the two files is missing. DataError `file:line`: a line is
/// not a JSON object, has a key twice, lacks a key, or has a value of the wrong type; a title,
/// category, attribute or value is blank; a list of attributes or values is empty; or a score is
/// not 1. DataError without a line: a file has no records. With an inspection, DataErrors are noted
/// there, and their records are left out. Source: github.com/wbsg-uni-mannheim/ExtractGPT,
/// data/processed_datasets, and pieutils/evaluation.py for mixed lists.
Dataset load_attribute_extraction(std::string_view name, const std::filesystem::path& folder,
                                  std::string_view split, Inspection* inspection = nullptr);

/// Reads records of the same format from another file, e.g. more titles for training. The
/// attributes of a category are first the attributes in the files `lists` (train.jsonl of
/// datasets), in the order of these files, then the attributes that only `file` has. Ids are
/// STEM-N, where STEM is the name of the file without its ending. The result has the name STEM and
/// the split "train". ConfigError: `file` is missing. DataError: see load_attribute_extraction; or
/// one of `lists` cannot be read.
Dataset load_attribute_extraction_file(const std::filesystem::path& file,
                                       const std::vector<std::filesystem::path>& lists);

}  // namespace pardec
