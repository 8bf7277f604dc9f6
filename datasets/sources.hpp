#pragma once
#include <string_view>
#include <vector>

namespace pardec {

/// How a publisher's file is packed.
enum class Packing {
  none,  ///< not packed
  gzip,  ///< one compressed file
  tar,   ///< a compressed archive with the files of the dataset's folder
};

/// One file that a publisher offers.
struct SourceFile {
  /// {part} is replaced by the part that the user names (a category of products)
  std::string_view url;
  std::string_view path;  ///< path in the dataset's folder; for an archive: the archive's own name
  /// SHA-256 of the content at `url`, in hexadecimal. Empty: the content may change, or no copy was
  /// available to compute it.
  std::string_view sha256 = "";
  Packing packing = Packing::none;
  int strip = 0;  ///< for archives: number of leading folders to remove from names
  std::vector<std::string_view> makes = {};  ///< files or folders that exist after unpacking
  std::string_view split = "";               ///< the only split that needs the file; empty: all
};

/// Where a dataset comes from.
struct Source {
  std::string_view dataset;  ///< DatasetEntry::name
  std::string_view page;     ///< the publisher's web page
  std::string_view licence;  ///< short description; begins with ~ if the licence was not checked
  std::vector<SourceFile> files;
  /// what the user must do by hand; empty: nothing
  std::string_view by_hand = "";
  /// Whether `data fetch` was tested with these addresses.
  bool verified = false;
};

/// The sources of datasets that `data fetch` knows.
const std::vector<Source>& sources();
/// The source of a dataset; null: `data fetch` does not know the source, e.g. of aime or of the
/// user's own records.
const Source* find_source(std::string_view dataset);

}  // namespace pardec
