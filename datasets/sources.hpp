#pragma once
#include <string_view>
#include <vector>

namespace pardec {

/// The packing of a publisher's file.
enum class Packing {
  none,
  gzip,  ///< one compressed file
  tar,   ///< a compressed archive of the dataset's folder
};

/// One file as offered by its publisher.
struct SourceFile {
  /// {part} is replaced with the part named by the user (a category of products)
  std::string_view url;
  std::string_view path;  ///< its place in the dataset's folder; for an archive: its own name
  /// In hexadecimal, of the content at `url`; empty if that content may change, or if no copy was
  /// available for computing it.
  std::string_view sha256 = "";
  Packing packing = Packing::none;
  int strip = 0;  ///< number of leading folders that are removed from an archive's names
  std::vector<std::string_view> makes = {};  ///< the files or folders that exist after unpacking
  std::string_view split = "";               ///< the only split that needs it; empty: all splits
};

/// The source of a dataset.
struct Source {
  std::string_view dataset;
  std::string_view page;     ///< the publisher's page, for people
  std::string_view licence;  ///< short description; ~: from memory, not checked
  std::vector<SourceFile> files;
  /// manual steps in addition, or if no file can be downloaded as it is
  std::string_view by_hand = "";
  /// Whether these addresses were successfully fetched with pardec. They were written down on a
  /// machine without a network.
  bool verified = false;
};

/// The sources of the datasets in the registry that have one.
const std::vector<Source>& sources();
/// Null if the dataset has none (the user's own records).
const Source* find_source(std::string_view dataset);

}  // namespace pardec
