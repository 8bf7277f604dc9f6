#pragma once
#include <curl/curl.h>

#include <memory>
#include <string>
#include <vector>

namespace pardec {

/// A handle of libcurl's, set to what holds of all requests: no signals, HTTP alone. RunError where
/// it cannot be made, or does not take an option.
class CurlHandle {
 public:
  explicit CurlHandle(const std::string& url);

  template <typename Value>
  void set(CURLoption option, Value value) {
    check(curl_easy_setopt(owner_.get(), option, value));
  }
  long status() const;
  /// Why it failed, in libcurl's words.
  std::string fault(CURLcode code) const;
  CURL* get() const { return owner_.get(); }

 private:
  void check(CURLcode code) const;

  std::unique_ptr<CURL, void (*)(CURL*)> owner_;
  std::string url_;
  std::unique_ptr<char[]> message_;  ///< libcurl keeps its address
};

/// Lines of a request's head.
using CurlLines = std::unique_ptr<curl_slist, void (*)(curl_slist*)>;
CurlLines curl_lines(const std::vector<std::string>& lines);

}  // namespace pardec
