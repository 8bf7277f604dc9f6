#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "src/http/download.hpp"
#include "src/support/hub_cache.hpp"

namespace pardec {

/// The server to ask, and how.
struct HubOptions {
  std::string endpoint;  ///< e.g. https://huggingface.co, without a slash at its end
  std::string token;     ///< access token, sent only to this server; empty: none
  int retries = 4;       ///< this and timeout_seconds: see DownloadOptions
  int timeout_seconds = 30;
};
/// The server in $HF_ENDPOINT, otherwise https://huggingface.co, with the token in $HF_TOKEN.
/// ConfigError: one of these variables has a wrong form, or $HF_HUB_OFFLINE forbids downloads.
HubOptions hub_options();

/// A file of a network on the Hub.
struct HubFile {
  std::string name;
  std::string etag;        ///< name of the file's blob in the cache; for a large file, its SHA-256
  std::int64_t bytes = 0;  ///< length of the file
  bool there = false;      ///< whether the cache had the file before the call
  bool checked = false;    ///< whether the file was downloaded, and its SHA-256 was checked
  std::int64_t kept = 0;   ///< how many of these bytes an earlier call had received
};

/// A network in the cache.
struct HubSnapshot {
  std::filesystem::path folder;  ///< the snapshot's folder, with links to the files
  std::string commit;            ///< full hash of the commit
  std::vector<HubFile> files;    ///< the files that this call fetched or found in the cache
  bool pickled = false;          ///< the weights are pytorch_model.bin, which must be converted
};

/// Called with the number of bytes of `file` received so far (`done`).
using HubProgress = std::function<void(const HubFile& file, std::int64_t done)>;

/// Fetches a network into the cache (hub_cache.hpp), in the form in which huggingface_hub finds it
/// there: config, generation config, tokenizer, chat templates, extra heads, and weights. The
/// weights are the first of these that the network has: model.safetensors; the shards that
/// model.safetensors.index.json lists; the safetensors of an adapter; the only GGUF file;
/// pytorch_model.bin, possibly in shards. If the weights are a GGUF file, only this file is
/// fetched. `only`: the name of the only file to fetch; empty: all files described above.
///
/// Files that the cache has are not fetched again, and a file that was received in part is
/// continued. A snapshot links only to complete files. When the snapshot has all files of this
/// call, the commit is written to refs/REVISION.
///
/// RunError: the server is unreachable or refuses (the message says what may help); a file does not
/// have the length or the SHA-256 that the server gives; the index of shards is invalid; the disk
/// is too small, or the cache cannot be written; the network has no file `only`, no weights that
/// can be used, or several GGUF files to choose from. DataError: the server's list of files is not
/// JSON. REQUIRES: `progress` is not empty.
HubSnapshot fetch_from_hub(const HubName& name, const std::string& only, const HubOptions& options,
                           const HubProgress& progress);

}  // namespace pardec
