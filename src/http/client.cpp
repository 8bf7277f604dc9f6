#include "src/http/client.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>

#include "src/http/curl.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Instant = std::chrono::steady_clock::time_point;

constexpr std::size_t kMostHead = 256 << 10;  // bytes of an answer's header

double seconds_between(Instant from, Instant to) {
  return std::chrono::duration<double>(to - from).count();
}

long milliseconds(double seconds) {
  return static_cast<long>(std::ceil(std::clamp(seconds, 0.001, 1e6) * 1000));
}

/// A running request.
struct Exchange {
  explicit Exchange(std::uint64_t id, HttpRequest asked)
      : request(std::move(asked)), lines(curl_lines(request.headers)), curl(request.url) {
    result.id = id;
  }

  HttpRequest request;
  CurlLines lines;
  CurlHandle curl;
  HttpResult result;
  std::size_t uploaded = 0, head = 0;
  Instant begun = {}, last = {};  ///< `last`: time of the last byte sent or received
  bool answering = false;         ///< the first byte of the body was received
  bool enough = false;            ///< HttpRequest::more ended the exchange
  std::string cut;                ///< why the request was aborted here

  std::size_t upload(char* to, std::size_t room) {
    const std::size_t count = std::min(room, request.body.size() - uploaded);
    std::memcpy(to, request.body.data() + uploaded, count);
    uploaded += count, last = std::chrono::steady_clock::now();
    return count;
  }
  bool take_head(std::string_view line) {
    head += line.size();
    if (head > kMostHead) return end(HttpFault::too_large, "the answer's head has no end");
    take_header_line(line, result.headers);
    return true;
  }
  bool take_body(std::string_view bytes) {
    answering = true, last = std::chrono::steady_clock::now();
    const std::size_t room = request.body_cap - result.body.size();
    result.body.append(bytes.substr(0, room));
    if (request.more && !request.more(bytes.substr(0, room))) return !(enough = true);
    if (bytes.size() <= room) return true;
    return end(HttpFault::too_large,
               str("the answer has more than ", request.body_cap, " bytes (body_cap)"));
  }
  /// Seconds until a deadline that libcurl does not enforce.
  double left(Instant now) const {
    if (uploaded < request.body.size() && !answering) return request.deadlines.total;
    return (answering ? request.deadlines.stalled : request.deadlines.first_byte) -
           seconds_between(last, now);
  }
  bool end(HttpFault fault, std::string what) {
    result.fault = fault, cut = std::move(what);
    return false;
  }
};

size_t on_upload(char* to, size_t, size_t room, void* data) {
  return static_cast<Exchange*>(data)->upload(to, room);
}

// Exceptions must not pass through C code; lack of memory ends the exchange.
size_t on_head_line(char* text, size_t, size_t count, void* data) try {
  return static_cast<Exchange*>(data)->take_head({text, count}) ? count : 0;
} catch (const std::bad_alloc&) {
  return 0;
}
size_t on_answer(char* bytes, size_t, size_t count, void* data) try {
  return static_cast<Exchange*>(data)->take_body({bytes, count}) ? count : 0;
} catch (const std::bad_alloc&) {
  return 0;
}

void settle(Exchange& exchange, CURLcode code) {
  HttpResult& result = exchange.result;
  result.seconds = seconds_between(exchange.begun, std::chrono::steady_clock::now());
  result.status = static_cast<int>(exchange.curl.status());
  const bool bodyless = exchange.request.method != HttpMethod::post;
  result.sent =
      exchange.uploaded > 0 || result.status > 0 || (bodyless && exchange.curl.request_bytes() > 0);
  if (result.fault != HttpFault::none) {
    result.what = exchange.cut;
    return;
  }
  if (code == CURLE_OK || exchange.enough) return;
  result.what = exchange.curl.fault(code);
  const auto& deadlines = exchange.request.deadlines;
  if (!result.sent) {
    result.fault = HttpFault::unreachable;
  } else if (code == CURLE_OPERATION_TIMEDOUT) {
    result.fault = HttpFault::timeout;
    result.what = str("not done after ", deadlines.total, " s (deadlines.total)");
  } else {
    result.fault = HttpFault::cut;
  }
}

}  // namespace

bool is_loopback(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  char* part = nullptr;
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parsed.get(), CURLUPART_HOST, &part, 0) != CURLUE_OK)
    return false;
  const std::string host = part;
  curl_free(part);
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

class HttpClient::Impl {
 public:
  Impl() : multi_(curl_multi_init(), curl_multi_cleanup) {}
  ~Impl() {
    for (auto& [handle, exchange] : exchanges_) curl_multi_remove_handle(multi_.get(), handle);
  }

  void start(std::uint64_t id, HttpRequest request) {
    auto exchange = std::make_unique<Exchange>(id, std::move(request));
    Exchange* self = exchange.get();
    CurlHandle& curl = self->curl;
    if (!multi_) multi_.reset(curl_multi_init());
    if (!multi_) throw RunError("libcurl cannot be started");
    curl.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl.set(CURLOPT_HTTPHEADER, self->lines.get());
    if (self->request.method == HttpMethod::head) curl.set(CURLOPT_NOBODY, 1L);
    if (self->request.method == HttpMethod::post) {
      // The body is provided by a callback without rewinding: otherwise libcurl would send it again
      // if a kept connection breaks.
      curl.set(CURLOPT_POST, 1L);
      curl.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(self->request.body.size()));
      curl.set(CURLOPT_READFUNCTION, &on_upload);
      curl.set(CURLOPT_READDATA, self);
    }
    curl.set(CURLOPT_HEADERFUNCTION, &on_head_line);
    curl.set(CURLOPT_HEADERDATA, self);
    curl.set(CURLOPT_WRITEFUNCTION, &on_answer);
    curl.set(CURLOPT_WRITEDATA, self);
    curl.set(CURLOPT_PRIVATE, self);
    curl.set(CURLOPT_TCP_KEEPALIVE, 1L);
    if (is_loopback(self->request.url)) curl.set(CURLOPT_NOPROXY, "*");
    curl.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(self->request.deadlines.connect));
    curl.set(CURLOPT_TIMEOUT_MS, milliseconds(self->request.deadlines.total));
    self->begun = self->last = std::chrono::steady_clock::now();
    check(curl_multi_add_handle(multi_.get(), curl.get()));
    exchanges_.emplace(curl.get(), std::move(exchange));
    perform();  // sends it before others are prepared
  }

  std::vector<HttpResult> wait(double seconds) {
    const Instant until = std::chrono::steady_clock::now() +
                          std::chrono::duration_cast<Instant::duration>(
                              std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e6)));
    for (;;) {
      perform();
      std::vector<HttpResult> ended = collect();
      const Instant now = std::chrono::steady_clock::now();
      double left = seconds_between(now, until);
      for (auto& [handle, exchange] : exchanges_) left = std::min(left, exchange->left(now));
      if (!ended.empty() || now >= until) return ended;
      check(
          curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(milliseconds(left)), nullptr));
    }
  }

 private:
  static void check(CURLMcode code) {
    if (code != CURLM_OK) throw RunError(str("HTTP: ", curl_multi_strerror(code)));
  }

  void perform() {
    int running = 0;
    check(curl_multi_perform(multi_.get(), &running));
  }

  /// Removes finished requests, and those past a deadline.
  std::vector<HttpResult> collect() {
    std::vector<HttpResult> ended;
    const auto take = [&](CURL* handle, CURLcode code) {
      const auto found = exchanges_.find(handle);
      curl_multi_remove_handle(multi_.get(), handle);
      settle(*found->second, code);
      ended.push_back(std::move(found->second->result));
      exchanges_.erase(found);
    };
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left))
      if (message->msg == CURLMSG_DONE) take(message->easy_handle, message->data.result);
    const Instant now = std::chrono::steady_clock::now();
    std::vector<CURL*> late;
    for (auto& [handle, exchange] : exchanges_) {
      if (exchange->left(now) > 0) continue;
      const auto& deadlines = exchange->request.deadlines;
      exchange->end(
          HttpFault::timeout,
          exchange->answering
              ? str("nothing more came for ", deadlines.stalled, " s (deadlines.stalled)")
              : str("no answer began in ", deadlines.first_byte, " s (deadlines.first_byte)"));
      late.push_back(handle);
    }
    for (CURL* handle : late) take(handle, CURLE_OK);
    return ended;
  }

  std::unique_ptr<CURLM, CURLMcode (*)(CURLM*)> multi_;
  std::map<CURL*, std::unique_ptr<Exchange>> exchanges_;
};

HttpClient::HttpClient() : impl_(std::make_unique<Impl>()) {}
HttpClient::~HttpClient() = default;

void HttpClient::start(std::uint64_t id, HttpRequest request) {
  impl_->start(id, std::move(request));
}
std::vector<HttpResult> HttpClient::wait(double seconds) { return impl_->wait(seconds); }

}  // namespace pardec
