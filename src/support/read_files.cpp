#include "src/support/read_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

namespace fs = std::filesystem;

fs::path resolved(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
}

/// Whether the file can belong to a checkpoint. Traces, logs and databases may be in the same
/// folder.
bool is_of_checkpoint(const fs::path& file) {
  constexpr std::array kEndings{".json", ".safetensors", ".jinja", ".txt", ".model", ".gguf"};
  return std::find(kEndings.begin(), kEndings.end(), file.extension()) != kEndings.end();
}

/// The checkpoint files of a folder and its direct subfolders (own prompt files are there). Links
/// to folders are not followed.
std::vector<fs::path> checkpoint_files(const fs::path& folder) {
  constexpr int kDepth = 1;
  constexpr std::size_t kMost = 10000;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator
           at(folder, fs::directory_options::skip_permission_denied, error),
       end;
       !error && at != end && files.size() < kMost; at.increment(error)) {
    if (at.depth() >= kDepth) at.disable_recursion_pending();
    std::error_code ignored;
    if (is_of_checkpoint(at->path()) && at->is_regular_file(ignored)) files.push_back(at->path());
  }
  return files;
}

}  // namespace

FilePlace place_of(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

void ReadFiles::add(std::string_view name, const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored))
    files_.emplace(place_of(path), str("is read by this command (", name, ")"));
  else if (fs::is_directory(path, ignored))
    for (const fs::path& file : checkpoint_files(path))
      files_.emplace(place_of(file),
                     str("is read by this command (", name, " ", path.string(), ")"));
}

void ReadFiles::add_database(const fs::path& path) {
  for (const char* end : {"", "-wal", "-shm", "-journal"}) {
    const fs::path file = path.string() + end;
    paths_.emplace_back(resolved(file), "is the database");
    if (const FilePlace place = place_of(file); place != FilePlace{})
      files_[place] = paths_.back().second;
  }
}

void ReadFiles::add_written(std::string_view name, const fs::path& path) {
  paths_.emplace_back(resolved(path), str("is what ", name, " writes"));
}

void ReadFiles::check(std::string_view name, const fs::path& file) const {
  const auto refuse = [&](const std::string& what) {
    throw ConfigError(str(name, ": ", file.string(), " ", what, "; choose another file"));
  };
  if (const auto read = files_.find(place_of(file)); read != files_.end()) refuse(read->second);
  const fs::path place = resolved(file);
  for (const auto& [path, what] : paths_)
    if (path == place) refuse(what);
}

void ReadFiles::check_folder(std::string_view name, const fs::path& folder) const {
  for (const fs::path& file : checkpoint_files(folder))
    if (const auto read = files_.find(place_of(file)); read != files_.end())
      throw ConfigError(str(name, ": ", folder.string(), " holds ", file.filename().string(),
                            ", which ", read->second, "; choose another folder"));
}

}  // namespace pardec
