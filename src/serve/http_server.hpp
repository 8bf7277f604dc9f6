#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "src/serve/http.hpp"

namespace pardec::serve {

/// Limits on memory and time that clients can use.
struct HttpBounds {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 4 << 20;
  std::size_t unsent_bytes = 4 << 20;  ///< of a stream that the client does not read
  std::size_t connections = 1024;
  std::chrono::milliseconds header = std::chrono::seconds(10);  ///< from first to last byte
  std::chrono::milliseconds body = std::chrono::seconds(60);
  std::chrono::milliseconds write = std::chrono::seconds(60);  ///< for one piece of an answer
  std::chrono::milliseconds idle = std::chrono::seconds(120);  ///< between two requests
};

/// PEM files for encrypted connections; empty: connections are not encrypted.
struct TlsFiles {
  std::string certificate;  ///< certificate chain, the server's own certificate first
  std::string key;
};

/// Whether only this machine can reach an IPv4 or IPv6 address.
bool is_loopback_address(const std::string& address);

struct HttpServerState;

/// An HTTP/1.1 server (Boost.Beast). The thread that calls `run` reads requests, calls the handler,
/// and sends answers. After a malformed request, the server answers with 4xx and closes the
/// connection.
class HttpServer {
 public:
  /// Binds to an IPv4 or IPv6 address, and listens. `port` 0: any free port. ConfigError: the
  /// address is invalid or in use, or a file of `tls` cannot be read.
  HttpServer(const std::string& address, int port, const HttpBounds& bounds,
             const TlsFiles& tls = {});
  ~HttpServer();

  int port() const;
  /// Serves requests until stop() is called.
  void run(HttpHandler handler);
  /// Calls `task` on the server's thread. May be called on any thread.
  void post(std::function<void()> task);
  /// The same after a time.
  void post_after(std::chrono::milliseconds wait, std::function<void()> task);
  /// Accepts no more connections, and closes each open one after its answer. On the server's
  /// thread.
  void refuse();
  /// The number of requests with an answer that is not sent completely. On the server's thread.
  std::size_t busy() const;
  /// Makes `run` return as soon as possible. On the server's thread.
  void stop();

 private:
  std::unique_ptr<HttpServerState> state_;
};

}  // namespace pardec::serve
