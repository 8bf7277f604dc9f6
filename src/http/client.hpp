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
  double connect = 10;  ///< including name resolution and TLS
  /// From the request's last byte (without a body: from the start) to the first byte of the
  /// answer's body.
  double first_byte = 300;
  double stalled = 30;  ///< between two bytes of the body
  double total = 600;   ///< for the whole request
};

/// Whether the URL's host is localhost or a loopback address (127.*, ::1). HttpClient uses no proxy
/// for such a host. False for an invalid URL.
bool is_loopback(const std::string& url);

enum class HttpMethod { post, get, head };

/// A request.
struct HttpRequest {
  HttpMethod method = HttpMethod::post;
  std::string url;
  std::vector<std::string> headers;  ///< lines "name: value"
  std::string body;                  ///< only for `post`, otherwise empty
  HttpDeadlines deadlines;
  /// maximum size of the answer's body in bytes; a larger answer ends with HttpFault::too_large
  std::size_t body_cap = 1 << 20;
  /// Called with each piece of the answer's body when the piece arrives, in the thread that calls
  /// start() or wait(). If the function returns false, the request ends here, without a fault. The
  /// function must not throw. May be empty.
  std::function<bool(std::string_view piece)> more = {};
};

/// Why a request has no complete answer. An answer with an error status is not a fault.
enum class HttpFault {
  none,
  unreachable,  ///< there was no connection, or the connection was lost before anything was sent
  cut,          ///< the connection was lost, or the answer is incomplete or not HTTP
  timeout,      ///< one of the deadlines passed after a part of the request was sent
  too_large     ///< the answer's body exceeds the limit, or its header exceeds 256 KiB
};

/// The result of a request: an answer or a fault.
struct HttpResult {
  std::uint64_t id = 0;  ///< the id given to `start`
  HttpFault fault = HttpFault::none;
  std::string what;  ///< one-line description of the fault; empty: there is none
  /// whether the server may have received a part of the request's body (without a body: of the
  /// request's header), or has answered
  bool sent = false;
  int status = 0;  ///< 0: no header of an answer was received
  HttpHeaders headers;
  /// the body of the answer, or the part that was received; also if HttpRequest::more received it
  std::string body;
  double seconds = 0;  ///< from `start` to the end of the request
};

/// Sends many concurrent requests over HTTP/1.1, on connections that are kept alive. A fault of one
/// request does not affect others. Each request is sent once: libcurl's own retries are disabled,
/// because a request that is sent twice may be charged twice. Redirects, cookies and compression
/// are disabled. The proxies in the environment are used, except for requests to this machine. Not
/// thread-safe.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();  ///< aborts running requests

  /// Sends a request; wait() returns its result with this `id`. RunError: libcurl refuses the URL
  /// or a header.
  void start(std::uint64_t id, HttpRequest request);
  /// Returns the results of requests that have finished since the last call. If there are none,
  /// waits until one finishes, but at most `seconds`, even if no request is running. RunError:
  /// libcurl fails.
  std::vector<HttpResult> wait(double seconds);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pardec
