#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/http/headers.hpp"

namespace pardec {

/// Time limits in seconds.
struct HttpDeadlines {
  double connect = 10;      ///< including name resolution and TLS
  double first_byte = 300;  ///< from the request's last byte to the first byte of the answer's body
  double stalled = 30;      ///< between two bytes of the body
  double total = 600;
};

/// Whether the address is on this machine, where proxies are not used.
bool is_loopback(const std::string& url);

/// A POST request.
struct HttpRequest {
  bool get = false;  ///< a GET request instead; REQUIRES: an empty body
  std::string url;
  std::vector<std::string> headers;  ///< lines "name: value"
  std::string body;
  HttpDeadlines deadlines;
  /// limit of the answer's body in bytes; a larger answer is cut off
  std::size_t body_cap = 1 << 20;
  /// Receives each piece of the answer's body as it arrives. Returns whether more is wanted; if
  /// not, the exchange ends here, without a fault. It must not throw. Empty: not used.
  std::function<bool(std::string_view piece)> more = {};
};

enum class HttpFault {
  none,
  unreachable,  ///< no connection: nothing was sent
  cut,          ///< the connection was lost, or the answer is not HTTP or incomplete
  timeout,
  too_large
};

struct HttpResult {
  std::uint64_t id = 0;  ///< the id given to `start`
  HttpFault fault = HttpFault::none;
  std::string what;   ///< one-line description of the fault
  bool sent = false;  ///< the server may have received the request, or part of it
  int status = 0;     ///< 0: no header of an answer was received
  HttpHeaders headers;
  std::string body;  ///< the part that was received
  double seconds = 0;
};

/// Many concurrent requests over HTTP/1.1, on connections that are kept alive. A fault of one
/// request does not affect others. Each request is sent once; libcurl's own retries are off,
/// because a request that is sent twice is paid twice. No redirects, no cookies, no compression.
/// Uses the proxies of the environment, except for this machine itself.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();  ///< aborts running requests

  /// RunError: libcurl refuses the URL or a header.
  void start(std::uint64_t id, HttpRequest request);
  /// Returns finished requests. Waits for the first one, but at most `seconds`.
  std::vector<HttpResult> wait(double seconds);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pardec
