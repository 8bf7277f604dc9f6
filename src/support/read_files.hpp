#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pardec {

/// Identifies a file: device and inode. Zeros: the file does not exist.
using FilePlace = std::pair<std::uint64_t, std::uint64_t>;
/// The device and inode of the file to which `path` leads, after links are followed.
FilePlace place_of(const std::filesystem::path& path);

/// The files that a command must not overwrite: the files that it reads, its database, and each
/// file that it writes for another setting. Existing files are identified by device and inode, so
/// that a link counts as its target. Files that are to be written are identified by their path
/// after links are followed.
class ReadFiles {
 public:
  /// Adds the file `path`, which is the value of the setting `name`. For a folder, adds the files
  /// in the folder and in its direct subfolders that have an extension of checkpoint files (.json,
  /// .safetensors, .gguf and similar). Files that do not exist are ignored.
  void add(std::string_view name, const std::filesystem::path& path);
  /// Adds a database and its side files (-wal, -shm and -journal), even if they do not exist yet.
  void add_database(const std::filesystem::path& path);
  /// Adds a file that the command writes for the setting `name`, so that no other setting writes
  /// the same file.
  void add_written(std::string_view name, const std::filesystem::path& path);

  /// Checks an output before `add_written` adds it. ConfigError: the output `file` of the setting
  /// `name` is in the set, as a file that is read, a database, or a file that another setting
  /// writes. (After add_written, the file itself is in the set.)
  void check(std::string_view name, const std::filesystem::path& file) const;
  /// ConfigError: `folder`, to which the setting `name` writes a checkpoint, contains a checkpoint
  /// file that the command reads.
  void check_folder(std::string_view name, const std::filesystem::path& folder) const;

 private:
  std::map<FilePlace, std::string> files_;                            // file -> its description
  std::vector<std::pair<std::filesystem::path, std::string>> paths_;  // files that may not exist
};

}  // namespace pardec
