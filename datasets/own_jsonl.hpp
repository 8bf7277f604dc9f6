#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// A user's own JSON lines, in SPLIT.jsonl, where the split has any name (by default test).
/// datasets/jsonl.schema.json has the schema. A record has one of these forms:
///
///   {"text": T, "fields": [{"question": Q, "choices": [...], "references": [...]}, ...]}
///   {"text": T, "category": C, "fields": [{"name": N, "references": [...]}, ...]}   attributes
///   {"prompt": P, "references": [...]}
///   {"turns": [P1, P2, ...]}
///   {"messages": [{"role": "user", "content": P1}, {"role": "assistant", "content": A1}, ...]}
///
/// A record may also have "id" (a text or an integer), "category" and "system". The first message
/// may be a system message. "conversations" with "from" and "value" is equivalent to "messages".
/// Other keys are not read (Dataset::unread). All records of a file have the same shape: questions
/// if fields have questions, attributes if fields only have names, and open for prompts, turns and
/// messages. Of messages, the user's are asked, and the assistant's are the references. A field
/// without "references" is not annotated; an empty list means that the value is absent. For a field
/// with choices, a reference is a letter or the text of a choice, which is replaced by its letter.
/// Default ids are SPLIT-N. DataError: a member is invalid; records have different shapes; the
/// attributes of a category differ between records; or a reference is not one of the choices.
Dataset load_own_jsonl(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection);

/// Reads a user's own file in any folder: JSON lines; Parquet; .json with one list of records; or
/// .csv and .tsv with a column of prompts (by default `prompt`), and optionally a column of
/// references and columns id, category and system. ConfigError: the file does not exist, or is
/// Parquet and there is no Python with pyarrow.
Dataset read_own_file(const OwnFile& own, Inspection* inspection);

}  // namespace pardec
