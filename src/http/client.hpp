#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/http/headers.hpp"

namespace pardec {

/// Seconds.
struct HttpDeadlines {
  double connect = 10;      ///< with name and TLS
  double first_byte = 300;  ///< of the answer's body, from the request's last byte on
  double stalled = 30;      ///< between two bytes of the body
  double total = 600;
};

/// Whether the address is this machine's own, where no proxy leads.
bool is_loopback(const std::string& url);

/// A POST.
struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  ///< lines "name: value"
  std::string body;
  HttpDeadlines deadlines;
  std::size_t body_cap = 1 << 20;  ///< bytes of the answer's body; with more the line is cut
};

enum class HttpFault {
  none,
  unreachable,  ///< no connection: nothing was sent
  cut,          ///< the line was, or the answer is no HTTP or ends too early
  timeout,
  too_large
};

struct HttpResult {
  std::uint64_t id = 0;  ///< as it was started
  HttpFault fault = HttpFault::none;
  std::string what;   ///< of a fault
  bool sent = false;  ///< the server may have the request, or a part of it
  int status = 0;     ///< 0: no answer's head came
  HttpHeaders headers;
  std::string body;  ///< as far as it came
  double seconds = 0;
};

/// Requests over HTTP/1.1, many at a time, on connections that are kept: a fault of one concerns no
/// other. Each goes out once: libcurl's own second tries are off, since what was asked twice is
/// paid twice. No redirects, no cookies, no compression; the environment's proxies, but not to this
/// machine itself.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();  ///< cuts what is under way

  /// RunError: a URL or header that libcurl does not take.
  void start(std::uint64_t id, HttpRequest request);
  /// What ended, waiting for the first to, but no longer than `seconds`.
  std::vector<HttpResult> wait(double seconds);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pardec
