#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// A user's own JSON lines, in SPLIT.jsonl with any name (by default test). The schema is
/// datasets/jsonl.schema.json. A record is one of
///
///   {"text": T, "fields": [{"question": Q, "choices": [...], "references": [...]}, ...]}
///   {"text": T, "category": C, "fields": [{"name": N, "references": [...]}, ...]}   attributes
///   {"prompt": P, "references": [...]}
///   {"turns": [P1, P2, ...]}
///   {"messages": [{"role": "user", "content": P1}, {"role": "assistant", "content": A1}, ...]}
///
/// optionally with "id" (a text or an integer), "category" and "system". The first message may be
/// the system's; "conversations" with "from" and "value" is equivalent to "messages". Other keys
/// are not read (Dataset::unread). All records of a file have the same shape: questions if fields
/// have questions, attributes if they only have names, open for prompts, turns and messages (the
/// user's messages are asked, the assistant's are their references). A field without "references"
/// is not annotated; an empty list means that the right answer is that there is none. For a field
/// with choices, a reference is a letter, or a choice's text, which is replaced with its letter.
/// Default ids are SPLIT-N. Faults: invalid members, mixed shapes, attributes that differ from
/// earlier records of the category, references that are not a choice.
Dataset load_own_jsonl(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection);

/// Reads a file anywhere: JSON lines or Parquet; .json with one list of records; or .csv and .tsv
/// with prompts in one column (by default `prompt`) and optionally references in another, and
/// columns id, category and system. ConfigError: the file does not exist, or is Parquet and no
/// Python with pyarrow is found.
Dataset read_own_file(const OwnFile& own, Inspection* inspection);

}  // namespace pardec
