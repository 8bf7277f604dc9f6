#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/wording.hpp"

namespace pardec {

enum class ExportFormat { csv, jsonl, parquet };
/// The format with this name. ConfigError: there is no such format.
ExportFormat parse_export_format(std::string_view name);

/// All files that export_tables may write to `folder` in this format.
std::vector<std::filesystem::path> table_files(ExportFormat format,
                                               const std::filesystem::path& folder);

/// A file written by an export, and its number of rows.
struct ExportedFile {
  std::filesystem::path file;
  std::int64_t rows;
};

/// Writes one invocation as flat tables to `folder`, which is created if necessary. Each table is a
/// file. The tables are comparison (with the columns of the csv of `compare`), warnings, runs,
/// blocks, jobs, and the schema's views generations, score_parts, answer_pairs and speedup_pairs.
/// If judges gave verdicts on the invocation's answers, the tables judgments, pairs, attempts and
/// judges are added. results/export.md explains the columns. Old tables in the same format are
/// replaced after all new tables are written, and old tables that have no new version are removed.
/// `wording`: converts the messages in the tables comparison and warnings. Returns the files in the
/// order of the tables. ConfigError: the folder cannot be created, or the format is parquet and
/// there is no Python with pyarrow. RunError: writing or converting a table fails, or a complete
/// table cannot be moved to its place, e.g. because the place is a folder. StoreError: the database
/// cannot be read. REQUIRES: `comparison` was computed from `store`, and has at least one arm.
std::vector<ExportedFile> export_tables(Store& store, const Comparison& comparison,
                                        ExportFormat format, const std::filesystem::path& folder,
                                        const Wording& wording);

}  // namespace pardec
