#pragma once
#include <string_view>
#include <vector>

namespace pardec {

/// How a publisher's file is packed.
enum class Packing {
  none,
  gzip,  ///< one compressed file
  tar,   ///< a compressed archive of the dataset's folder
};

/// One file as its publisher offers it.
struct SourceFile {
  std::string_view url;   ///< {part} stands for what the user names (a category of products)
  std::string_view path;  ///< where it goes, in the dataset's folder; of an archive: its own name
  /// In hexadecimal, of what `url` gives; empty where the address may give other bytes tomorrow, or
  /// no copy was at hand to compute it from.
  std::string_view sha256 = "";
  Packing packing = Packing::none;
  int strip = 0;                             ///< folders of an archive that are left out of names
  std::vector<std::string_view> makes = {};  ///< what is there once an archive is unpacked
  std::string_view split = "";               ///< the one split that needs it; empty: all of them
};

/// Where a dataset comes from.
struct Source {
  std::string_view dataset;
  std::string_view page;     ///< of its publisher, for people
  std::string_view licence;  ///< in few words; ~: from memory, not checked
  std::vector<SourceFile> files;
  std::string_view by_hand = "";  ///< what to do besides, or where no file can be had as it is
  /// Whether somebody has fetched these addresses with pardec. They were written down on a machine
  /// without a network.
  bool verified = false;
};

/// The source of each dataset of the registry that has one.
const std::vector<Source>& sources();
/// Null where the dataset has none (records of one's own).
const Source* find_source(std::string_view dataset);

}  // namespace pardec
