#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "src/serve/http.hpp"

namespace pardec::serve {

/// Limits on memory and time that clients can use. If the header of a request is too large, the
/// reply has status 431. If the body is too large, the reply has status 413. If another limit is
/// exceeded, the connection is closed.
struct HttpBounds {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 4 << 20;
  /// bytes of a stream that the client has not read yet, and that wait in the server's memory
  std::size_t unsent_bytes = 4 << 20;
  std::size_t connections = 1024;  ///< number of open connections
  /// time for the header of a request, from its first to its last byte; also for the TLS handshake
  std::chrono::milliseconds header = std::chrono::seconds(10);
  std::chrono::milliseconds body = std::chrono::seconds(60);   ///< time for the body of a request
  std::chrono::milliseconds write = std::chrono::seconds(60);  ///< time to send a reply or an event
  /// time from the opening of a connection, or from the end of an answer, to the next request
  std::chrono::milliseconds idle = std::chrono::seconds(120);
};

/// The paths of PEM files for encrypted connections; both empty: connections are not encrypted.
struct TlsFiles {
  std::string certificate;  ///< certificate chain, the server's own certificate first
  std::string key;          ///< the certificate's private key, without a password
};

/// Whether `address` is an IPv4 or IPv6 address that only this machine can reach. False for other
/// texts, for example host names.
bool is_loopback_address(const std::string& address);

struct HttpServerState;

/// An HTTP/1.1 server (Boost.Beast). The thread that calls `run` reads requests, calls the handler,
/// and sends answers. After a malformed request, the server answers with 4xx and closes the
/// connection.
class HttpServer {
 public:
  /// Binds to an IPv4 or IPv6 address, and listens. `port`: 0 to 65535; 0: any free port.
  /// ConfigError: the address is invalid, or the server cannot listen on it (e.g. another program
  /// uses the port); only one file of `tls` is given; or a file of `tls` cannot be read.
  HttpServer(const std::string& address, int port, const HttpBounds& bounds,
             const TlsFiles& tls = {});
  ~HttpServer();

  /// The port on which the server listens. REQUIRES: refuse() was not called.
  int port() const;
  /// Serves requests until stop() is called. The calling thread is the server's thread. After
  /// refuse(), also returns when there are no more connections and no more tasks of post() and
  /// post_after().
  void run(HttpHandler handler);
  /// Makes the server's thread call `task` as soon as it can. If stop() is called before, `task` is
  /// not called. post() may be called on any thread.
  void post(std::function<void()> task);

  // The next four functions must be called on the server's thread:

  /// Makes the server's thread call `task` after the time `wait` has passed. If stop() is called
  /// before, `task` is not called.
  void post_after(std::chrono::milliseconds wait, std::function<void()> task);
  /// Makes the server accept no more connections. Idle connections are closed now, and each other
  /// connection is closed after the answer to its current request.
  void refuse();
  /// The number of received requests whose answers are not completely sent yet.
  std::size_t busy() const;
  /// Makes `run` return as soon as possible.
  void stop();

 private:
  std::unique_ptr<HttpServerState> state_;
};

}  // namespace pardec::serve
