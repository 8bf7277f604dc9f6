#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Networks in the cache of Hugging Face, in the layout of its library huggingface_hub:
///   models--ORG--NAME/refs/REVISION          the commit of a branch or tag
///   models--ORG--NAME/snapshots/COMMIT/FILE  a link to a blob
///   models--ORG--NAME/blobs/ETAG             the content of a file
namespace pardec {

/// A network on the Hub.
struct HubName {
  std::string repository;  ///< ORG/NAME
  std::string revision;    ///< a branch, a tag or a commit
};

/// Parses ORG/NAME or ORG/NAME@REVISION. Without @REVISION, the revision is `main`. None: the text
/// has neither form.
std::optional<HubName> parse_hub_name(std::string_view text);

/// Whether the text is the full hash of a commit: 40 hexadecimal digits, in lower case.
bool is_commit(std::string_view text);

/// The folder of the cache: $HF_HUB_CACHE; otherwise `hub` in $HF_HOME; otherwise `huggingface/hub`
/// in $XDG_CACHE_HOME or ~/.cache. As in huggingface_hub, variables and ~ in HF_HUB_CACHE and
/// HF_HOME are expanded.
std::filesystem::path hub_cache();
/// The folder of a repository in the cache.
std::filesystem::path hub_folder(const std::string& repository);

/// The snapshot of a network in the cache. None: this revision is not there. DataError: the file
/// refs/REVISION cannot be read.
std::optional<std::filesystem::path> hub_snapshot(const HubName& name);
/// Explains why hub_snapshot found nothing: where it searched, and how to fetch the network. The
/// text continues a sentence whose subject is the network. DataError: see hub_snapshot.
std::string why_no_snapshot(const HubName& name);

/// The path of a checkpoint that a setting names. An existing path stays as it is. ORG/NAME or
/// ORG/NAME@REVISION becomes the snapshot in the cache. Other texts, and networks that are not in
/// the cache, stay as they are: the code that reads the checkpoint reports the error. DataError:
/// see hub_snapshot.
std::string checkpoint_path(const std::string& text);

/// The network to which a snapshot folder belongs, with its commit as revision. None: the path is
/// not a snapshot folder of a cache.
std::optional<HubName> hub_name_of(const std::filesystem::path& snapshot);
/// A short name of a checkpoint for tables: ORG/NAME@COMMIT for a snapshot, with eight digits of
/// the commit; otherwise the last part of the path.
std::string checkpoint_name(const std::filesystem::path& path);

}  // namespace pardec
