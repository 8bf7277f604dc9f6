#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

/// HTTP requests and replies as plain values, without a socket.
namespace pardec::serve {

/// A request, read whole. Its bytes come from the client and must not be copied into a header.
struct HttpRequest {
  std::string method, target;
  std::string content_type;  ///< without parameters, in lower case; empty: not given
  std::string authorization;
  std::string body;
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string_view content_type = "application/json";
  int retry_after = 0;  ///< seconds; 0: no such header
};

/// The answer to one request: either one reply, or a stream of server-sent events. All members are
/// called on the server's thread. Nothing is sent after the client has disconnected.
class HttpAnswer {
 public:
  virtual ~HttpAnswer() = default;
  virtual void send(const HttpReply& reply) = 0;
  /// Sends `data: DATA` as an event; the first one begins the stream. REQUIRES: one line.
  virtual void event(std::string_view data) = 0;
  /// Ends the stream. `whole` false: the connection is closed without the proper end, so that no
  /// client considers the stream complete.
  virtual void end_events(bool whole) = 0;
  /// Sets the function that is called once if the client goes before the answer has ended, or does
  /// not read what it is sent.
  virtual void on_gone(std::function<void()> gone) = 0;
};

using HttpHandler =
    std::function<void(const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer)>;

}  // namespace pardec::serve
