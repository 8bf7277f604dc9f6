#pragma once
#include <curl/curl.h>

#include <memory>
#include <string>
#include <vector>

namespace pardec {

/// A libcurl handle for one URL, with the options that all requests share: no signals, HTTP and
/// HTTPS only. RunError: the handle cannot be created, or libcurl refuses an option.
class CurlHandle {
 public:
  explicit CurlHandle(const std::string& url);

  /// Sets an option. RunError: libcurl refuses it.
  template <typename Value>
  void set(CURLoption option, Value value) {
    check(curl_easy_setopt(owner_.get(), option, value));
  }
  /// The HTTP status of the answer; 0: none was received.
  long status() const;
  /// Number of bytes of the request's header that were sent. The body does not count.
  long request_bytes() const;
  /// libcurl's description of the failure `code`.
  std::string fault(CURLcode code) const;
  CURL* get() const { return owner_.get(); }

 private:
  void check(CURLcode code) const;

  std::unique_ptr<CURL, void (*)(CURL*)> owner_;
  std::string url_;
  std::unique_ptr<char[]> message_;  ///< libcurl writes error messages here
};

/// Header lines of a request, in libcurl's form.
using CurlLines = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;
/// Copies lines "name: value". RunError: there is no memory for the copies.
CurlLines curl_lines(const std::vector<std::string>& lines);

}  // namespace pardec
