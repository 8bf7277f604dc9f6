#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// JSON lines of the user's own, SPLIT.jsonl of any name (test where none is named). The schema is
/// datasets/jsonl.schema.json; a record is one of
///
///   {"text": T, "fields": [{"question": Q, "choices": [...], "references": [...]}, ...]}
///   {"text": T, "category": C, "fields": [{"name": N, "references": [...]}, ...]}   attributes
///   {"prompt": P, "references": [...]}
///   {"turns": [P1, P2, ...]}
///   {"messages": [{"role": "user", "content": P1}, {"role": "assistant", "content": A1}, ...]}
///
/// with "id" (a text or a whole number), "category" and "system" where wanted; the first message
/// may be the system's, and "conversations" with "from" and "value" is the same. Other keys are not
/// read (Dataset::unread). All records of a file are of one shape: questions where fields have
/// questions, attributes where they have names alone, open for prompts, turns and messages (what
/// the user says is asked, what the assistant says is its reference). A field without "references"
/// is not annotated; an empty list says that the right answer is that there is none. Of a field
/// with choices a reference is a letter, or a choice's text, which is read as its letter. Ids are
/// SPLIT-N where none is given. Faults: members, mixed shapes, other attributes than the category
/// had before, references that are no choice.
Dataset load_own_jsonl(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection);

/// A file of any place: JSON lines, .json with one list of records, or .csv and .tsv with prompts
/// in a column (`prompt` where none is named) and perhaps references in another; columns id,
/// category and system are read, too. ConfigError: no such file, Parquet.
Dataset read_own_file(const OwnFile& own, Inspection* inspection);

}  // namespace pardec
