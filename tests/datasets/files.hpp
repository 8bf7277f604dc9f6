#pragma once
// Shared by the tests of loaders.
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

namespace pardec::test {

/// The folder of the samples that come with the project.
inline const std::filesystem::path kSamples =
    std::filesystem::path(PARDEC_SOURCE_DIR) / "datasets/samples";

using Texts = std::vector<std::string>;

/// A folder with the given files, in the layout of a dataset's publisher.
class DataFolder {
 public:
  using Files = std::vector<std::pair<std::string, std::string>>;
  explicit DataFolder(const Files& files) {
    for (const auto& [name, content] : files) write(name, content);
  }
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path() / name).parent_path());
    write_file(path() / name, content);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

  /// Loads as `run` does: this is the dataset's folder, whatever its name.
  Dataset load(const std::string& dataset, const std::string& split = "",
               Inspection* inspection = nullptr) const {
    const DatasetEntry& entry = find_dataset(dataset);
    const auto link = path() / ".root" / entry.folders.front();
    if (!std::filesystem::exists(link)) {
      std::filesystem::create_directories(link.parent_path());
      std::filesystem::create_directory_symlink(path(), link);
    }
    return load_dataset(entry, path() / ".root", split, "/nowhere", inspection);
  }

  /// The only fault of the dataset is what a run throws, and what an inspection notes.
  void check_fault(const std::string& dataset, const std::string& message,
                   const std::string& split = "") const {
    INFO(dataset << ": " << message);
    CHECK_THROWS_WITH(load(dataset, split), Catch::Contains(message));
    Inspection found;
    load(dataset, split, &found);
    REQUIRE_FALSE(found.faults.empty());
    CHECK_THAT(found.faults.front(), Catch::Contains(message));
  }

 private:
  TemporaryFolder folder_;
};

inline Texts names(const Example& example) {
  Texts names;
  for (const auto& field : example.fields) names.push_back(field.name);
  return names;
}

}  // namespace pardec::test
