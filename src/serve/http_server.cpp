#include "src/serve/http_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <optional>
#include <unordered_set>
#include <utility>

#include "src/serve/api_error.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

/// Bytes of further requests that are read while an answer is being made.
constexpr std::size_t kReadAhead = 64 << 10;
/// Bytes that are read at a time.
constexpr std::size_t kPiece = 16 << 10;

class Connection;

/// The context of encrypted connections; none if there is no certificate. ConfigError.
std::optional<asio::ssl::context> encryption(const TlsFiles& files) {
  if (files.certificate.empty() != files.key.empty())
    throw ConfigError("`tls_cert` and `tls_key` go together, and only one was given");
  if (files.certificate.empty()) return std::nullopt;
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
  error_code error;
  context.use_certificate_chain_file(files.certificate, error);
  if (error)
    throw ConfigError(str("`tls_cert` ", files.certificate, ": ", error.message(),
                          ", expected a chain of certificates in PEM form"));
  context.use_private_key_file(files.key, asio::ssl::context::pem, error);
  if (error)
    throw ConfigError(str("`tls_key` ", files.key, ": ", error.message(),
                          ", expected the certificate's private key in PEM form, without a "
                          "password"));
  return context;
}

/// A connection's socket, encrypted or not.
class Wire {
 public:
  using executor_type = Tcp::socket::executor_type;

  Wire(Tcp::socket socket, asio::ssl::context* context) : socket_(std::move(socket)) {
    if (context) tls_.emplace(socket_, *context);
  }
  executor_type get_executor() { return socket_.get_executor(); }
  Tcp::socket& socket() { return socket_; }
  asio::ssl::stream<Tcp::socket&>* tls() { return tls_ ? &*tls_ : nullptr; }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_)
      tls_->async_read_some(buffers, std::forward<Handler>(handler));
    else
      socket_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_)
      tls_->async_write_some(buffers, std::forward<Handler>(handler));
    else
      socket_.async_write_some(buffers, std::forward<Handler>(handler));
  }

 private:
  Tcp::socket socket_;
  std::optional<asio::ssl::stream<Tcp::socket&>> tls_;
};

}  // namespace

/// What the connections share.
struct HttpServerState {
  HttpServerState(const std::string& address, int port, const HttpBounds& given,
                  const TlsFiles& files)
      : bounds(given), tls(encryption(files)) {
    error_code error;
    const auto ip = asio::ip::make_address(address, error);
    if (error)
      throw ConfigError(str("`listen`: '", address,
                            "' is no address, expected one such as 127.0.0.1:8000 or [::1]:8000"));
    const Tcp::endpoint endpoint(ip, static_cast<unsigned short>(port));
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(Tcp::acceptor::max_listen_connections, error);
    if (error)
      throw ConfigError(str("`listen`: ", address, ":", port, " cannot be used: ", error.message(),
                            "; choose another port"));
  }

  const HttpBounds bounds;
  std::optional<asio::ssl::context> tls;
  std::unordered_set<Connection*> connections;
  std::size_t busy = 0;
  bool refusing = false;
  asio::io_context context{1};  // its destruction closes the connections
  Tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  HttpHandler handler;
};

namespace {

std::string one_chunk(std::string_view data) {
  return str(std::hex, data.size(), "\r\n", data, "\r\n");
}

/// A client's connection. A read is always pending, so that the server notices when the client
/// disconnects. Exception: while an answer is being made, reading pauses if the client has already
/// sent many bytes of further requests.
class Connection : public HttpAnswer, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, HttpServerState& server)
      : server_(server),
        wire_(std::move(socket), server.tls ? &*server.tls : nullptr),
        deadline_(server.context),
        write_deadline_(server.context) {
    server_.connections.insert(this);
  }
  ~Connection() override { server_.connections.erase(this); }

  void start() {
    if (!wire_.tls()) return go_on();
    set_deadline(server_.bounds.header);
    wire_.tls()->async_handshake(asio::ssl::stream_base::server,
                                 [self = shared_from_this()](error_code error) {
                                   if (error) return self->close();
                                   self->go_on();
                                 });
  }

  /// Closes the connection if it waits for a request.
  void close_if_idle() {
    if (!busy_ && !parser_ && !finishing_) close();
  }

  void send(const HttpReply& reply) override {
    if (!busy_ || begun_) return;
    http::response<http::string_body> response(static_cast<http::status>(reply.status), 11);
    response.set(http::field::content_type, std::string(reply.content_type));
    if (reply.retry_after > 0)
      response.set(http::field::retry_after, std::to_string(reply.retry_after));
    response.keep_alive(keeps_alive());
    response.body() = reply.body;
    response.prepare_payload();
    if (head_only_) response.body().clear();
    write(str(response));
    finish();
  }

  void event(std::string_view data) override {
    if (!busy_) return;
    if (!begun_) {
      begun_ = true;
      if (old_) keep_alive_ = false;  // HTTP/1.0 has no chunks: closing ends the body
      http::response<http::empty_body> head(http::status::ok, 11);
      head.set(http::field::content_type, "text/event-stream; charset=utf-8");
      head.set(http::field::cache_control, "no-cache");
      head.keep_alive(keeps_alive());
      if (!old_) head.chunked(true);
      write(str(head.base()));
    }
    const std::string text = str("data: ", data, "\n\n");
    write(old_ ? text : one_chunk(text));
  }

  void end_events(bool whole) override {
    if (!busy_ || !begun_) return;
    if (!whole) keep_alive_ = false;
    if (whole && !old_) write("0\r\n\r\n");
    if (busy_) finish();  // otherwise the write has closed the connection
  }

  void on_gone(std::function<void()> gone) override { gone_ = std::move(gone); }

 private:
  using Parser = http::request_parser<http::string_body>;

  bool keeps_alive() const { return keep_alive_ && !server_.refusing; }

  void close_after(asio::steady_timer& timer, std::chrono::milliseconds time) {
    timer.expires_after(time);
    timer.async_wait([self = weak_from_this()](error_code error) {
      if (error) return;
      if (const auto connection = self.lock()) connection->close();
    });
  }
  void set_deadline(std::chrono::milliseconds time) { close_after(deadline_, time); }

  /// Starts the next read; does nothing if a read is pending.
  void read_more() {
    if (std::exchange(waiting_, true)) return;
    wire_.async_read_some(buffer_.prepare(kPiece),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            self->waiting_ = false;
                            if (error) return self->close();
                            if (self->closing_) return self->read_more();  // dropped
                            self->buffer_.commit(bytes);
                            if (!self->busy_ && !self->finishing_)
                              self->go_on();
                            else if (self->buffer_.size() < kReadAhead)
                              self->read_more();
                          });
  }

  /// Continues with the request that is being read, or with the next one.
  void go_on() {
    if (!parser_) {
      if (buffer_.size() == 0) {
        set_deadline(server_.bounds.idle);
        return read_more();
      }
      begin_request();
    }
    while (buffer_.size() > 0 && !parser_->is_done()) {
      error_code error;
      const std::size_t used = parser_->put(buffer_.data(), error);
      buffer_.consume(used);
      if (error && error != http::error::need_more) return refuse(error);
      if (!in_body_ && parser_->is_header_done())
        begin_body();
      else if (used == 0)
        break;
    }
    parser_->is_done() ? handle() : read_more();
  }

  void begin_request() {
    set_deadline(server_.bounds.header);
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_.bounds.header_bytes));
    parser_->body_limit(server_.bounds.body_bytes);
    parser_->on_chunk_header(refuse_extensions_);
    in_body_ = false;
  }

  void begin_body() {
    in_body_ = true;
    parser_->eager(true);
    set_deadline(server_.bounds.body);
    if (boost::beast::iequals(parser_->get()[http::field::expect], "100-continue") &&
        !parser_->is_done())
      write("HTTP/1.1 100 Continue\r\n\r\n");
  }

  void handle() {
    http::request<http::string_body> request = parser_->release();
    parser_.reset();
    begin_answer(request.keep_alive(), request.version() < 11,
                 request.method() == http::verb::head);
    if (buffer_.size() < kReadAhead) read_more();
    HttpRequest read;
    read.method = std::string(request.method_string());
    read.target = std::string(request.target());
    const std::string type(request[http::field::content_type]);
    read.content_type = lower_ascii(std::string(strip(split(type, ';').front())));
    read.authorization = std::string(request[http::field::authorization]);
    read.body = std::move(request.body());
    server_.handler(read, shared_from_this());
  }

  /// Replies to bytes that are not a valid request.
  void refuse(error_code error) {
    parser_.reset();
    begin_answer(/*keep_alive=*/false, /*old=*/false, /*head_only=*/false);
    const bool header = error == http::error::header_limit || error == http::error::buffer_overflow;
    if (error == http::error::body_limit)
      send(
          error_reply({413, str("the body is larger than ", server_.bounds.body_bytes, " bytes")}));
    else if (header)
      send(error_reply(
          {431, str("the header is larger than ", server_.bounds.header_bytes, " bytes")}));
    else
      send(error_reply({400, "this is no HTTP request"}));
  }

  void begin_answer(bool keep_alive, bool old, bool head_only) {
    deadline_.cancel();
    busy_ = true;
    ++server_.busy;
    begun_ = false;
    keep_alive_ = keep_alive;
    old_ = old;
    head_only_ = head_only;
  }

  void finish() {
    busy_ = false;
    gone_ = nullptr;
    finishing_ = true;
    if (unsent_.empty()) sent_all();
  }

  void sent_all() {
    finishing_ = false;
    --server_.busy;
    keeps_alive() ? go_on() : close_softly();
  }

  void write(std::string bytes) {
    if (!wire_.socket().is_open()) return;
    unsent_bytes_ += bytes.size();
    unsent_.push_back(std::move(bytes));
    if (unsent_.size() == 1)
      write_next();
    else if (begun_ && unsent_bytes_ > server_.bounds.unsent_bytes)
      close();
  }

  void write_next() {
    close_after(write_deadline_, server_.bounds.write);
    asio::async_write(wire_, asio::buffer(unsent_.front()),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (error) return self->close();
                        self->write_deadline_.cancel();
                        self->unsent_bytes_ -= self->unsent_.front().size();
                        self->unsent_.pop_front();
                        if (!self->unsent_.empty())
                          self->write_next();
                        else if (self->finishing_)
                          self->sent_all();
                      });
  }

  /// Closes the connection after the answer has arrived. For a moment, further bytes from the
  /// client are read and dropped: closing with unread bytes would reset the connection and lose the
  /// answer.
  void close_softly() {
    closing_ = true;
    buffer_.clear();
    set_deadline(std::chrono::seconds(2));
    if (!wire_.tls()) return end_sending();
    wire_.tls()->async_shutdown([self = shared_from_this()](error_code) { self->end_sending(); });
  }

  void end_sending() {
    error_code ignored;
    wire_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    read_more();
  }

  void close() {
    error_code ignored;
    deadline_.cancel();
    write_deadline_.cancel();
    wire_.socket().close(ignored);
    if (busy_ || finishing_) --server_.busy;
    finishing_ = false;
    if (!busy_) return;
    busy_ = false;
    if (const auto gone = std::exchange(gone_, nullptr)) gone();
  }

  HttpServerState& server_;
  Wire wire_;
  asio::steady_timer deadline_, write_deadline_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::function<void(std::uint64_t, boost::beast::string_view, error_code&)> refuse_extensions_ =
      [](std::uint64_t, boost::beast::string_view extensions, error_code& error) {
        if (!extensions.empty()) error = http::error::bad_chunk_extension;
      };
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  std::function<void()> gone_;
  bool waiting_ = false;    // a read is pending
  bool in_body_ = false;    // the header of the request that is being read is complete
  bool busy_ = false;       // an answer is being made
  bool begun_ = false;      // a stream of events has begun
  bool finishing_ = false;  // the answer is whole, and not yet sent
  bool closing_ = false;    // all was sent; further bytes are dropped
  bool keep_alive_ = true, old_ = false, head_only_ = false;
};

}  // namespace

namespace {

void accept(HttpServerState& server) {
  server.acceptor.async_accept([&server](error_code error, Tcp::socket socket) {
    if (server.refusing || !server.acceptor.is_open()) return;
    if (error) {  // e.g. no file descriptor is left
      server.pause.expires_after(std::chrono::milliseconds(100));
      server.pause.async_wait([&server](error_code) { accept(server); });
      return;
    }
    if (server.connections.size() < server.bounds.connections) {
      error_code ignored;
      socket.set_option(Tcp::no_delay(true), ignored);
      std::make_shared<Connection>(std::move(socket), server)->start();
    }
    accept(server);
  });
}

}  // namespace

bool is_loopback_address(const std::string& address) {
  error_code error;
  const auto ip = asio::ip::make_address(address, error);
  return !error && ip.is_loopback();
}

HttpServer::HttpServer(const std::string& address, int port, const HttpBounds& bounds,
                       const TlsFiles& tls)
    : state_(std::make_unique<HttpServerState>(address, port, bounds, tls)) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }

void HttpServer::run(HttpHandler handler) {
  state_->handler = std::move(handler);
  accept(*state_);
  state_->context.run();
}

void HttpServer::post(std::function<void()> task) { asio::post(state_->context, std::move(task)); }

void HttpServer::post_after(std::chrono::milliseconds wait, std::function<void()> task) {
  auto timer = std::make_shared<asio::steady_timer>(state_->context, wait);
  timer->async_wait([timer, task = std::move(task)](error_code) { task(); });
}

void HttpServer::refuse() {
  state_->refusing = true;
  error_code ignored;
  state_->acceptor.close(ignored);
  const std::vector<Connection*> open(state_->connections.begin(), state_->connections.end());
  for (Connection* connection : open) connection->close_if_idle();
}

std::size_t HttpServer::busy() const { return state_->busy; }

void HttpServer::stop() { state_->context.stop(); }

}  // namespace pardec::serve
