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
  std::string token;     ///< sent to this server alone; empty: none
  int retries = 4;       ///< see DownloadOptions
  int timeout_seconds = 30;
};
/// The server of $HF_ENDPOINT, otherwise https://huggingface.co, with the token of $HF_TOKEN.
/// ConfigError: one of them has a wrong form, or $HF_HUB_OFFLINE forbids to fetch.
HubOptions hub_options();

/// A file of a network on the Hub.
struct HubFile {
  std::string name;
  std::string etag;        ///< names its blob; a SHA-256 for large files
  std::int64_t bytes = 0;  ///< its length
  bool there = false;      ///< the cache had it already
  bool checked = false;    ///< its SHA-256 was compared
  std::int64_t kept = 0;   ///< bytes that an earlier call had received
};

/// A network in the cache.
struct HubSnapshot {
  std::filesystem::path folder;
  std::string commit;
  std::vector<HubFile> files;
  bool pickled = false;  ///< the weights are pytorch_model.bin, which must be converted
};

/// Called with the number of bytes received of a file.
using HubProgress = std::function<void(const HubFile& file, std::int64_t done)>;

/// Fetches a network into the cache (hub_cache.hpp), so that huggingface_hub finds it there:
/// config, generation config, tokenizer, chat templates, and weights. The weights are
/// model.safetensors or the shards of its index; of an adapter, its safetensors; otherwise the only
/// GGUF file; otherwise pytorch_model.bin. `only`: just this file; empty: all of these. Files that
/// the cache has are not fetched again, and a file that was received in part is continued. A
/// snapshot links to complete files only, and refs/REVISION names it once it has all of them.
/// RunError: the server is unreachable or refuses (the message says what may help), a file does
/// not have the length or the SHA-256 that the server gives, the disk is too small, or the network
/// has no weights that can be used. REQUIRES: `progress` is not empty.
HubSnapshot fetch_from_hub(const HubName& name, const std::string& only, const HubOptions& options,
                           const HubProgress& progress);

}  // namespace pardec
