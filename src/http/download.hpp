#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace pardec {

struct DownloadOptions {
  int retries = 4;           ///< after a lost connection, a timeout, 408, 429 or 5xx
  int timeout_seconds = 30;  ///< limit for connecting, and between two bytes
};

/// Called with the number of bytes received, and the length of the file. Length 0: the server does
/// not report it.
using DownloadProgress = std::function<void(std::int64_t done, std::int64_t total)>;

struct Downloaded {
  std::int64_t bytes = 0;
  std::int64_t kept = 0;  ///< bytes that an earlier call had received
  std::string sha256;
};

/// Downloads `url` to `file`. Follows redirects, and uses the proxies in the environment, as curl
/// does. Received data is kept in `file.part`, and the server's version of the file in
/// `file.part.json`. `file` itself appears only when it is complete, and its length and (unless
/// `sha256` is empty) its hash have been checked. A part from an earlier call is continued if the
/// file on the server is unchanged (If-Range, otherwise its length). RunError "URL: what": the
/// server is unreachable or refuses; the connection is lost permanently; the hash is wrong (nothing
/// is kept then); or the disk is full or too small (the part is kept). REQUIRES: the folder of
/// `file` exists.
Downloaded download(const std::string& url, const std::filesystem::path& file,
                    const std::string& sha256, const DownloadOptions& options,
                    const DownloadProgress& progress);

}  // namespace pardec
