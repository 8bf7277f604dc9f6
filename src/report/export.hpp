#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

enum class ExportFormat { csv, jsonl, parquet };
/// ConfigError for another one.
ExportFormat parse_export_format(std::string_view name);

/// The files that tables of a format may stand in.
std::vector<std::filesystem::path> table_files(ExportFormat format,
                                               const std::filesystem::path& folder);

/// Writes one invocation as flat tables, a file each in `folder`, which is made where it is not
/// there: comparison (what compare says, columns as in its csv), runs, blocks, jobs, generations;
/// where judges were asked, also judgments, pairs, attempts and judges. results/README.md explains
/// the columns. They take the place of all tables of that format in there together, once all are
/// written. `wording`: of the messages in comparison. Returns the files with their rows.
/// ConfigError: a folder that cannot be made; for parquet, no Python with pyarrow. RunError.
struct ExportedFile {
  std::filesystem::path file;
  std::int64_t rows;
};
std::vector<ExportedFile> export_tables(Store& store, const Comparison& comparison,
                                        ExportFormat format, const std::filesystem::path& folder,
                                        const Wording& wording);

}  // namespace pardec
