#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pardec {

/// Device and inode of what a path leads to; zeros where there is nothing.
using FilePlace = std::pair<std::uint64_t, std::uint64_t>;
FilePlace place_of(const std::filesystem::path& path);

/// The files that a command reads, so that none of them is written over. Files are told apart by
/// device and inode: a link is what it leads to.
class ReadFiles {
 public:
  /// What `path` leads to; of a folder the files that a checkpoint or adapter is read from. What is
  /// not there is not read.
  void add(std::string_view flag, const std::filesystem::path& path);
  /// A database with what lies beside it, also where it is yet to be made.
  void add_database(const std::filesystem::path& path);
  /// A file that the same command writes.
  void add_written(std::string_view flag, const std::filesystem::path& path);

  /// ConfigError where the file that `flag` names, and that is to be written, is one of these.
  void check(std::string_view flag, const std::filesystem::path& file) const;
  /// The same for a folder that gets a checkpoint: of what it holds none may be one of these.
  void check_folder(std::string_view flag, const std::filesystem::path& folder) const;

 private:
  std::map<FilePlace, std::string> files_;                            // what each is
  std::vector<std::pair<std::filesystem::path, std::string>> paths_;  // those yet to be made
};

}  // namespace pardec
