#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace pardec {

struct DownloadOptions {
  int retries = 4;           ///< after temporary faults: lost connection, timeout, 408, 429, 5xx
  int timeout_seconds = 30;  ///< for connecting, and between two bytes
};

/// Bytes received, and the file's length; length 0: the server does not report it.
using DownloadProgress = std::function<void(std::int64_t done, std::int64_t total)>;

struct Downloaded {
  std::int64_t bytes = 0;
  std::int64_t kept = 0;  ///< bytes reused from an earlier call
  std::string sha256;
};

/// Downloads `url` to `file`, whose folder must exist. Uses HTTP, follows redirects, and uses the
/// proxies of the environment as curl does. Received data is kept in `file.part`, and the server's
/// version of the file in `file.part.json`. `file` itself appears only when complete, after its
/// length and, unless `sha256` is empty, its hash were checked. A part from an earlier call is
/// continued if the server says that the file is unchanged (If-Range, otherwise its length);
/// otherwise the download starts again. RunError "URL: what": the server is unreachable or refuses,
/// the connection is lost permanently, the hash is wrong (then nothing remains), or the disk is
/// full (the part remains; with a known length, a download without enough room is not started).
Downloaded download(const std::string& url, const std::filesystem::path& file,
                    const std::string& sha256, const DownloadOptions& options,
                    const DownloadProgress& progress);

}  // namespace pardec
