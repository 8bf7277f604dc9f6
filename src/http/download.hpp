#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace pardec {

/// How to download a file.
struct DownloadOptions {
  /// maximum number of further attempts after a lost connection, a timeout, or a status for which
  /// may_pass() is true
  int retries = 4;
  int timeout_seconds = 30;  ///< limit for connecting, and for the time between two bytes
  /// header lines "name: value"; Authorization is not sent to another host after a redirect
  std::vector<std::string> headers = {};
  /// a part of the error if the disk is too small, after "make room or": what else the user can do
  std::string elsewhere = "name another `data_root`";
};

/// Whether a request that was answered with this HTTP status may succeed later: 408, 429 or 5xx
/// except 501.
bool may_pass(int status);
/// The seconds to wait before a request is sent again: 1, 2, 4, 8, then always 16. If the server
/// asks for a longer wait, the result is this wait, but at most 60. `tries`: number of requests
/// that have failed so far, at least 1. `asked`: the seconds that the server asks to wait; 0: none.
long seconds_to_wait(int tries, long asked);

/// Called with the number of bytes of the file received so far, and the length of the file. Length
/// 0: the server does not report the length.
using DownloadProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// A downloaded file.
struct Downloaded {
  std::int64_t bytes = 0;  ///< length of the file
  std::int64_t kept = 0;   ///< how many of these bytes an earlier call had received
  std::string sha256;      ///< hash of the file, in hexadecimal
};

/// Downloads `url` to `file`. Follows redirects, and uses the proxies in the environment, as curl
/// does. Received data is kept in `file.part`; `file.part.json` describes the server's version of
/// the file. `file` itself appears only when it is complete, and its length and its hash have been
/// checked. `sha256`: the expected hash, in lower-case hexadecimal; empty: the hash is not checked.
///
/// If an earlier call left `file.part`, the download is continued, provided that the file on the
/// server is unchanged. The server checks this by ETag or date (header If-Range). If the server
/// gives neither ETag nor date, the length of the file is compared.
///
/// RunError: the server is unreachable or refuses; a temporary fault persists after all retries;
/// the answer is empty; the hash is wrong (then no data is kept); another call is writing
/// `file.part`; or the disk is full or too small (then `file.part` is kept). Exceptions of
/// `progress` end the download and pass through. REQUIRES: the folder of `file` exists; `progress`
/// is not empty.
Downloaded download(const std::string& url, const std::filesystem::path& file,
                    const std::string& sha256, const DownloadOptions& options,
                    const DownloadProgress& progress);

}  // namespace pardec
