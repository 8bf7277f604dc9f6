#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pardec {

/// Device and inode of a path's target; zeros if it does not exist.
using FilePlace = std::pair<std::uint64_t, std::uint64_t>;
FilePlace place_of(const std::filesystem::path& path);

/// The files that a command reads, so that it does not overwrite them. Files are identified by
/// device and inode; a link counts as its target.
class ReadFiles {
 public:
  /// Adds the target of `path`. For a folder, adds the files that a checkpoint or adapter is read
  /// from. Files that do not exist are ignored.
  void add(std::string_view name, const std::filesystem::path& path);
  /// Adds a database and the files next to it, even if it does not exist yet.
  void add_database(const std::filesystem::path& path);
  /// Adds a file that the same command writes.
  void add_written(std::string_view name, const std::filesystem::path& path);

  /// ConfigError: the output file of the setting `name` is one of these files.
  void check(std::string_view name, const std::filesystem::path& file) const;
  /// The same for a folder that a checkpoint is written to: none of its files may be one of these.
  void check_folder(std::string_view name, const std::filesystem::path& folder) const;

 private:
  std::map<FilePlace, std::string> files_;                            // a description of each
  std::vector<std::pair<std::filesystem::path, std::string>> paths_;  // files that do not exist yet
};

}  // namespace pardec
