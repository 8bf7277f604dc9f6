#pragma once
#include <filesystem>
#include <string_view>

#include "datasets/dataset.hpp"

namespace pardec {

/// A user's own JSON lines, in SPLIT.jsonl, where the split has any name (by default test).
/// datasets/jsonl.schema.json has the schema. A record has one of these forms:
///
///   {"text": T, "fields": [{"question": Q, "choices": [...], "references": [...]}, ...]}
///   {"text": T, "category": C, "fields": [{"name": N, "references": [...]}, ...]}
///   {"prompt": P, "references": [...]}
///   {"turns": [P1, P2, ...]}
///   {"messages": [{"role": "user", "content": P1}, {"role": "assistant", "content": A1}, ...]}
///
/// A record may also have "id" (a text or an integer), "category" and "system". Other keys are not
/// read (Dataset::unread). Default ids are SPLIT-N, where N is the number of the record, from 0.
///
/// All records of a file must have the same Shape. The Shape is `questions` if fields have
/// questions or choices, `attributes` if fields have only names, and `open` if records have
/// "prompt", "turns" or "messages". A field without "references" is not annotated; an empty list
/// means that the value is absent. Choices are a list of texts, an object {"A": TEXT, ...}, or an
/// object {"label": [...], "text": [...]}. For a field with choices, a reference is the letter,
/// label or text of a choice, and is replaced by the letter.
///
/// User and assistant alternate in messages, after an optional system message. The user's messages
/// are asked, and the assistant's messages are the references. A content is a text, or a list of
/// parts of type text. "conversations" with "from" and "value" is equivalent to "messages". The
/// value of "prompt" may also be a list of messages.
///
/// ConfigError: the file is missing. DataError: a member is invalid; records have different shapes;
/// the attributes of a category differ between records; or a reference is not one of the choices.
Dataset load_own_jsonl(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection);

/// Reads a user's own file in any folder. The records of JSON lines, of a Parquet file, or of a
/// file with one JSON list of records have the forms of load_own_jsonl. If OwnFile::prompt is set,
/// the prompt has this key instead of "prompt", and the references have the key OwnFile::reference
/// instead of "references". A .csv or .tsv file has a column of prompts (by default `prompt`), and
/// optionally a column of references (OwnFile::reference) and columns id, category and system.
/// ConfigError: the file does not exist, or is Parquet and cannot be converted (each_raw_line).
/// DataError: see load_own_jsonl and each_row.
Dataset read_own_file(const OwnFile& own, Inspection* inspection);

}  // namespace pardec
