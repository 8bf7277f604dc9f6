#include "src/http/curl.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

CurlHandle::CurlHandle(const std::string& url)
    : owner_(nullptr, curl_easy_cleanup), url_(url), message_(new char[CURL_ERROR_SIZE]()) {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  owner_.reset(curl_easy_init());
  if (kReady != CURLE_OK || !owner_) throw RunError("libcurl cannot be started");
  set(CURLOPT_URL, url_.c_str());
  set(CURLOPT_ERRORBUFFER, message_.get());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
}

void CurlHandle::check(CURLcode code) const {
  if (code != CURLE_OK) throw RunError(str(url_, ": ", curl_easy_strerror(code)));
}

long CurlHandle::status() const {
  long status = 0;
  curl_easy_getinfo(owner_.get(), CURLINFO_RESPONSE_CODE, &status);
  return status;
}

long CurlHandle::request_bytes() const {
  long bytes = 0;
  curl_easy_getinfo(owner_.get(), CURLINFO_REQUEST_SIZE, &bytes);
  return bytes;
}

std::string CurlHandle::fault(CURLcode code) const {
  // libcurl's code for a header line of the answer that is too long.
  if (code == CURLE_OUT_OF_MEMORY)
    return "a line of the answer's head has more than 100 KB, or there is no memory for it";
  return message_[0] ? message_.get() : curl_easy_strerror(code);
}

CurlLines curl_lines(const std::vector<std::string>& lines) {
  CurlLines list(nullptr, curl_slist_free_all);
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (!longer) throw RunError("no memory for a request's head");
    static_cast<void>(list.release());
    list.reset(longer);
  }
  return list;
}

}  // namespace pardec
