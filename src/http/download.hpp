#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace pardec {

struct DownloadOptions {
  int retries = 4;           ///< after faults that may pass: cut, timeout, 408, 429, 5xx
  int timeout_seconds = 30;  ///< to connect, and without a byte
};

/// Bytes that are there of how many; 0: the server does not say.
using DownloadProgress = std::function<void(std::int64_t done, std::int64_t total)>;

struct Downloaded {
  std::int64_t bytes = 0;
  std::int64_t kept = 0;  ///< of an earlier call's
  std::string sha256;
};

/// Writes what is at `url` to `file`, whose folder must exist: over HTTP, through redirects and the
/// proxies that the environment names (as curl has them). What comes lies in `file.part`, and how
/// to tell that it is still the same in `file.part.json`; the file itself appears whole, once its
/// length and, where `sha256` is not empty, its hash are right. A part from an earlier call is gone
/// on with where the server says that nothing changed (If-Range, else its length), else begun anew.
/// RunError "URL: what": not reached, refused, cut for good, wrong hash (then nothing stays), disk
/// full (the part stays; where the length is known nothing is begun that has no room).
Downloaded download(const std::string& url, const std::filesystem::path& file,
                    const std::string& sha256, const DownloadOptions& options,
                    const DownloadProgress& progress);

}  // namespace pardec
