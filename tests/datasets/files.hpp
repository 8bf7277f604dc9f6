#pragma once
// Shared by the tests of dataset loaders.
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/support/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

namespace pardec::test {

/// The project's samples of datasets.
inline const std::filesystem::path kSamples =
    std::filesystem::path(PARDEC_SOURCE_DIR) / "datasets/samples";

using Texts = std::vector<std::string>;

/// A temporary folder with the given files (name, content), used as the folder of a dataset.
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

  /// Loads a split as `run` does, with this folder as the dataset's folder. Parameters and errors:
  /// see load_dataset.
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

  /// Checks that loading throws an error that contains `message`, and that an Inspection reports
  /// this error as its first fault instead.
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

/// The names of an example's fields.
inline Texts names(const Example& example) {
  Texts names;
  for (const auto& field : example.fields) names.push_back(field.name);
  return names;
}

}  // namespace pardec::test
