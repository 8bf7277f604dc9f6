#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/wording.hpp"

namespace pardec {

enum class ExportFormat { csv, jsonl, parquet };
/// ConfigError: unknown format.
ExportFormat parse_export_format(std::string_view name);

/// All files that an export in this format may write.
std::vector<std::filesystem::path> table_files(ExportFormat format,
                                               const std::filesystem::path& folder);

/// A file of an export, and its number of rows.
struct ExportedFile {
  std::filesystem::path file;
  std::int64_t rows;
};

/// Writes one invocation as flat tables, one file each in `folder`, which is created if necessary:
/// comparison (the result of compare, with columns as in its csv), warnings, runs, blocks, jobs,
/// and the views generations, score_parts, answer_pairs and speedup_pairs of the schema; if there
/// were judges, also judgments, pairs, attempts and judges. results/export.md explains the columns.
/// Earlier tables in the same format are replaced together, after all new ones are written.
/// `wording`: for messages in comparison. Returns the files with their numbers of rows.
/// ConfigError: the folder cannot be created; for parquet, there is no Python with pyarrow.
/// RunError.
std::vector<ExportedFile> export_tables(Store& store, const Comparison& comparison,
                                        ExportFormat format, const std::filesystem::path& folder,
                                        const Wording& wording);

}  // namespace pardec
