#include "src/serve/api_error.hpp"

#include "src/support/json.hpp"

namespace pardec::serve {

namespace {

OrderedJson or_null(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

}  // namespace

std::string error_body(const ApiError& error) {
  const std::string_view type = error.status == 404   ? "not_found_error"
                                : error.status == 401 ? "authentication_error"
                                : error.status == 503 ? "overloaded_error"
                                : error.status >= 500 ? "server_error"
                                                      : "invalid_request_error";
  return dump(OrderedJson{{"error",
                           {{"message", error.what()},
                            {"type", type},
                            {"param", or_null(error.param)},
                            {"code", or_null(error.code)}}}});
}

HttpReply error_reply(const ApiError& error) {
  HttpReply reply{.status = error.status, .body = error_body(error)};
  if (error.status == 503) reply.retry_after = 1;
  return reply;
}

}  // namespace pardec::serve
