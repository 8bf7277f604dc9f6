#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

/// HTTP requests and replies, independent of the server's sockets.
namespace pardec::serve {

/// A complete request. Its content comes from the client, and must not be copied into headers of
/// replies.
struct HttpRequest {
  std::string method;
  std::string target;         ///< path and query, e.g. /v1/models?x=1
  std::string content_type;   ///< in lower case, without parameters; empty: not sent
  std::string authorization;  ///< value of the header `authorization`; empty: not sent
  std::string body;
};

/// A complete reply.
struct HttpReply {
  int status = 200;
  std::string body;
  std::string_view content_type = "application/json";  ///< its characters must outlive the reply
  int retry_after = 0;  ///< value of the header retry-after, in seconds; 0: no such header
};

/// The answer to one request: one reply (send), or a stream of server-sent events (event,
/// end_events). All functions must be called on the server's thread. After the client has
/// disconnected, the functions do nothing. After the answer has ended, the functions must not be
/// called, because the object may already be the answer to the next request of the same connection.
class HttpAnswer {
 public:
  virtual ~HttpAnswer() = default;
  /// Sends `reply` as the whole answer, and ends the answer. Does nothing if a stream has begun.
  virtual void send(const HttpReply& reply) = 0;
  /// Sends a server-sent event, `data: ` and the text `data`. The first event begins the stream.
  /// REQUIRES: `data` is one line.
  virtual void event(std::string_view data) = 0;
  /// Ends the stream and the answer. Does nothing if no stream has begun. `whole`: whether the
  /// stream is complete. If it is not, the connection is closed without HTTP's mark for the end of
  /// a body, so that the client knows that the stream is incomplete.
  virtual void end_events(bool whole) = 0;
  /// Sets a function that is called once if the connection is closed before the answer has ended,
  /// because the client disconnects or does not read. The function may be called while event() or
  /// end_events() runs.
  virtual void on_gone(std::function<void()> gone) = 0;
};

/// A function that handles a request. The function may keep `answer`, and send the answer after
/// the function has returned. The function must not throw.
using HttpHandler =
    std::function<void(const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer)>;

}  // namespace pardec::serve
