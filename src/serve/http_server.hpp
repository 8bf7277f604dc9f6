#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "src/serve/http.hpp"

namespace pardec::serve {

/// Limits of what a client can make the server hold or wait for.
struct HttpBounds {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 4 << 20;
  std::size_t unsent_bytes = 4 << 20;  ///< of a stream whose client does not read
  std::size_t connections = 1024;
  std::chrono::milliseconds header = std::chrono::seconds(10);  ///< from its first byte to its end
  std::chrono::milliseconds body = std::chrono::seconds(60);
  std::chrono::milliseconds write = std::chrono::seconds(60);  ///< of one piece of an answer
  std::chrono::milliseconds idle = std::chrono::seconds(120);  ///< of a connection between requests
};

/// Files in PEM form for encrypted connections; empty: connections are not encrypted.
struct TlsFiles {
  std::string certificate;  ///< the chain, the server's own first
  std::string key;
};

/// Whether an IPv4 or IPv6 address is reached from this machine alone.
bool is_loopback_address(const std::string& address);

struct HttpServerState;

/// An HTTP/1.1 server (Boost.Beast). One thread, the caller of `run`, reads requests, calls the
/// handler and sends answers. Malformed requests are answered with 4xx and the connection is
/// closed.
class HttpServer {
 public:
  /// Binds and listens: `address` is an IPv4 or IPv6 address, `port` 0 any free one. ConfigError:
  /// invalid, or in use; a file of `tls` that cannot be read.
  HttpServer(const std::string& address, int port, const HttpBounds& bounds,
             const TlsFiles& tls = {});
  ~HttpServer();

  int port() const;
  /// Serves until `stop`.
  void run(HttpHandler handler);
  /// From any thread: calls `task` on the server's thread.
  void post(std::function<void()> task);
  /// Same, after this time.
  void post_after(std::chrono::milliseconds wait, std::function<void()> task);
  /// On the server's thread: accepts no more connections, and closes each one after its answer.
  void refuse();
  /// On the server's thread: the number of requests whose answer was not sent completely.
  std::size_t busy() const;
  /// On the server's thread: `run` returns as soon as it can.
  void stop();

 private:
  std::unique_ptr<HttpServerState> state_;
};

}  // namespace pardec::serve
